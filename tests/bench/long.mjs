// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * A long recording on the page: until it is open, how fast any moment of it is reached, what memory the page takes.
 *
 *   ./duet record 02-grace-periods --set seconds=15 --whole --out long.duet
 *   node tests/bench/long.mjs long.duet
 *
 * From the navigation until: the picture has the moment of the link, with its window; all of the recording is here and
 * drawn. The server reads it for the first page, which sees it come, and has it for the second. Memory is what is
 * resident of the page's process.
 */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { withBareBrowser } from './bare.mjs';
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

const id = `kept:${about.lesson}:${name}`;

/** In the page: ms since the navigation of each stage, once all are reached. Asks the store alone: to index costs time. */
const stages = (wanted) => {
  window.seen ??= {};
  const { seen, duet } = window;
  const run = duet?.store.shown();
  if (run?.id !== wanted) return null;
  const now = Math.round(performance.now());
  const { mode, moment, start, span } = duet.player.state;
  const there = mode === 'paused' && moment === 1e6 && [...run.lanes.values()].every((lane) => lane.watermark >= start + span);
  if (there) seen.first ??= now;
  if (run.reading?.whole) seen.whole ??= now;
  if (document.documentElement.dataset.idle === 'true') seen.rests ??= now;
  return seen.whole !== undefined && seen.rests !== undefined ? seen : null;
};
// As the page itself writes a link.
const link = `/?lesson=${about.lesson}&run=${id}&at=1&from=0&for=30`;
const expression = `(${stages})(${JSON.stringify(id)})`;

await withPage(port, ['--no-guests'], async (base, open) => {
  await withBareBrowser(async (visit) => {
    for (const which of ['first', 'second', 'third']) {
      const seen = await visit(base + link, expression, openMs);
      const [first, whole, rests] = [seen.first, seen.whole, seen.rests].map((ms) => (ms / 1000).toFixed(2));
      console.log(`${which} page: first picture after ${first} s, whole after ${whole} s, drawn and at rest after ${rests} s`);
    }
  });
  const page = await open();
  await page.goto(base + link);
  await page.waitForFunction(stages, id, { timeout: openMs, polling: 50 });
  console.log(`memory of the page: ${((await resident(page)) / 1e6).toFixed(0)} MB`);
  await tellSeeks(page);
  console.log(`memory of the page after them: ${((await resident(page)) / 1e6).toFixed(0)} MB`);
});
