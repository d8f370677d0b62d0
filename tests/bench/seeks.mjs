// SPDX-License-Identifier: GPL-2.0-or-later
/** How long the page takes to reach a moment, whatever it shows. */

import { percentile } from './page.mjs';

const seeks = 200;
const wishMs = 100;

/** In the page: times of one action, from the command to the frame that shows it. */
const timed = async ({ what, n }) => {
  const { player, index } = window.duet;
  let state = 12345;
  const dice = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 4294967296;
  };
  const end = Math.max(...index().lanes.map((lane) => lane.watermark));
  const most = Math.min(...index().lanes.map((lane) => lane.opsByEnd.length).filter((l) => l > 0));
  const actions = {
    seek: () => ({ type: 'seek', moment: dice() * end }),
    back: () => ({ type: 'event', direction: -1 }),
    beat: () => ({ type: 'beat', direction: -1 }),
    'long wait': () => ({ type: 'long_wait' }),
    divergence: () => ({ type: 'divergence' }),
    align: () => ({ type: 'align', alignment: 'operation', nth: 1 + Math.floor(dice() * most) }),
  };
  const seen = [];
  for (let i = 0; i < n; i++) {
    await new Promise((done) => setTimeout(done, 30));
    const began = performance.now();
    player.do(actions[what]());
    // Asked for after the loop's own frame: it runs when everything has drawn.
    await new Promise((done) => requestAnimationFrame(done));
    seen.push(performance.now() - began);
  }
  player.do({ type: 'align', alignment: 'time' });
  return seen;
};

/** CPU time of the page's main thread so far, ms. */
async function threadClock(page) {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  return async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return metrics.find((one) => one.name === 'TaskDuration').value * 1000;
  };
}

/** Measures each way to a moment and tells; a seek over the target makes the exit code 1. */
export async function tellSeeks(page) {
  const cpuMs = await threadClock(page);
  for (const [what, n] of [['seek', seeks], ['back', 50], ['beat', 50], ['long wait', 50], ['divergence', 20], ['align', 50]]) {
    await page.evaluate(() => window.duetDrawTimes?.splice(0));
    await page.evaluate(timed, { what, n: 5 });
    const before = await cpuMs();
    const all = await page.evaluate(timed, { what, n });
    const cpu = ((await cpuMs()) - before) / n;
    const draws = await page.evaluate(() => [...window.duetDrawTimes]);
    const [p50, p95, worst] = [0.5, 0.95, 1].map((q) => percentile(all, q).toFixed(1));
    const verdict = Number(p95) <= wishMs ? '' : `  MISSED: ${wishMs} ms was wanted`;
    console.log(`  ${what}: p50 ${p50} ms, p95 ${p95} ms, slowest ${worst} ms, n=${n}; draw p95 ${percentile(draws, 0.95).toFixed(1)} ms; CPU ${cpu.toFixed(1)} ms each${verdict}`);
    if (verdict) process.exitCode = 1;
  }
}
