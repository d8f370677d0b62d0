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
