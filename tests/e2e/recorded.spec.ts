// SPDX-License-Identifier: GPL-2.0-or-later
/** The page on recordings: there at once, labelled, driven by keys and links; and lessons without any. */

import { expect, test } from '@playwright/test';

const lesson = '/?lesson=02-grace-periods';

test('a recorded run plays at once and says that it is recorded', async ({ page }) => {
  const began = Date.now();
  await page.goto(lesson);
  await expect(page.getByTestId('phase-rwsem')).toContainText('recorded');
  await expect(page.getByTestId('sentence')).not.toBeEmpty();
  expect(Date.now() - began).toBeLessThan(15_000);
});

test('the moment moves while it plays, stands when paused, and steps by umounts', async ({ page }) => {
  await page.goto(`${lesson}&step=ticks`);
  const moment = page.getByTestId('moment');
  await expect(moment).toBeVisible();
  const first = await moment.textContent();
  await expect(moment).not.toHaveText(first ?? '');
  await page.getByTestId('play').click();
  // The readout is written at ten a second.
  await page.waitForTimeout(300);
  const stood = await moment.textContent();
  await page.waitForTimeout(500);
  await expect(moment).toHaveText(stood ?? '');
  await page.getByTestId('beat-forward').click();
  await expect(moment).not.toHaveText(stood ?? '');
});

test('steps change by Page Down, and the link brings the step back', async ({ page }) => {
  await page.goto(lesson);
  await expect(page.getByTestId('step-count')).toContainText('1');
  await page.keyboard.press('PageDown');
  await expect(page.getByTestId('step-count')).toContainText('2');
  await page.reload();
  await expect(page.getByTestId('step-count')).toContainText('2');
});

test('a nonsense address is a page, not an error', async ({ page }) => {
  const errors: string[] = [];
  page.on('pageerror', (e) => errors.push(e.message));
  await page.goto('/?lesson=99-nothing&step=%3Cscript%3E&at=NaN&speed=-1');
  await expect(page.getByRole('alert').first()).toContainText(/no lesson/i);
  expect(errors).toEqual([]);
});

test('under 1000 px the patch and the evidence are tabs', async ({ page }) => {
  await page.setViewportSize({ width: 800, height: 1000 });
  await page.goto(`${lesson}&step=expedited`);
  await expect(page.getByRole('tab').first()).toBeVisible();
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  expect(width).toBeLessThanOrEqual(800);
});
