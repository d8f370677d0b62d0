// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * A long recording on the page: until it is open, how fast any moment of it is reached, what memory the page takes.
 *
 *   ./duet record 02-grace-periods --set seconds=15 --whole --out long.duet
 *   node tests/bench/long.mjs long.duet
 *
 * Open is from the navigation until the page rests with all of the recording; the server decodes it for that for the
 * first time, and once more for a second page, from what it kept. Memory is what is resident of the page's process.
 */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { withPage } from './page.mjs';
import { tellSeeks } from './seeks.mjs';

const port = 8679;
const openMs = 300_000;
const [file] = process.argv.slice(2);
if (file === undefined) throw new Error('wanted: node tests/bench/long.mjs FILE.duet');
const duet = new URL('../../duet', import.meta.url).pathname;
const runs = mkdtempSync(join(tmpdir(), 'duet-long-'));
process.env.DUET_RUNS = runs;
process.env.DUET_SETUP = 'skip';
process.on('exit', () => rmSync(runs, { recursive: true, force: true }));

const tell = (...words) => JSON.parse(execFileSync(duet, [...words, '--json'], { encoding: 'utf8' }));
const about = tell('inspect', file);
const name = tell('runs', '--add', file).added;
const events = Object.values(about.arms ?? about.lanes).reduce((sum, arm) => sum + arm.events, 0);
console.log(`${about.lesson}: ${events.toLocaleString('en')} events, ${about.bytes.toLocaleString('en')} bytes, ${(about.bytes / events).toFixed(2)} an event; load of the host ${loadavg()[0].toFixed(1)}`);

/** Resident bytes of the renderer that draws the page. */
async function resident(page) {
  const session = await page.context().browser().newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  const sizes = processInfo
    .filter((one) => one.type === 'renderer')
    .map((one) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${one.id}/status`, 'utf8'))[1]) * 1024);
  return Math.max(...sizes);
}

await withPage(port, ['--no-guests'], async (base, open) => {
  for (const which of ['first', 'second']) {
    const page = await open();
    const began = performance.now();
    await page.goto(`${base}/?lesson=${about.lesson}&run=kept:${about.lesson}:${name}&at=1`);
    await page.waitForFunction(
      (id) => {
        const run = window.duet?.store.shown();
        return run?.id === id && [...run.lanes.values()].every((lane) => lane.metrics !== null) && /[?&]from=/.test(location.search);
      },
      `kept:${about.lesson}:${name}`,
      { timeout: openMs, polling: 20 },
    );
    console.log(`${which} page: open in ${((performance.now() - began) / 1000).toFixed(2)} s`);
    if (which === 'first') {
      await page.close();
      continue;
    }
    console.log(`memory of the page: ${((await resident(page)) / 1e6).toFixed(0)} MB`);
    await tellSeeks(page);
    console.log(`memory of the page after them: ${((await resident(page)) / 1e6).toFixed(0)} MB`);
  }
});
