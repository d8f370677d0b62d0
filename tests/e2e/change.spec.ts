// SPDX-License-Identifier: GPL-2.0-or-later
/** The patch is changed on the page: a mistake stands in the margin, what compiles runs as third lane, a link brings it. */

import { expect, type Page, test } from '@playwright/test';

/** A kernel is compiled and three guests boot, on two cores that the browser shares. */
const runMs = 400_000;

interface Shown {
  readonly index: () => { readonly lanes: readonly { readonly arm: string }[] } | null;
}

async function opened(page: Page): Promise<void> {
  await page.goto('/?lesson=01-shrinker-bitmaps&step=verdict');
  await page.getByTestId('change').click();
  await expect(page.getByTestId('change-code')).toBeVisible({ timeout: 90_000 });
}

/** Writes a line over the first function that the patch touches. */
async function write(page: Page, line: string): Promise<void> {
  await page.locator('.change-regions button').first().click();
  await page.keyboard.press('Home');
  await page.keyboard.type(`${line}\n`);
}

test('a change runs as third lane', { tag: '@guest' }, async ({ page, request }) => {
  test.setTimeout(3 * runMs);
  const source = await request.get('/api/lessons/01-shrinker-bitmaps/arms/after/source');
  const { off } = (await source.json()) as { readonly off: string };
  test.skip(off !== '', `Nothing can be changed here: ${off}`);
  await opened(page);
  const run = page.getByTestId('run-change');
  const why = page.getByTestId('change-why');
  await expect(why).toContainText('Change a line first');
  await expect(run).toBeDisabled();

  await test.step('a mistake stands in the margin and in the list', async () => {
    await write(page, 'int mistake = ;');
    await expect(page.getByTestId('change-tally')).toHaveText('+1 −0');
    await run.click();
    const problems = page.getByTestId('problems');
    await expect(problems).toContainText(/mm\/vmscan\.c:\d+.*error/, { timeout: runMs });
    await page.locator('.change-regions button').first().click();
    await expect(page.locator('.cm-lint-marker-error').first()).toBeVisible();
    await problems.getByRole('button').first().click();
    await expect(page.locator('.cm-activeLine').first()).toContainText('mistake');
  });

  await test.step('what compiles is built and runs beside the two', async () => {
    await page.getByTestId('reset-change').click();
    await write(page, 'static int __maybe_unused written_on_the_page;');
    await run.click();
    await expect(page.getByTestId('change-phase')).toContainText(/compiling|linking|built|boot|runs/, {
      timeout: runMs,
    });
    const own = page.locator('[data-testid^="lane-own-"]');
    await expect(own).toHaveAttribute('data-phase', /running|draining|done/, { timeout: runMs });
    await expect(own).toContainText('bitmap, changed');
    const lanes = () =>
      page.evaluate(
        () =>
          (globalThis as unknown as { duet: Shown }).duet.index()?.lanes.map(({ arm }) => arm) ??
          [],
      );
    await expect.poll(async () => (await lanes()).length, { timeout: runMs }).toBe(3);
    expect((await lanes())[2]).toMatch(/^own-/);
    await expect(page.getByTestId('change-phase')).toHaveText('runs');
    test.info().annotations.push({
      type: 'seconds from the click',
      description: (await page.getByTestId('change-seconds').textContent()) ?? '',
    });
  });

  await test.step('what was typed is there after closing and after a reload', async () => {
    await page.getByTestId('change-pane').press('Escape');
    await expect(page.getByTestId('change-pane')).toHaveCount(0);
    await opened(page);
    await expect(page.getByTestId('change-tally')).toHaveText('+1 −0');
    await page.getByTestId('view-diff').click();
    await expect(page.getByTestId('change-diff')).toContainText('written_on_the_page');
    await page.getByTestId('reset-change').click();
    await expect(page.getByTestId('change-tally')).toHaveText('same text as the arm');
  });
});
