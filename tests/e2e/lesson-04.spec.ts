// SPDX-License-Identifier: GPL-2.0-or-later
/** Lesson 04, end to end on live guests: the picture's own data, not only that there is a picture. */

import { expect, type Page, test } from '@playwright/test';
import { countsOf } from './counts.ts';
import { goesOn, moment } from './moments.ts';

/** Guests are emulated and share two cores with the browser. */
const runMs = 400_000;
const arms = ['scan-2013', 'stock', 'evictable-list'] as const;
const delayed = 256;
const budget = 32;

interface Row {
  readonly scans: number;
  readonly visited: number;
  readonly freed: number;
  readonly kept: number;
}

async function counted(page: Page, arm: string): Promise<Row> {
  const of = await countsOf(page, arm);
  return { scans: of('scans'), visited: of('visited'), freed: of('freed'), kept: of('kept') };
}

async function back(page: Page, steps: number): Promise<void> {
  for (let i = 0; i < steps; i++) await page.getByTestId('step-back').click();
}

// Recordings first: once something ran live, the page shows that.

test('keys walk from box to box, Enter answers a question or opens the records', async ({ page }) => {
  await page.goto('/?lesson=04-extent-shrinker&step=one-scan&at=0.02');
  await expect(page.getByTestId('sentence')).toContainText('20 entries looked at');
  const picture = page.getByTestId('picture');
  await picture.focus();
  await picture.press('ArrowRight');
  await expect(picture.locator('[aria-live]')).toContainText(/stock, block 19\..*in vain/);
  await picture.press('ArrowRight');
  await expect(picture.locator('[aria-live]')).toContainText(/stock, block 20\. D: delayed/);
  await picture.press('Enter');
  await expect(page.getByTestId('records')).toBeVisible();
  await expect(page.getByTestId('records')).toContainText('block 20');
  await expect(page.getByTestId('trace').locator('tr[data-made]')).not.toHaveCount(0);
  await page.keyboard.press('Escape');

  await page.getByText('5 questions to answer in the picture').click();
  await page.getByTestId('question-0').click();
  await picture.focus();
  await picture.press('ArrowLeft');
  await picture.press('Enter');
  await expect(page.getByTestId('questions')).toContainText('still there. The box is hollow');
});

test('3,200 delayed entries first: stock is not broken, only far', async ({ page }) => {
  await page.goto('/?lesson=04-extent-shrinker&step=thousands&at=3.25');
  await page.getByTestId('predict').getByRole('button', { name: /hundredth/ }).click();
  await expect(page.getByTestId('predict-truth')).toContainText('in scan 101');
  await expect(page.getByTestId('sentence')).toContainText('after 3,200 looks that freed nothing');
});

test('a reader is answered by the delayed entries', async ({ page }) => {
  await page.goto('/?lesson=04-extent-shrinker&step=the-reader&at=0.07');
  await expect(page.getByTestId('sentence')).toContainText(
    `Data from block 0, a hole at ${delayed}; ${delayed} delayed entries gave the answer on each kernel.`,
  );
});

test('three kernels, one file: what is visited is kept or freed, and the ninth scan of stock is the first to free', { tag: ['@guest', '@nightly'] }, async ({
  page,
}) => {
  test.setTimeout(2 * runMs);
  await page.goto('/?lesson=04-extent-shrinker&step=verdict');
  await page.getByTestId('run').click();
  for (const arm of arms)
    await expect(page.getByTestId(`lane-${arm}`)).toHaveAttribute('data-phase', 'done', { timeout: runMs });

  await test.step('at every moment the counts balance; on the list nothing is kept', async () => {
    for (const arm of arms)
      await expect.poll(async () => (await counted(page, arm)).visited, { timeout: 90_000 }).toBeGreaterThan(0);
    for (let i = 0; i < 8; i++) {
      for (const arm of arms) {
        const { visited, freed, kept } = await counted(page, arm);
        expect(visited).toBe(freed + kept);
      }
      const { kept } = await counted(page, 'evictable-list');
      expect(kept).toBe(0);
      await goesOn(page, await moment(page));
    }
  });

  await test.step('after equal looks: two scans of 2013, eighteen of the others', async () => {
    const looks = 18 * budget;
    await expect.poll(async () => (await counted(page, 'stock')).visited, { timeout: 90_000 }).toBe(looks);
    expect(await counted(page, 'scan-2013')).toEqual({ scans: 2, visited: looks, freed: 2 * budget, kept: 2 * delayed });
    expect(await counted(page, 'stock')).toEqual({ scans: 18, visited: looks, freed: 256, kept: looks - 256 });
    expect(await counted(page, 'evictable-list')).toEqual({ scans: 18, visited: looks, freed: looks, kept: 0 });
  });

  await test.step('an entry is as large as the guest says', async () => {
    const bytes = (arm: string) => page.getByTestId('price').locator(`td[data-arm=${arm}][data-head="bytes per entry"]`);
    await expect(bytes('stock')).toHaveText('40');
    await expect(bytes('evictable-list')).toHaveText('56');
  });

  await test.step('each visit stands in the table, at most 50 of them', async () => {
    await page.getByRole('button', { name: 'in words' }).click();
    const rows = page.getByTestId('words').locator('tbody tr');
    await expect.poll(() => rows.count()).toBeGreaterThan(20);
    expect(await rows.count()).toBeLessThanOrEqual(50);
    await expect(rows.filter({ hasText: /2013 scan.*block \d+ [DW].*visited, (kept|freed)/ }).first()).toBeVisible();
    await page.getByTestId('words').getByRole('button', { name: 'close' }).click();
  });

  await test.step('the ninth scan, foretold and counted', async () => {
    await back(page, 6);
    await expect(page.getByTestId('step-count')).toContainText('3');
    await page.getByTestId('predict').getByRole('button', { name: /the ninth/ }).click();
    await expect(page.getByTestId('predict-truth')).toContainText('Stock freed its first entry in scan 9.');
    await expect(page.getByTestId('sentence')).toContainText(
      `Scan 9 of stock is the first to free anything, after ${delayed} looks that freed nothing`,
      { timeout: 90_000 },
    );
  });

  await test.step('one scan at a time: all three are held when they have come back', async () => {
    await back(page, 1);
    await page.getByTestId('predict').getByRole('button', { name: /more than 200/ }).click();
    await expect(page.getByTestId('predict-truth')).toContainText('looked at 288 entries in its first scan and freed 32');
    await expect(page.getByTestId('sentence')).toContainText(
      '2013 scan looked at 288 and freed 32, stock looked at 32 and freed none and evictable list looked at 32 and freed 32',
      { timeout: 90_000 },
    );
    for (const arm of arms) await expect(page.getByTestId(`ops-${arm}`)).toHaveText('1');
  });
});
