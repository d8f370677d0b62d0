// SPDX-License-Identifier: GPL-2.0-or-later
/** Loss is data: guests with far too small ring buffers lose events, and the page says how many. The list walk sends thousands at once; hogs of lesson 02 a quiet host keeps up with. */

import { expect, test } from '@playwright/test';
import { lossPort } from './playwright.config.ts';

test('a forced overrun shows its count on the page', { tag: '@guest' }, async ({ page }) => {
  test.setTimeout(600_000);
  await page.goto(`http://127.0.0.1:${lossPort}/?lesson=01-shrinker-bitmaps&step=verdict&arms=before`);
  await expect(page.getByTestId('lost')).toContainText('0');
  await page.getByTestId('run').click();
  await expect(page.getByTestId('lane-before')).toHaveAttribute('data-phase', 'done', { timeout: 120_000 });
  const badge = page.getByTestId('lost');
  await expect(badge).toContainText(/[1-9]/);
  await expect(badge).toHaveAttribute('data-tone', 'hazard');
  const digits = async (id: string) => ((await page.getByTestId(id).textContent()) ?? '').replace(/\D/g, '');
  expect(await digits('lost')).toBe(await digits('lost-before'));
});
