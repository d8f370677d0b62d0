// SPDX-License-Identifier: GPL-2.0-or-later
/** What tests of recordings ask of a page: that it rests, where it stands, when operations ended. */

import { expect, type Page } from '@playwright/test';

interface Lane {
  readonly arm: string;
  readonly ops: { readonly length: number; readonly t1: { readonly [i: number]: number } };
}

interface Duet {
  readonly index: () => { readonly lanes: readonly Lane[] };
  readonly player: { readonly state: { readonly moment: number } };
}

export async function still(page: Page): Promise<void> {
  await expect(page.locator('html')).toHaveAttribute('data-idle', 'true', { timeout: 120_000 });
  // The moment is written into the address when it has stood for a while.
  await expect.poll(() => page.url()).toMatch(/[?&]from=/);
}

const quietMs = 300;
const restMs = 120_000;

/**
 * Nothing is awaited, and text and address have followed the moment: text is written five times a
 * second, so a document that stays the same for longer has come to rest. The page's own clock
 * counts, and stands with the page on a busy host.
 */
export async function rested(page: Page): Promise<void> {
  await expect(page.locator('html')).toHaveAttribute('data-idle', 'true', { timeout: restMs });
  await page.evaluate(
    ([quiet, rest]) =>
      new Promise<void>((done, fail) => {
        let address = location.href;
        let timer = setTimeout(look, quiet);
        const late = setTimeout(() => fail(new Error('the document does not come to rest')), rest);
        const seen = new MutationObserver(again);
        seen.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
        function again() {
          clearTimeout(timer);
          timer = setTimeout(look, quiet);
        }
        function look() {
          if (address !== location.href) {
            address = location.href;
            again();
            return;
          }
          clearTimeout(late);
          seen.disconnect();
          done();
        }
      }),
    [quietMs, restMs] as const,
  );
}

/** The moment has moved on from here, or the page has come to its end and is idle. */
export async function goesOn(page: Page, from: number): Promise<void> {
  await page.waitForFunction(
    (was) =>
      document.documentElement.dataset['idle'] === 'true' ||
      (window as unknown as { duet: Duet }).duet.player.state.moment !== was,
    from,
    { timeout: restMs },
  );
}

/** What moves by CSS has come to its end; what moves for ever is no transition. */
export async function animated(page: Page): Promise<void> {
  await page.evaluate(async () => {
    await new Promise((frame) => requestAnimationFrame(() => requestAnimationFrame(frame)));
    const finite = document
      .getAnimations()
      .filter((one) => Number.isFinite(one.effect?.getComputedTiming().endTime));
    await Promise.allSettled(finite.map((one) => one.finished));
  });
}

export async function open(page: Page, query: string): Promise<void> {
  await page.goto(`/?${query}`);
  await still(page);
}

export function moment(page: Page): Promise<number> {
  return page.evaluate(() => (window as unknown as { duet: Duet }).duet.player.state.moment);
}

/** Ends of operations of each lane, sorted here: not read off the page's own index. */
export async function ends(page: Page): Promise<Record<string, number[]>> {
  const lanes = await page.evaluate(() =>
    (window as unknown as { duet: Duet }).duet
      .index()
      .lanes.map(({ arm, ops }) => [arm, Array.from({ length: ops.length }, (_, i) => ops.t1[i]!)] as const),
  );
  return Object.fromEntries(lanes.map(([arm, times]) => [arm, times.sort((a, b) => a - b)]));
}
