// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * How long frames take in headless Chromium with software rendering:
 *
 *   node tests/bench/frames.mjs [LESSON STEP]     default: the wall of lesson 01 with 300 containers
 *
 * Playing a recording at live rate, the same with every lane live, and what as many cells would cost as SVG.
 * A frame is the time between two animation frames of the page; draw is what the canvas took of it.
 */

import { percentile, withPage } from './page.mjs';

const [lesson = '01-shrinker-bitmaps', step = 'n-grows'] = process.argv.slice(2);
const port = 8671;
const seconds = 6;

/** Times between animation frames, ms, for so long. */
const intervals = (ms) =>
  new Promise((resolve) => {
    const seen = [];
    let last = performance.now();
    const end = last + ms;
    const tick = (now) => {
      seen.push(now - last);
      last = now;
      if (now < end) requestAnimationFrame(tick);
      else resolve(seen.slice(1));
    };
    requestAnimationFrame(tick);
  });

function reported(what, frames, more = '') {
  const [p50, p95] = [percentile(frames, 0.5), percentile(frames, 0.95)].map((x) => x.toFixed(1));
  console.log(`${what}: frame p50 ${p50} ms, p95 ${p95} ms, n=${frames.length}${more}`);
}

async function measured(page, what, more = '') {
  await page.evaluate(() => {
    window.duetDrawTimes?.splice(0);
  });
  const frames = await page.evaluate(intervals, seconds * 1000);
  const draws = await page.evaluate(() => [...(window.duetDrawTimes ?? [])]);
  const drawn = draws.length > 0 ? `; draw p95 ${percentile(draws, 0.95).toFixed(1)} ms, ${draws.length} drawn` : '';
  reported(what, frames, `${drawn}${more}`);
}

/** As many cells as SVG: per frame as many change as the wall visits, and as many glow. */
const svgFrames = async ({ cells, ms }) => {
  const ns = 'http://www.w3.org/2000/svg';
  document.body.innerHTML = '';
  const svg = document.createElementNS(ns, 'svg');
  const side = Math.ceil(Math.sqrt(cells));
  svg.setAttribute('width', '900');
  svg.setAttribute('height', '900');
  svg.setAttribute('viewBox', `0 0 ${side} ${side}`);
  const rects = Array.from({ length: cells }, (_, i) => {
    const rect = document.createElementNS(ns, 'rect');
    const at = { x: i % side, y: Math.floor(i / side), width: 0.8, height: 0.8, fill: '#d9d3c5' };
    for (const [name, value] of Object.entries(at)) rect.setAttribute(name, String(value));
    svg.append(rect);
    return rect;
  });
  document.body.append(svg);
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const perFrame = Math.ceil(cells / (5 * 60));
  const seen = [];
  let last = performance.now();
  const end = last + ms;
  let at = 0;
  await new Promise((resolve) => {
    const tick = (now) => {
      seen.push(now - last);
      last = now;
      for (let i = 0; i < perFrame; i++) {
        rects[(at + i) % cells].setAttribute('fill', '#8a8577');
        rects[(at + i + cells - perFrame * 8) % cells].setAttribute('fill', '#d9d3c5');
      }
      at = (at + perFrame) % cells;
      if (now < end) requestAnimationFrame(tick);
      else resolve();
    };
    requestAnimationFrame(tick);
  });
  return seen.slice(1);
};

await withPage(port, [], async (base, open) => {
  const page = await open();
  await page.goto(`${base}/?lesson=${lesson}&step=${step}`);
  await page.getByTestId('picture').waitFor({ timeout: 30_000 });
  const veil = page.getByTestId('veil').getByRole('button');
  await page.waitForTimeout(2500);
  if (await veil.count()) await veil.click();
  const cells = await page.evaluate(
    () => window.duet.index()?.lanes.reduce((sum, lane) => sum + lane.points.length, 0) ?? 0,
  );
  // Memcgs times shrinkers of each wall, as the x-ray counted them.
  const shown = await page.evaluate(() => {
    const facts = window.duet.index()?.lanes.map((lane) => lane.samples('shrinker-maps').at(-1)?.facts) ?? [];
    return Math.max(0, ...facts.map((f) => (f === undefined ? 0 : (f.memcgs + 1) * f.shrinkers)));
  });
  const size = `, ${shown || '?'} cells a wall, ${cells} points`;
  await measured(page, `${lesson} ${step}, recorded, at the step's own speed`, size);
  await page.evaluate(() => {
    window.duet.player.do({ type: 'seek', moment: 0 });
    window.duet.player.do({ type: 'speed', speed: 1 });
    window.duet.player.do({ type: 'play' });
  });
  await measured(page, `${lesson} ${step}, recorded, at live rate`, size);
  if (process.env.DUET_BENCH_LIVE !== 'no') {
    await page.goto(`${base}/?lesson=${lesson}&step=${step}`);
    await page.getByTestId('picture').waitFor({ timeout: 30_000 });
    await page.getByTestId('run').click();
    await page.waitForFunction(() => window.duet.index()?.live === true, null, { timeout: 120_000 });
    await measured(page, `${lesson} ${step}, every lane live`);
  }
  const other = await open();
  const count = shown || 100_000;
  reported(`SVG, ${count} rects`, await other.evaluate(svgFrames, { cells: count, ms: seconds * 1000 }));
});
