// SPDX-License-Identifier: GPL-2.0-or-later
/** Lesson 01, end to end on live guests: the picture's own data, not only that there is a picture. */

import { expect, type Page, test } from '@playwright/test';

/** Guests are emulated and share two cores with the browser. */
const runMs = 400_000;
const containers = 56;
const memcgs = containers + 1;

const number = (text: string | null | undefined) => Number((text ?? '').replace(/[^\d]/g, ''));

async function bothDone(page: Page): Promise<void> {
  for (const arm of ['before', 'after'])
    await expect(page.getByTestId(`lane-${arm}`)).toHaveAttribute('data-phase', 'done', { timeout: runMs });
}

/** Visits of the call that is looked at, from the counts beside the stage. */
async function visits(page: Page, arm: string): Promise<number> {
  return number(await page.getByTestId('counts').locator(`[data-head=visits][data-arm=${arm}]`).textContent());
}

test('the list walk visits every cell of its wall, the bitmap its set bits', { tag: '@guest' }, async ({ page }) => {
  test.setTimeout(2 * runMs);
  await page.goto('/?lesson=01-shrinker-bitmaps&step=verdict');
  await page.getByTestId('run').click();
  await bothDone(page);

  let area = 0;
  await test.step('the chart has the fifth call of this run', async () => {
    await page.getByText(/points as a table/).click();
    const live = page.getByTestId('cost-table').locator('tr', { hasText: 'live' });
    await expect(live).toHaveCount(2);
    const of = async (arm: string) =>
      number(await live.and(page.locator(`[data-arm=${arm}]`)).locator('td').nth(2).textContent());
    area = await of('before');
    expect(area % memcgs).toBe(0);
    expect(area / memcgs).toBeGreaterThan(containers);
    expect(await of('after')).toBe(containers);
  });

  await test.step('the counts of the moment come to the same', async () => {
    await expect.poll(() => visits(page, 'before'), { timeout: 90_000 }).toBe(area);
    await expect.poll(() => visits(page, 'after'), { timeout: 90_000 }).toBe(containers);
    await expect(page.getByTestId('sentence')).toContainText(
      `${memcgs} memcgs times ${area / memcgs} shrinkers`,
      { timeout: 90_000 },
    );
  });

  await test.step('each visit stands in the table, with what came of it', async () => {
    await page.getByRole('button', { name: 'in words' }).click();
    const rows = page.getByTestId('words').locator('tbody tr');
    await expect.poll(() => rows.count()).toBeGreaterThan(5);
    expect(await rows.count()).toBeLessThanOrEqual(50);
    await expect(rows.filter({ hasText: /shrinker \d+.*in vain/ }).first()).toBeVisible();
    await page.getByTestId('words').getByRole('button', { name: 'close' }).click();
  });

  await test.step('x-ray and events tell the same number of bits', async () => {
    const sentence = page.getByTestId('sentence');
    const back = async () => {
      for (let i = 0; i < 5; i++) await page.getByTestId('step-back').click();
    };
    await back();
    await expect(sentence).toContainText('nobody reads these bits', { ignoreCase: true, timeout: 90_000 });
    await expect(sentence).toContainText(/x-ray saw [\d,]+ in the guest's memory/, { timeout: 90_000 });
    // Bits that change while they are read may disagree, and the page says so; then an older look has to agree.
    await expect(async () => {
      if ((await sentence.textContent())?.includes('while the events say')) await back();
      await expect(sentence).not.toContainText('while the events say', { timeout: 1000 });
    }).toPass({ timeout: 90_000 });
  });

  await test.step('keys walk from cell to cell, Enter opens the records', async () => {
    const picture = page.getByTestId('picture');
    await picture.focus();
    await picture.press('ArrowDown');
    await picture.press('ArrowRight');
    await expect(picture.locator('[aria-live]')).toContainText(/shrinker \d+/);
    await picture.press('Enter');
    await expect(page.getByTestId('records')).toBeVisible();
    await expect(page.getByTestId('trace').locator('tr[data-made]')).not.toHaveCount(0);
  });
});

test('a question is answered by pointing at a cell', async ({ page }) => {
  await page.goto('/?lesson=01-shrinker-bitmaps&step=third-call');
  // The overview would answer the prediction.
  await expect(page.getByTestId('overview').locator('canvas')).toHaveCount(0);
  await page.getByRole('button', { name: 'just show me' }).click();
  // What it shows of the first call, a later step asks.
  await expect(page.getByTestId('overview')).toContainText('A later step asks for a prediction about the whole run');
  await page.getByText('5 questions to answer in the picture').click();
  await page.getByTestId('question-2').click();
  const picture = page.getByTestId('picture');
  const questions = page.getByTestId('questions');
  // The last cells of the right wall: no bit is set there, so nobody visits them. The walls may not
  // be drawn yet when the question is open; a click on nothing answers nothing.
  await expect(async () => {
    const box = (await picture.boundingBox())!;
    await picture.click({ position: { x: box.width * 0.9, y: box.height * 0.6 } });
    await expect(questions).toContainText('The bit of this pair is not set', { timeout: 2000 });
  }).toPass();
});

test('a touched file lights a bit while the guest runs', { tag: ['@guest', '@nightly'] }, async ({ page }) => {
  test.setTimeout(2 * runMs);
  await page.goto('/?lesson=01-shrinker-bitmaps&step=touch');
  await page.getByTestId('run').click();
  await expect(page.getByTestId('act-touch')).toBeEnabled({ timeout: runMs });
  // Five calls come first; a touch before them would be taken for one of the set-up.
  await expect.poll(async () => number(await page.getByTestId('ops-after').textContent()), { timeout: 120_000 }).toBe(5);
  await page.getByTestId('act-touch-value').fill('20');
  await page.getByTestId('act-touch').click();
  const sentence = page.getByTestId('sentence');
  await expect(sentence).toContainText('1 container made a file, which set a bit for shrinker', { timeout: 90_000 });
  await expect(sentence).toContainText('it is set now');
  await page.getByRole('button', { name: 'stop' }).click();
});
