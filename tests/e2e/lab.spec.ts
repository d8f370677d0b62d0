// SPDX-License-Identifier: GPL-2.0-or-later
/** A lab in a real browser: tasks at the side of the lesson, points, and the page of its grader. */

import AxeBuilder from '@axe-core/playwright';
import { expect, test } from '@playwright/test';
import { OwnServer } from './server.ts';

const server = new OwnServer('lab');
let base = '';

test.beforeAll(async () => {
  base = (await server.start(['--no-guests'])).url;
});

test.afterAll(() => server.remove());

test('a lab is answered at the side of its lesson, and graded on a page', async ({ page }) => {
  await page.goto(new URL('?lab=02-grace-periods', base).href);
  const panel = page.getByTestId('lab-panel');
  await expect(panel).toContainText('what umount waits for');
  await expect(page).toHaveURL(/lesson=02-grace-periods/);

  const who = panel.getByTestId('lab-task-who-waits');
  await who.getByRole('button', { name: /Two delays/ }).click();
  await expect(page).toHaveURL(/step=ticks.*lab=|lab=.*step=ticks/);
  await expect(who.getByTestId('lab-send')).toBeDisabled();
  await panel.getByLabel(/Your name/).fill('Ada');
  await who.getByLabel(/Number/).fill('8');
  await who.getByTestId('lab-send').click();
  await expect(who.getByTestId('lab-standing')).toHaveText('0 of 1 point');
  await expect(who.getByTestId('lab-right')).toHaveCount(0);
  await who.getByLabel(/Number/).fill('16');
  await who.getByTestId('lab-send').click();
  await expect(who.getByTestId('lab-right')).toContainText('16 ms');
  await expect(panel.getByTestId('lab-sum')).toContainText('0.5 of 14 points');

  const why = panel.getByTestId('lab-task-not-the-cause');
  await why.getByRole('button', { name: /Not the cause/ }).click();
  await why.getByLabel('Your explanation').fill('Both kernels run it, and as long.');
  await why.getByTestId('lab-send').click();
  await expect(why.getByTestId('lab-standing')).toHaveText('to be graded, 3 points');
  const found = await new AxeBuilder({ page }).setLegacyMode().include('[data-testid=lab-panel]').analyze();
  expect(found.violations.map((one) => one.id)).toEqual([]);

  await page.goto(new URL('?lab=02-grace-periods&scores=1', base).href);
  const grade = page.getByTestId('lab-grade');
  await grade.getByLabel(/Points/).fill('2');
  await grade.getByLabel('Comment').fill('And if it did?');
  await grade.getByRole('button', { name: 'grade' }).click();
  await expect(page.getByRole('row', { name: /Ada/ })).toContainText('2.5');
  const graded = await new AxeBuilder({ page }).setLegacyMode().analyze();
  expect(graded.violations.map((one) => one.id)).toEqual([]);

  await page.goto(new URL('?lab=02-grace-periods', base).href);
  await why.getByRole('button', { name: /Not the cause/ }).click();
  await expect(why).toContainText('And if it did?');
});
