// SPDX-License-Identifier: GPL-2.0-or-later
/** A lesson from two folders alone (tests/sixth): its recording, then live, on the general view. */

import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { OwnServer } from './server.ts';

/** Guests are emulated and share two cores with the browser. */
const runMs = 150_000;
const server = new OwnServer('sixth', { DUET_LESSONS: join(__dirname, '../sixth') });
let address = '';

test.beforeAll(async () => {
  address = (await server.start([])).url;
});

test.afterAll(() => server.remove());

test('a lesson from its two folders alone: its recording, a prediction, a live run, a claim', { tag: '@guest' }, async ({
  page,
}) => {
  test.setTimeout(2 * runMs);
  const step = (name: string) => new URL(`/?lesson=06-pipe-herd&step=${name}`, address).href;

  await test.step('the recording opens, and its sentence is the view’s', async () => {
    await page.goto(step('why'));
    await expect(page.getByTestId('source')).toContainText('recorded');
    await expect(page.getByTestId('sentence')).toContainText('wake');
    await expect(page.getByTestId('picture')).toBeVisible();
  });

  await test.step('the numbers behind the claim stand in the measured table', async () => {
    await page.goto(step('verdict'));
    await expect(page.getByTestId('measured')).toContainText('counted');
    await expect(page.getByTestId('measured')).toContainText('exclusive');
  });

  await test.step('live, both kernels, side by side; the prediction is answered by this run', async () => {
    await page.goto(step('herd'));
    await page.getByTestId('predict').getByRole('button', { name: 'five to nine' }).click();
    await page.getByTestId('run').click();
    for (const arm of ['wake-all', 'exclusive'])
      await expect(page.getByTestId(`lane-${arm}`)).toHaveAttribute('data-phase', 'done', { timeout: runMs });
    await expect(page.getByTestId('source')).toContainText('live');
    await expect(page.getByTestId('predict-truth')).toContainText(/(So far|In the whole run), traced, \d\.\d jobs on wake all for every ten on exclusive/);
    await expect(page.getByTestId('sentence')).toContainText('exclusive');
  });
});
