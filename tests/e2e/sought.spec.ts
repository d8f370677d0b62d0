// SPDX-License-Identifier: GPL-2.0-or-later
/** Each step opens where its claim can be seen, and is there at once; a link's moment goes before it. */

import { expect, type Page, test } from '@playwright/test';
import { open } from './moments.ts';

interface Step {
  readonly id: string;
  readonly claims: boolean;
}

/** Guards against a search that never ends: it takes some 10 ms, and a busy machine a hundred times that. */
const searchMs = 5000;

async function steps(page: Page, slug: string): Promise<readonly Step[]> {
  const reply = await page.request.get(`/api/lessons/${slug}`);
  const { scenes } = (await reply.json()) as { scenes: { id: string; must_show: unknown }[] };
  return scenes.map(({ id, must_show }) => ({ id, claims: must_show !== null }));
}

function searched(page: Page): Promise<number[]> {
  return page.evaluate(() =>
    performance.getEntriesByName('duet: window of a step').map(({ duration }) => duration),
  );
}

for (const slug of [
  '01-shrinker-bitmaps',
  '02-grace-periods',
  '03-inode-recycling',
  '04-extent-shrinker',
  '05-cacheline-pingpong',
]) {
  test(`every step of ${slug} shows what it claims`, async ({ page }) => {
    const all = await steps(page, slug);
    expect(all.filter((step) => step.claims).length).toBeGreaterThan(4);
    for (const { id } of all.filter((step) => step.claims)) {
      await page.goto(`/?lesson=${slug}&step=${id}`);
      await expect.poll(async () => (await searched(page)).length, id).toBeGreaterThan(0);
      expect(Math.max(...(await searched(page))), id).toBeLessThan(searchMs);
      // What is to be predicted first covers the stage, and with it the sentence.
      const show = page.getByRole('button', { name: 'just show me' });
      if (await show.isVisible()) await show.click();
      await expect(page.getByTestId('unseen'), id).toHaveCount(0);
    }
  });
}

test('a moment of a link goes before the window of the step', async ({ page }) => {
  await open(page, 'lesson=02-grace-periods&step=ticks&at=150&from=140&for=20');
  const { start, span } = await page.evaluate(
    () => (window as unknown as { duet: { player: { state: { start: number; span: number } } } }).duet.player.state,
  );
  expect([start / 1e6, span / 1e6]).toEqual([140, 20]);
});
