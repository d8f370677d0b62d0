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

const kernelDiff = '[data-testid^="arm-"] details';

for (const slug of ['05-cacheline-pingpong']) {
  test(`${slug} has no view, and is a page that can be read`, async ({ page }) => {
    const errors: string[] = [];
    page.on('pageerror', (e) => errors.push(e.message));
    await page.setViewportSize({ width: 800, height: 1000 });
    await page.goto('/');
    const card = page.getByTestId(`lesson-${slug}`);
    await expect(card).toContainText(`./duet measure ${slug}`);
    const question = await card.getByRole('link').first().textContent();
    await card.getByRole('link').first().click();

    await expect(page.getByTestId('numbers')).toBeVisible();
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(question ?? '');
    await expect(page.getByTestId('no-picture')).toContainText(`./duet measure ${slug}`);
    await expect(page.getByTestId('metrics').locator('tbody tr').first()).toBeVisible();
    await expect(page.locator('canvas')).toHaveCount(0);

    // A patch opens, is read as git shows it, and what is too long scrolls inside its box.
    const patch = page.locator(kernelDiff).first();
    await patch.locator('summary').click();
    await expect(patch.locator('[data-sign="+"]').first()).toBeVisible();
    for (const width of [800, 420]) {
      await page.setViewportSize({ width, height: 1000 });
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    }
    // Markdown that was not understood stands there as its signs.
    await expect(page.getByTestId('numbers').locator('p, li, td', { hasText: /\| ?--|`/ })).toHaveCount(0);
    expect(errors).toEqual([]);
  });
}
