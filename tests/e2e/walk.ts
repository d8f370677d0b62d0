// SPDX-License-Identifier: GPL-2.0-or-later
/** How a look at a stage begins, for the browser tests and for `make stage`: the run is there, nothing covers it, nothing moves. */

import { expect, type Page } from '@playwright/test';
import { animated } from './moments.ts';

const mostMs = 120_000;
/** Of the window. */
const momentShare = 0.6;

interface Player {
  readonly state: { readonly start: number; readonly span: number };
  do(action: { readonly type: 'seek'; readonly moment: number }): void;
}

/** Lifts the cover of a prediction and stops the run, always at the same moment. By key: a pointer that rests over the picture has a tooltip. */
export async function stands(page: Page): Promise<void> {
  await page.waitForFunction(() => document.documentElement.dataset['idle'] !== undefined, undefined, { timeout: mostMs });
  const veil = page.getByTestId('veil').getByRole('button', { name: 'just show me' });
  if ((await veil.count()) > 0) await veil.press('Enter');
  await page.waitForSelector('[data-testid=picture]', { timeout: mostMs });
  // A run may begin to play after it was looked at.
  await page.waitForFunction(
    () => {
      const play = document.querySelector<HTMLElement>('[data-testid=play]');
      if (/^pause$/i.test(play?.getAttribute('aria-label') ?? play?.textContent ?? '')) play?.click();
      return document.documentElement.dataset['idle'] === 'true';
    },
    undefined,
    { timeout: mostMs, polling: 50 },
  );
  // Where it was stopped depends on the host. Here something has happened, and something has not.
  await page.evaluate((share) => {
    const { player } = (window as unknown as { duet: { player: Player } }).duet;
    player.do({ type: 'seek', moment: player.state.start + player.state.span * share });
  }, momentShare);
  await page.mouse.move(0, 0);
}

/** "900x700": the window has that size, and the page is laid out and drawn for it. What scrolls with the page is brought before the picture. */
export async function resized(page: Page, size: string): Promise<void> {
  const [width = 0, height = 0] = size.split('x').map(Number);
  await page.setViewportSize({ width, height });
  await page.waitForFunction((wide) => innerWidth === wide, width, { timeout: mostMs });
  await page.evaluate(async (most) => {
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    const canvases = () => [...document.querySelectorAll('canvas')].filter((c) => c.offsetWidth > 0 && c.offsetHeight > 0);
    /** One that has not its box's shape yet is still to be drawn. */
    const fits = (c: HTMLCanvasElement) => Math.abs(c.height - (c.width * c.offsetHeight) / c.offsetWidth) <= 2 + c.width / c.offsetWidth;
    const look = () => JSON.stringify(canvases().map((c) => [c.width, c.height, c.getBoundingClientRect()]));
    const late = performance.now() + most;
    for (let [was, same] = ['', 0]; same < 3; ) {
      if (performance.now() > late) throw new Error('the canvases do not come to rest');
      await frame();
      const is = look();
      same = is === was && canvases().every(fits) ? same + 1 : 0;
      was = is;
    }
    const picture = document.querySelector('.lesson[data-width=narrow] .picture');
    picture?.scrollIntoView({ block: 'center' });
  }, mostMs);
  await animated(page);
}

/** The next step of a page that is open. */
export async function nextStep(page: Page, number: number): Promise<void> {
  await page.keyboard.press('PageDown');
  await page.waitForFunction((n) => document.querySelector('[data-testid=step-count]')?.textContent?.startsWith(`Step ${n} of`), number, { timeout: mostMs });
  await page.waitForFunction(() => document.querySelector('[data-testid=coming]') === null, undefined, { timeout: mostMs });
}

/** The slide is whole, also what a model computes for it. Behind a question the run goes on, and nothing of it is seen. */
export async function slideStands(page: Page): Promise<void> {
  await page.waitForFunction(
    () => document.querySelector('.deck-body[data-ready]') !== null && document.querySelector('.deck-body [aria-busy="true"]') === null,
    undefined,
    { timeout: mostMs },
  );
  if ((await page.getByTestId('picture').count()) > 0) await stands(page);
}

/** One press of a clicker; false at the last slide. */
export async function nextSlide(page: Page): Promise<boolean> {
  if (await page.getByTestId('deck-next').isDisabled()) return false;
  // The address follows later.
  const before = await page.evaluate(slideName);
  await page.keyboard.press('PageDown');
  await expect.poll(() => page.evaluate(slideName), { timeout: mostMs, intervals: [20] }).not.toBe(before);
  return true;
}

/** Tells each stop of a clicker from the one before. */
function slideName(): string {
  const { kind, step, revealed } = document.querySelector<HTMLElement>('.deck-body')!.dataset;
  return [document.querySelector('[data-testid=deck-count]')?.textContent, kind, step, revealed !== undefined].join();
}

/** How long the page looked for the window of each step that it has opened, ms. */
export function searched(page: Page): Promise<number[]> {
  return page.evaluate(() =>
    performance.getEntriesByName('duet: window of a step').map(({ duration }) => duration),
  );
}
