// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * How long it takes to reach any moment of a long run, from the command to the pixels:
 *
 *   node tests/bench/seek.mjs [LESSON STEP [EVENTS]]     default: each lesson's picture with 1,000,000 events
 *
 * The lesson's own recording is laid end to end in the page's store until all lanes together hold so many rows (spans,
 * operations, links, points: fewer than the raw events they were made of). A seek is the time from the player's command
 * to the end of the animation frame in which every canvas of the page has drawn the new moment; the wait for the frame
 * (16.7 ms at most) is part of it. CPU is what the page's main thread took of it: it says the same on a busy host, where
 * the time does not. Headless Chromium, software rendering.
 */

import { loadavg } from 'node:os';
import { withPage } from './page.mjs';
import { tellSeeks } from './seeks.mjs';

const [lesson, step, events = '1000000'] = process.argv.slice(2);
const pictures = [
  ['02-grace-periods', 'ticks'],
  ['01-shrinker-bitmaps', 'n-grows'],
  ['03-inode-recycling', 'verdict'],
  ['04-extent-shrinker', 'thousands'],
  ['05-cacheline-pingpong', 'two-cpus'],
];
const port = 8677;
const openMs = 60_000;

/** In the page: the recording end to end until there are so many rows. */
const tile = (wanted) => {
  const { store, index } = window.duet;
  const run = store.shown();
  const tables = ['spans', 'ops', 'links', 'points'];
  const copies = [...run.lanes.values()].map((lane) => ({
    lane,
    length: lane.watermark,
    tables: tables.map((table) => {
      const { wire, length } = lane[table];
      const names = Object.entries(wire).map(([name, on]) => [on, lane[table][name].slice(0, length)]);
      return { table, n: length, columns: Object.fromEntries(names) };
    }),
  }));
  const once = copies.reduce((sum, c) => sum + c.tables.reduce((s, t) => s + t.n, 0), 0);
  const times = Math.max(1, Math.ceil(wanted / once));
  const length = Math.max(...copies.map((c) => c.length));
  const began = performance.now();
  for (const { lane, tables: own } of copies) {
    for (const { table, n, columns } of own) {
      if (n === 0) continue;
      for (let k = 0; k < times; k++) {
        const moved = Object.fromEntries(
          Object.entries(columns).map(([name, column]) => [
            name,
            /^t\d?_ns$/.test(name) ? column.map((t) => t + k * length) : column,
          ]),
        );
        const head = { type: 'batch', run_id: run.id, arm: lane.arm, table, seq: k, n };
        store.dispatch({ ...head, watermark_ns: (k + 1) * length, columns: moved, newest_event_host_ms: null });
      }
    }
  }
  index();
  return { once, times, lanes: copies.length, ms: performance.now() - began };
};

async function measured(base, page, slug, scene) {
  await page.goto(`${base}/?lesson=${slug}&step=${scene}&at=1`);
  await page.waitForFunction(() => /[?&]from=/.test(location.search), null, { timeout: openMs });
  const arms = await page.evaluate(() => [...window.duet.store.shown().lanes.keys()]);
  await page.goto(`${base}/?lesson=${slug}&step=${scene}&at=1&arms=${arms.join(',')}`);
  await page.waitForFunction(() => /[?&]from=/.test(location.search), null, { timeout: openMs });
  const { once, times, lanes, ms } = await page.evaluate(tile, Number(events));
  await page.waitForTimeout(1500);
  const rows = (once * times).toLocaleString('en');
  console.log(`${slug} ${scene}: ${rows} rows in ${lanes} lanes (${times} times the recording), indexed in ${ms.toFixed(0)} ms; load of the host ${loadavg()[0].toFixed(1)}`);
  await tellSeeks(page);
}

await withPage(port, ['--no-guests'], async (base, open) => {
  const page = await open();
  for (const [slug, scene] of lesson ? [[lesson, step]] : pictures) await measured(base, page, slug, scene);
});
