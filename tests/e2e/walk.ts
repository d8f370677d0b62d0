// SPDX-License-Identifier: GPL-2.0-or-later
/** How a look at a stage begins, for the browser tests and for `make stage`: the run is there, nothing covers it, nothing moves. */

import type { Page } from '@playwright/test';

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
  const veil = page.getByTestId('veil').getByRole('button');
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
  const before = page.url();
  await page.keyboard.press('PageDown');
  await page.waitForFunction((was) => location.href !== was, before, { timeout: mostMs });
  return true;
}
