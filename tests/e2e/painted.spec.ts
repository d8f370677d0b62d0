// SPDX-License-Identifier: GPL-2.0-or-later
/** Sentence, readout and picture say the same at every painted moment: while the run moves, after each step, at rest. */

import { expect, type Page, test } from '@playwright/test';
import { open } from './moments.ts';
import { offlinePort } from './playwright.config.ts';

test.use({ baseURL: `http://127.0.0.1:${offlinePort}` });
test.setTimeout(600_000);

/** What stood on the page when a frame was painted. */
interface Painted {
  readonly sentence: string;
  readonly readout: string;
  readonly picture: string;
}

interface Watch {
  painted: Painted[];
  /** Texts of each canvas since its last drawing began. */
  readonly texts: Map<HTMLCanvasElement, string[]>;
}

/** Collects what is written on canvases, and in each frame what stands on the page when it is painted. */
function watch(): void {
  const seen: Watch = { painted: [], texts: new Map() };
  Object.assign(window, { seen });
  const pen = CanvasRenderingContext2D.prototype;
  const [fill, begin] = [pen.fillText, pen.setTransform];
  pen.fillText = function (this: CanvasRenderingContext2D, ...given) {
    seen.texts.get(this.canvas)?.push(given[0]);
    fill.apply(this, given);
  };
  // The loop begins each drawing of a canvas with it.
  pen.setTransform = function (this: CanvasRenderingContext2D, ...given: never[]) {
    seen.texts.set(this.canvas, []);
    (begin as (...all: never[]) => void).apply(this, given);
  };
  const of = (id: string) => document.querySelector(`[data-testid=${id}]`)?.textContent ?? '';
  const sample = () => {
    const canvas = document.querySelector<HTMLCanvasElement>('[data-testid=picture] canvas');
    const picture = (canvas && seen.texts.get(canvas))?.join(' ') ?? '';
    seen.painted.push({ sentence: of('sentence'), readout: of('moment'), picture });
  };
  // What observes sizes is called when all callbacks of a frame are over, right before it is painted.
  const probe = document.createElement('div');
  probe.style.cssText = 'position:fixed;height:1px;visibility:hidden';
  addEventListener('DOMContentLoaded', () => {
    document.body.append(probe);
    new ResizeObserver(sample).observe(probe);
  });
  let n = 0;
  const frame = () => {
    n += 1;
    probe.style.width = `${1 + (n % 2)}px`;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}

async function paintedWhile(page: Page, act: () => Promise<void>): Promise<Painted[]> {
  await page.evaluate(() => ((window as unknown as { seen: Watch }).seen.painted = []));
  await act();
  return page.evaluate(() => (window as unknown as { seen: Watch }).seen.painted);
}

/** So many frames, however long the host takes. */
const frames = 150;

async function playFor(page: Page): Promise<void> {
  const play = page.getByTestId('play');
  await play.click();
  await page.waitForFunction((n) => (window as unknown as { seen: Watch }).seen.painted.length >= n, frames, { timeout: 300_000 });
  await play.click();
}

const cases = [
  // "made 65 visits so far", and under the wall "65 visits".
  { step: 'lesson=01-shrinker-bitmaps&step=one-call&at=13.13', sentence: /([\d,]+) visits/, picture: /([\d,]+) visits/ },
  { step: 'lesson=04-extent-shrinker&step=one-scan&at=0.004', sentence: /([\d,]+) entr\w+ looked at/, picture: /looked at\s+([\d,]+)/ },
  // "So far 33 transfers in 19 stats", and over the lines "(33 in 19 stats)".
  { step: 'lesson=05-cacheline-pingpong&step=two-cpus&at=0.3', sentence: /So far ([\d,]+) transfers/, picture: /so far [\d.]+ \(([\d,]+) in/ },
];

for (const { step, sentence, picture } of cases) {
  test(`one number at every painted moment: ${step}`, async ({ page }) => {
    await page.addInitScript(watch);
    await open(page, step);
    // A question that is open covers the run when it plays.
    const asked = page.getByTestId('predict').locator('.choice').first();
    if ((await asked.count()) > 0) await asked.click();
    const differ = (all: readonly Painted[]) =>
      all.filter((one) => {
        const [said, drawn] = [sentence.exec(one.sentence), picture.exec(one.picture)];
        return said !== null && drawn !== null && said[1] !== drawn[1];
      });
    const moving = await paintedWhile(page, async () => {
      await playFor(page);
    });
    const said = moving.map((one) => sentence.exec(one.sentence)?.[1]);
    const both = moving.filter((one) => sentence.test(one.sentence) && picture.test(one.picture));
    expect(both.length, 'frames that say it in both places').toBeGreaterThan(20);
    expect(new Set(said).size, 'it changes meanwhile').toBeGreaterThan(1);
    expect(differ(moving)).toEqual([]);
    for (const key of ['ArrowLeft', 'ArrowLeft', 'Shift+ArrowRight', 'ArrowRight', 'Shift+ArrowLeft']) {
      const stepped = await paintedWhile(page, async () => {
        await page.keyboard.press(key);
        await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)))));
      });
      expect(stepped.length).toBeGreaterThan(0);
      expect(differ(stepped), key).toEqual([]);
    }
  });
}

test('readout and playhead name one moment in every painted frame', async ({ page }) => {
  await page.addInitScript(watch);
  await open(page, 'lesson=02-grace-periods&step=ticks&at=20');
  const moving = await paintedWhile(page, async () => {
    await playFor(page);
  });
  const off = moving.flatMap(({ readout, picture }) => {
    const drawn = [...picture.matchAll(/(\d+\.\d{2}) ms/g)].map((m) => Number(m[1]));
    const near = Math.min(...drawn.map((ms) => Math.abs(ms - Number(readout.replace(' ms', '')))));
    return near > 0.006 ? [`${readout}: ${drawn.join(', ')}`] : [];
  });
  // The readout is of each frame, not of the text.
  expect(new Set(moving.map((one) => one.readout)).size).toBeGreaterThan(40);
  expect(off).toEqual([]);
});
