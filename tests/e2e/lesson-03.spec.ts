// SPDX-License-Identifier: GPL-2.0-or-later
/** Lesson 03, end to end on live guests: the picture's own data, not only that there is a picture. */

import { expect, type Page, test } from '@playwright/test';
import { countsOf } from './counts.ts';

/** Guests are emulated and share two cores with the browser. */
const runMs = 400_000;
const arms = ['stock', 'wait-in-worker', 'wait-at-recycle', 'call-rcu'] as const;
const files = 1024;

interface Row {
  readonly queued: number;
  readonly inactivated: number;
  readonly reused: number;
  readonly early: number;
  readonly gpWaits: number;
}

async function counted(page: Page, arm: string): Promise<Row> {
  const of = await countsOf(page, arm);
  return {
    queued: of('queued'),
    inactivated: of('inactivated'),
    reused: of('used again'),
    early: of('in the shadow'),
    gpWaits: of('waits for RCU'),
  };
}

const all = `/?lesson=03-inode-recycling&step=verdict&arms=${arms.join(',')}`;

// Recordings first: once something ran live, the page shows that.

test('keys walk through the life of an inode, Enter answers a question or opens the records', async ({
  page,
}) => {
  await page.goto('/?lesson=03-inode-recycling&step=one-inode&at=52');
  await expect(page.getByTestId('sentence')).toContainText('On stock, inode');
  const picture = page.getByTestId('picture');
  await picture.focus();
  await picture.press('ArrowRight');
  await expect(picture.locator('[aria-live]')).toContainText(/^Inode \d+, stock: /);
  await picture.press('Enter');
  await expect(page.getByTestId('records')).toBeVisible();
  await expect(page.getByTestId('records')).toContainText(/inode \d+/);
  await expect(page.getByTestId('trace').locator('tr[data-made]')).not.toHaveCount(0);
  await page.keyboard.press('Escape');

  await page.getByText('5 questions to answer in the picture').click();
  await page.getByTestId('question-0').click();
  await picture.focus();
  const said = picture.locator('[aria-live]');
  await picture.press('Home');
  for (let i = 0; i < 12 && !/used again .* before its/.test((await said.textContent()) ?? ''); i++)
    await picture.press('ArrowRight');
  await picture.press('Enter');
  await expect(page.getByTestId('questions')).toContainText('a new file gets the inode');
});

test('a prediction is answered by the events of the recording', async ({ page }) => {
  await page.goto('/?lesson=03-inode-recycling&step=again&at=40');
  await page
    .getByTestId('predict')
    .getByRole('button', { name: /more than half/ })
    .click();
  await expect(page.getByTestId('predict-truth')).toContainText(
    /\d+ of \d+ reuses on stock were inside the shadow, which is \d+ in a hundred/,
  );
});

test('the dam: who unlinks waits for the worker, and with four times the limit nobody does', async ({
  page,
}) => {
  await page.goto('/?lesson=03-inode-recycling&step=dam&at=50');
  await expect(page.getByTestId('sentence')).toContainText(
    /On wait in the worker, \d+ of at most 256 inodes wait/,
  );
  await expect(page.getByTestId('sentence')).toContainText('The unlink has been waiting too');
  await page.goto('/?lesson=03-inode-recycling&step=larger&at=90');
  await page.getByTestId('predict').getByRole('button', { name: 'not at all' }).click();
  await expect(page.getByTestId('predict-truth')).toContainText('had to wait 0 times');
});

test('at 1,024 the shadow is over by itself where RCU was asked, and not on stock', async ({
  page,
}) => {
  await page.goto('/?lesson=03-inode-recycling&step=larger-batch&at=115');
  await expect(page.getByTestId('sentence')).toContainText(
    /On stock, .*So far, \d+ of \d+ reuses were inside the shadow/,
  );
  await expect(page.getByTestId('sentence')).toContainText(
    /On wait at recycle, .* No reuse was inside the shadow\. No task waited/,
  );
});

test('ours and the mail in one chart, and in its table', async ({ page }) => {
  await page.goto('/?lesson=03-inode-recycling&step=verdict&at=20');
  const rows = page.getByTestId('sweep-table').locator('tbody tr');
  await expect(rows).toHaveCount(5);
  const last = await rows.last().locator('td').allTextContents();
  const [stock, waits, mailBefore, mailAfter] = last.map((text) => Number(text.replace(/,/g, '')));
  expect(waits! / stock!).toBeGreaterThan(0.95);
  expect(mailAfter! / mailBefore!).toBeCloseTo(0.993, 2);
});

test('four live kernels: inodes balance, and only stock uses one again inside its shadow', { tag: ['@guest', '@nightly'] }, async ({
  page,
}) => {
  test.setTimeout(2 * runMs);
  await page.goto(all);
  await page.getByTestId('run').click();
  await expect(page.getByTestId('source')).toContainText('live', { timeout: runMs });
  for (const arm of arms)
    await expect(page.getByTestId(`lane-${arm}`)).toHaveAttribute('data-phase', 'done', {
      timeout: runMs,
    });
  const own = `${all}&run=${new URL(page.url()).searchParams.get('run')}`;

  await test.step('what is queued is inactivated, but for what waits when the run ends', async () => {
    await page.goto(`${own}&at=2000`);
    await expect(page.getByTestId('source')).toContainText('live');
    for (const arm of arms) {
      await expect
        .poll(async () => (await counted(page, arm)).queued, { timeout: 90_000 })
        .toBe(files);
      const { queued, inactivated } = await counted(page, arm);
      expect(inactivated).toBeLessThanOrEqual(queued);
      expect(inactivated).toBeGreaterThan(files * 0.7);
    }
  });

  await test.step('stock alone comes back too soon; two of the others wait', async () => {
    const stock = await counted(page, 'stock');
    expect(stock.early).toBeGreaterThan(stock.reused / 2);
    expect(stock.gpWaits).toBe(0);
    for (const arm of arms.slice(1)) expect((await counted(page, arm)).early).toBe(0);
    expect((await counted(page, 'wait-at-recycle')).gpWaits).toBeGreaterThan(5);
    expect((await counted(page, 'wait-in-worker')).gpWaits).toBeGreaterThan(2);
    expect((await counted(page, 'call-rcu')).gpWaits).toBe(0);
  });

  await test.step('each turn stands in the table, at most 50 of them', async () => {
    await page.goto(`${own}&at=20`);
    await page.getByRole('button', { name: 'in words' }).click();
    const rows = page.getByTestId('words').locator('tbody tr');
    await expect.poll(() => rows.count()).toBeGreaterThan(20);
    expect(await rows.count()).toBeLessThanOrEqual(50);
    await expect(rows.filter({ hasText: /Inode \d+, stock/ }).first()).toBeVisible();
  });
});
