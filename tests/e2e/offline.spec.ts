// SPDX-License-Identifier: GPL-2.0-or-later
/** A reader without guests: the front page and every lesson with a picture, on recordings alone. */

import { expect, test } from '@playwright/test';
import { offlinePort } from './playwright.config.ts';

const pictured = ['01-shrinker-bitmaps', '02-grace-periods', '03-inode-recycling', '04-extent-shrinker', '05-cacheline-pingpong'];

test.use({ baseURL: `http://127.0.0.1:${offlinePort}` });

test('the front page shows each lesson in its recorded picture', async ({ page }) => {
  await page.goto('/');
  for (const slug of pictured) {
    const card = page.getByTestId(`lesson-${slug}`);
    await card.scrollIntoViewIfNeeded();
    await expect(card.getByTestId(`preview-${slug}`).locator('canvas')).toBeVisible({ timeout: 90_000 });
    await expect(card).toContainText('recording of');
  }
});

test('the front page shows at once two kernels at work, which a press stops, and three ways in', async ({ page }) => {
  await page.goto('/');
  const opening = page.getByTestId('opening');
  await expect(opening.locator('canvas').first()).toBeVisible({ timeout: 90_000 });
  await expect(opening).toContainText('recorded');
  const picture = () => opening.locator('.opening-picture').screenshot({ animations: 'allow' }).then((png) => png.toString('base64'));
  const first = await picture();
  await expect.poll(picture, { timeout: 90_000 }).not.toBe(first);
  await page.getByTestId('opening-play').click();
  await expect(page.getByTestId('opening-play')).toHaveText('Play');
  const stopped = await picture();
  // Ten frames, in which a run that plays would have moved.
  await page.evaluate(async () => {
    for (let i = 0; i < 10; i++) await new Promise(requestAnimationFrame);
  });
  expect(await picture()).toBe(stopped);
  await expect(page.getByTestId('doors').locator('li')).toHaveCount(3);
  await page.getByTestId('doors').getByRole('link', { name: 'Learn' }).click();
  await expect(page.getByTestId('step-count')).toBeVisible({ timeout: 90_000 });
});

for (const slug of pictured) {
  test(`${slug} plays, says that it is recorded, and offers no run`, async ({ page }) => {
    await page.goto(`/?lesson=${slug}`);
    await expect(page.getByTestId('source')).toContainText('recorded', { timeout: 90_000 });
    const moment = () => page.getByTestId('moment').textContent();
    const first = await moment();
    await expect.poll(moment, { timeout: 90_000 }).not.toBe(first);
    await expect(page.getByTestId('sentence')).toContainText(/(counted|modelled|as stated for each figure), recorded/);
    await page.keyboard.press('k');
    await expect(page.getByTestId('run')).toBeDisabled();
  });
}
