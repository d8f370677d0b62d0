// SPDX-License-Identifier: GPL-2.0-or-later
/** An instructor and two students: questions without names, a timer, observing a page, one deleted, a report. */

import { join } from 'node:path';
import { type Browser, expect, type Page, test } from '@playwright/test';
import { OwnServer } from './server.ts';

const server = new OwnServer('board');
const steps = { first: 'one-hog', asks: 'three-hogs' } as const;

let base = '';
let teacher: Page;
let ada: Page;
let bo: Page;

async function open(browser: Browser, address: string, viewport: { width: number; height: number }): Promise<Page> {
  const page = await (await browser.newContext({ viewport })).newPage();
  await page.goto(new URL(address, base).href);
  return page;
}

const said = (page: Page, words: string) => expect(page.getByTestId('class-words')).toContainText(words);
const atStep = (page: Page, step: string) => expect.poll(() => page.url()).toContain(`step=${step}`);

/** A picture of a page in both themes, where somebody wants to look at it: DUET_E2E_LOOK=folder. */
async function look(page: Page, name: string): Promise<void> {
  const to = process.env['DUET_E2E_LOOK'];
  if (!to) return;
  for (const theme of ['light', 'dark']) {
    await page.evaluate((set) => (document.documentElement.dataset['theme'] = set), theme);
    await page.screenshot({ path: join(to, `${name}-${theme}.png`) });
  }
}

test.beforeAll(async ({ browser }) => {
  base = (await server.start(['--no-guests'])).url;
  teacher = await open(browser, `?lesson=02-grace-periods&step=${steps.first}`, { width: 1440, height: 900 });
  await teacher.getByTestId('class-start').click();
  await teacher.getByTestId('class-begin').click();
  const link = (await teacher.getByTestId('class-link').textContent()) ?? '';
  await teacher.getByTestId('class-dialog').getByRole('button', { name: 'close' }).click();
  const joined = async (name: string, width: number) => {
    const page = await open(browser, link, { width, height: 800 });
    await page.getByTestId('class-name-field').fill(name);
    await page.getByTestId('class-join-button').click();
    await said(page, 'You follow the instructor');
    return page;
  };
  ada = await joined('Ada', 1100);
  bo = await joined('Bo', 390);
  await teacher.getByTestId('class-panel-button').click();
});

test.afterAll(async () => {
  for (const page of [teacher, ada, bo]) await page.context().close();
  await server.remove();
});

test.describe.configure({ mode: 'serial' });

test('a question goes to the instructor without a name, and to all once it is shown', async () => {
  const words = 'Why does <b>umount</b> wait?';
  await ada.getByTestId('class-panel-button').click();
  await ada.getByTestId('class-raise-text').fill(words);
  await ada.getByTestId('class-raise').click();
  await expect(ada.getByTestId('class-raised')).toContainText(`${words}your question`);
  await expect(ada.getByTestId('class-raise-text')).toHaveValue('');
  const list = teacher.getByTestId('class-raised');
  await expect(list).toContainText(words);
  await expect(list).toContainText('One hog');
  await expect(list).not.toContainText('Ada');
  await bo.getByTestId('class-panel-button').click();
  await expect(bo.getByTestId('class-raised').locator('li')).toHaveCount(0);
  await teacher.getByTestId('class-show-raised').click();
  await bo.getByTestId('class-vote-1').click();
  await expect(list).toContainText('▲ 1');
  await bo.getByTestId('class-raise-text').fill('And what is a hog?');
  await bo.getByTestId('class-raise').click();
  await expect(list.locator('li')).toHaveCount(2);
  await look(teacher, 'panel');
  await look(bo, 'phone');
  await ada.reload();
  await said(ada, 'You follow the instructor');
  await ada.getByTestId('class-panel-button').click();
  await expect(ada.getByTestId('class-vote-1')).toContainText('▲ 1');
  await bo.getByTestId('class-vote-1').click();
  await expect(list.locator('li').first()).toContainText('▲ 0');
  await ada.getByTestId('class-vote-2').click();
  await expect(list.locator('li').first()).toContainText('And what is a hog?');
  await teacher.getByTestId('class-answered-2').click();
  await expect(list.locator('li').last()).toContainText('answered');
  await teacher.getByTestId('class-hide-1').click();
  await expect(bo.getByTestId('class-raised')).not.toContainText(words);
  await expect(ada.getByTestId('class-raised')).toContainText('hidden by the instructor');
  await teacher.getByTestId('class-hide-1').click();
});

test('a timer runs on all screens, on the late one too, and its end is said', async () => {
  await teacher.getByTestId('class-timer-5').click();
  for (const page of [teacher, ada, bo]) await expect(page.getByTestId('class-timer')).toContainText(/[45]:\d\d/);
  await expect(bo.getByTestId('class-timer-says')).toContainText('5 minutes');
  await look(teacher, 'timer');
  await teacher.locator('body').press('p');
  await expect(teacher.getByTestId('present')).toBeVisible();
  await teacher.getByTestId('class-timer').click({ trial: true });
  await look(teacher, 'timer-slides');
  await teacher.locator('body').press('p');
  await teacher.getByTestId('class-panel-button').click();
  await bo.getByTestId('class-panel').getByRole('button', { name: 'close' }).click();
  await look(bo, 'timer-phone');
  await bo.reload();
  await expect(bo.getByTestId('class-timer')).toContainText(/4:\d\d/);
  await teacher.getByTestId('class-timer-more').click();
  await expect(ada.getByTestId('class-timer')).toContainText(/5:\d\d/);
  await teacher.getByTestId('class-timer-stop').click();
  for (const page of [teacher, ada, bo]) await expect(page.getByTestId('class-timer')).toHaveCount(0);
  await teacher.getByTestId('class-timer-minutes').fill('0.02');
  await teacher.getByTestId('class-timer-minutes').press('Enter');
  for (const page of [ada, bo]) {
    await expect(page.getByTestId('class-timer')).toContainText('Time is up');
    await expect(page.getByTestId('class-timer-says')).toHaveText('Time is up.');
  }
  await look(ada, 'timer-over');
  await teacher.getByTestId('class-timer-stop').click();
});

test('the instructor observes a page where the student agrees, and comes back', async () => {
  const row = teacher.getByTestId('class-roster').getByRole('row', { name: /Ada/ });
  await row.getByRole('button', { name: 'observe the page of Ada' }).click();
  await expect(ada.getByTestId('class-watched')).toContainText('May the instructor observe your page?');
  await look(ada, 'consent');
  // Nothing goes out before: the student moves on, the instructor's page stays.
  await ada.getByTestId('step-next').click();
  await expect(row).toContainText('explores');
  await atStep(teacher, steps.first);
  await ada.getByTestId('class-consent').click();
  await expect(ada.getByTestId('class-watched')).toContainText('The instructor is observing your page');
  await atStep(teacher, steps.asks);
  await expect(teacher.getByTestId('class-watching')).toContainText('You are observing Ada’s page');
  await look(teacher, 'watching');
  await look(ada, 'watched');
  // The class stays where it was, also after the way back.
  await atStep(bo, steps.first);
  await teacher.locator('body').press('g');
  await expect(ada.getByTestId('class-watched')).toHaveCount(0);
  await atStep(teacher, steps.first);
  await said(teacher, 'You lead');
  await atStep(bo, steps.first);
  await row.getByRole('button', { name: 'observe the page of Ada' }).click();
  await atStep(teacher, steps.asks);
  await ada.getByTestId('class-refuse').click();
  await expect(teacher.getByTestId('class-watching')).toContainText('Ada does not want to be observed');
  await atStep(teacher, steps.first);
  await teacher.getByTestId('class-watch-end').click();
  await expect(teacher.getByTestId('class-watching')).toHaveCount(0);
  await said(bo, 'You follow the instructor');
});

test('the instructor deletes one member; the report follows, and stays after the class', async () => {
  await teacher.getByTestId('step-next').click();
  for (const page of [ada, bo]) {
    if (page === ada) await page.getByTestId('class-follow').click();
    await expect(page.getByTestId('veil')).toBeVisible();
    await page.locator('.predict .choice').first().click();
  }
  await bo.getByTestId('class-lost').click();
  await expect(teacher.getByTestId('class-histogram-three-hogs-1')).toContainText('2 answers');
  const [report] = await Promise.all([
    teacher.context().waitForEvent('page'),
    teacher.getByTestId('class-report-page').click(),
  ]);
  await expect(report.getByTestId('class-report-sheet')).toContainText('2 members');
  await expect(report.getByTestId('report-asked').locator('li')).toHaveCount(2);
  await expect(report.getByTestId('report-step-three-hogs')).toContainText('2 answers');
  await expect(report.getByTestId('report-lost')).toBeVisible();
  await look(report, 'report');
  const row = teacher.getByTestId('class-roster').getByRole('row', { name: /Ada/ });
  await row.getByRole('button', { name: 'delete the data of Ada' }).click();
  await teacher.getByTestId('class-remove-sure').click();
  await said(ada, 'The class has ended');
  await expect(teacher.getByTestId('class-raised').locator('li')).toHaveCount(1);
  await teacher.getByTestId('class-ending').click();
  await teacher.getByTestId('class-ending-sure').click();
  await said(teacher, 'The class has ended');
  await expect(teacher.getByTestId('class-report-after')).toBeVisible();
  await report.reload();
  await expect(report.getByTestId('class-report-sheet')).toContainText('1 member');
  await expect(report.getByTestId('report-asked').locator('li')).toHaveCount(1);
  await expect(report.getByTestId('report-step-three-hogs')).toContainText('1 answer');
  const text = await report.getByTestId('class-report-sheet').innerText();
  expect(text).not.toMatch(/\b(Ada|Bo)\b/);
  await teacher.getByRole('button', { name: 'dismiss' }).click();
  await teacher.getByTestId('class-start').click();
  await teacher.getByTestId('class-former').click();
  await expect(teacher.getByTestId('class-dialog').getByRole('link')).toHaveAttribute('href', new URL(report.url()).search);
  // The student's page has no report of the class.
  const other = await bo.request.get(new URL(report.url().replace(/.*report=/, 'api/classes/'), base).href + '/report');
  expect(other.status()).toBe(404);
});
