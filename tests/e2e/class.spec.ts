// SPDX-License-Identifier: GPL-2.0-or-later
/** A class in real browsers: an instructor and eight students go through a recording of a lesson together. */

import { type Browser, expect, type Page, test } from '@playwright/test';
import { OwnServer } from './server.ts';

const server = new OwnServer('class');
const names = ['Ada', 'Barbara', 'Grace', 'Frances', 'Hedy', 'Jean', 'Karen', 'Radia'] as const;
const all = `${names.length} answers`;
const steps = { first: 'one-hog', asks: 'three-hogs' } as const;
const prediction = 'three-hogs';
/** A guard against pages that do not follow at all; how fast they do is printed. */
const followsMs = 10_000;

interface State {
  readonly mode: string;
  readonly moment: number;
  readonly start: number;
  readonly span: number;
}

interface Duet {
  readonly player: { readonly state: State; readonly do: (action: object) => void };
}

let base = '';
let teacher: Page;
let students: Page[] = [];

/** Small screens: nine pages draw on one machine. */
const small = { width: 1000, height: 600 };

async function open(browser: Browser, address: string, viewport = small): Promise<Page> {
  const page = await (await browser.newContext({ viewport })).newPage();
  await page.goto(new URL(address, base).href);
  return page;
}

const state = (page: Page) => page.evaluate(() => (window as unknown as { duet: Duet }).duet.player.state);
const act = (page: Page, action: object) =>
  page.evaluate((what) => (window as unknown as { duet: Duet }).duet.player.do(what), action);

/** Until a page stands at that moment; the time of that, by the clock that all pages share. */
const standsAt = (page: Page, moment: number, limit = followsMs) =>
  page.evaluate(
    ([at, ms]) =>
      new Promise<number>((done, fail) => {
        const late = setTimeout(() => fail(new Error('the page did not follow')), ms);
        const look = () => {
          const { mode, moment: here } = (window as unknown as { duet: Duet }).duet.player.state;
          if (mode !== 'paused' || Math.abs(here - at!) > 1) return void requestAnimationFrame(look);
          clearTimeout(late);
          done(Date.now());
        };
        look();
      }),
    [moment, limit] as const,
  );

const said = (page: Page, words: string) => expect(page.getByTestId('class-words')).toContainText(words);
const atStep = (page: Page, step: string) => expect.poll(() => page.url()).toContain(`step=${step}`);

test.beforeAll(async ({ browser }) => {
  base = (await server.start(['--no-guests'])).url;
  teacher = await open(browser, `?lesson=02-grace-periods&step=${steps.first}`, { width: 1440, height: 900 });
  await teacher.getByTestId('class-start').click();
  await teacher.getByTestId('class-begin').click();
  const link = await teacher.getByTestId('class-link').textContent();
  await expect(teacher.getByTestId('class-qr')).toBeVisible();
  await teacher.getByTestId('class-dialog').getByRole('button', { name: 'close' }).click();
  for (const name of names) {
    const page = await open(browser, link ?? '');
    // The one field there is has the focus: a name is typed at once.
    await expect(page.getByTestId('class-name-field')).toBeFocused();
    await page.keyboard.type(name);
    await page.keyboard.press('Enter');
    await said(page, 'You follow the instructor');
    students.push(page);
  }
});

test.afterAll(async () => {
  for (const page of [teacher, ...students]) await page.context().close();
  students = [];
  await server.remove();
});

test.describe.configure({ mode: 'serial' });

test('students come to the lesson and the step of the driver, and to his moment', async () => {
  for (const page of students) await atStep(page, steps.first);
  expect(students[0]!.url()).not.toContain('class=');
  await expect(teacher.getByTestId('class-panel-button')).toContainText(`${names.length} here`);
  await act(teacher, { type: 'seek', moment: 100e6 });
  await Promise.all(students.map((page) => standsAt(page, 100e6)));
  const waits: number[] = [];
  for (const moment of [101e6, 103e6, 95e6, 110e6, 99e6]) {
    const seen = students.map((page) => standsAt(page, moment));
    // The pages listen before the driver moves.
    await Promise.all(students.map((page) => page.evaluate(() => 0)));
    const began = await teacher.evaluate((at) => {
      (window as unknown as { duet: Duet }).duet.player.do({ type: 'seek', moment: at });
      return Date.now();
    }, moment);
    waits.push(...(await Promise.all(seen)).map((at) => at - began));
  }
  const sorted = waits.toSorted((a, b) => a - b);
  test.info().annotations.push({ type: 'followed after, ms', description: sorted.join(' ') });
  console.log(`pages of students followed after ${sorted.join(', ')} ms`);
});

test('who plays alone explores, as the instructor sees, and comes back with g', async () => {
  const [ada, barbara] = students as [Page, Page, Page];
  await ada.locator('body').press('ArrowRight');
  await said(ada, 'You explore on your own; the class is at “One hog”');
  const own = (await state(ada)).moment;
  await act(teacher, { type: 'seek', moment: 120e6 });
  await standsAt(barbara, 120e6);
  expect((await state(ada)).moment).toBe(own);
  await teacher.getByTestId('class-panel-button').click();
  const row = teacher.getByTestId('class-roster').getByRole('row', { name: /Ada/ });
  await expect(row).toContainText('explores');
  await ada.locator('body').press('g');
  await standsAt(ada, 120e6);
  await said(ada, 'You follow the instructor');
  await expect(row).toContainText('follows');
});

test('a step of the driver is a step of all; one of a student is his own', async () => {
  const [ada, barbara] = students as [Page, Page, Page];
  await ada.getByTestId('step-next').click();
  await said(ada, 'You explore on your own');
  await atStep(barbara, steps.first);
  await ada.getByTestId('class-follow').click();
  await atStep(ada, steps.first);
  await act(teacher, { type: 'play', direction: 1 });
  await expect.poll(async () => (await state(barbara)).mode).toBe('play');
  await teacher.getByTestId('step-next').click();
  for (const page of students) await atStep(page, steps.asks);
});

test('a reloaded page of a student is the same student, who follows', async () => {
  const [ada] = students as [Page, Page, Page];
  await ada.reload();
  await said(ada, 'You follow the instructor');
  await atStep(ada, steps.asks);
  await expect(teacher.getByTestId('class-roster').getByRole('row')).toHaveCount(1 + names.length);
});

test('predictions come in as answers; students see them when they are revealed, not before', async () => {
  const live = teacher.getByTestId(`class-histogram-${prediction}-1`);
  for (const [i, page] of students.entries()) {
    await expect(page.getByTestId('veil')).toBeVisible();
    await page.locator('.predict .choice').nth(i === 0 ? 0 : 1).click();
    // The answer waits for the instructor: neither the card nor the lane has it.
    await expect(page.getByTestId('veil')).toContainText('when the instructor reveals it');
    await expect(page.locator('[data-truth]')).toHaveCount(0);
    await expect(page.getByTestId('ops-srcu')).toHaveCount(0);
  }
  await expect(live).toContainText(all);
  await expect(live.locator('li').nth(1)).toContainText(String(names.length - 1));
  for (const page of students) await expect(page.getByTestId(`class-histogram-${prediction}-1`)).toHaveCount(0);
  await teacher.getByTestId(`class-ask-${prediction}`).click();
  await teacher.getByTestId(`class-again-${prediction}`).click();
  for (const page of students)
    await page.getByTestId(`class-options-${prediction}`).getByRole('button').first().click();
  await expect(teacher.getByTestId(`class-histogram-${prediction}-2`)).toContainText(all);
  await teacher.getByTestId(`class-reveal-${prediction}`).click();
  for (const page of students) {
    await expect(page.getByTestId(`class-histogram-${prediction}-1`)).toContainText(all);
    await expect(page.getByTestId(`class-histogram-${prediction}-2`).locator('li').first()).toContainText(String(names.length));
    await expect(page.getByTestId('veil')).toHaveCount(0);
    await expect(page.getByTestId(`class-histogram-${prediction}-2`).locator('[data-truth]')).toContainText('✓ right');
  }
});

test('slides say how to join, and show how the class has answered', async () => {
  await teacher.getByTestId('lesson').press('p');
  await expect(teacher.getByTestId('class-on-slide')).toContainText(/\w+-\w+-\w+/);
  await expect(teacher.getByTestId('ask-audience')).toContainText(`${names.length} of`);
  await teacher.keyboard.press('PageDown');
  await expect(teacher.getByTestId('ask').locator('.ask-hands .number').first()).toHaveText(String(names.length));
  await teacher.keyboard.press('p');
  await expect(teacher.getByTestId('lesson')).toBeVisible();
});

test('a poll of the instructor reaches all', async () => {
  if (!(await teacher.getByTestId('class-panel').isVisible())) await teacher.getByTestId('class-panel-button').click();
  await teacher.getByText('a question of your own').click();
  await teacher.getByTestId('class-poll-text').fill('Shall we go on?');
  await teacher.getByTestId('class-poll-options').fill('yes\nno');
  await teacher.getByTestId('class-poll-ask').click();
  await students[0]!.getByTestId('class-options-poll-1').getByRole('button', { name: 'no' }).click();
  await expect(teacher.getByTestId('class-histogram-poll-1-1')).toContainText('1 answer');
});

test('a spotlight is seen by all, and a lost student is counted', async () => {
  // What is revealed to all is revealed to the instructor.
  await expect(teacher.getByTestId('veil')).toHaveCount(0);
  await students[2]!.setViewportSize({ width: 390, height: 844 });
  await students[2]!.evaluate(() => scrollTo(0, 0));
  await teacher.getByTestId('class-spot').click();
  await teacher.getByTestId('class-spot-srcu').click();
  for (const page of [teacher, ...students]) await expect(page.getByTestId('spot-ring')).toBeVisible();
  // A picture that was scrolled away comes into sight.
  await expect(students[2]!.getByTestId('spot-ring')).toBeInViewport();
  await teacher.getByTestId('class-spot-off').click();
  for (const page of students) await expect(page.getByTestId('spot-ring')).toHaveCount(0);
  await students[0]!.getByTestId('class-lost').click();
  await expect(teacher.getByTestId('class-confusion')).toBeVisible();
});

test('the class points into the picture; the instructor sees where, and all when it is revealed', async () => {
  const question = 'point-1';
  await expect(teacher.getByTestId('class-notes')).toContainText(/this step \d+ to \d+ of \d+ min/);
  await teacher.getByTestId(`class-ask-${question}`).click();
  const pointing = students.slice(0, 3);
  for (const page of pointing) {
    await page.getByTestId(`class-point-${question}`).click();
    const picture = page.getByTestId('picture');
    let part = 0.3;
    // A click on nothing answers nothing.
    await expect(async () => {
      const box = (await picture.boundingBox())!;
      part = part > 0.8 ? 0.3 : part + 0.07;
      await picture.click({ position: { x: box.width * part, y: box.height * 0.75 } });
      await expect(page.getByTestId('questions')).toContainText(/Look again|inside synchronize_srcu/, { timeout: 1000 });
    }).toPass();
  }
  await expect(teacher.getByTestId(`class-histogram-${question}-1`)).toContainText('3 marks');
  await teacher.getByTestId(`class-map-${question}`).click();
  await expect(teacher.getByTestId('point-map').locator('li').first()).toBeVisible();
  for (const page of students) await expect(page.getByTestId(`class-map-${question}`)).toHaveCount(0);
  await teacher.getByTestId(`class-reveal-${question}`).click();
  const last = students.at(-1)!;
  await last.getByTestId(`class-map-${question}`).click();
  await expect(last.getByTestId('point-map').locator('li').first()).toBeVisible();
  await teacher.getByTestId(`class-map-${question}`).click();
  await expect(teacher.getByTestId('point-map')).toHaveCount(0);
});

test('control goes to a student and comes back', async () => {
  const [ada, barbara] = students as [Page, Page, Page];
  await teacher.getByRole('button', { name: 'hand over to Ada' }).click();
  await said(ada, 'You have control');
  await said(barbara, 'You follow Ada');
  await said(teacher, 'You follow Ada');
  await act(ada, { type: 'seek', moment: 150e6 });
  for (const page of [teacher, barbara]) await standsAt(page, 150e6);
  await teacher.getByTestId('class-take-back').click();
  await said(teacher, 'You lead');
  await said(ada, 'You follow the instructor');
});

/** The address of a page, and what it says of the class. */
async function where(page: Page): Promise<string> {
  const words = page.getByTestId('class-words').textContent({ timeout: 1000 });
  return `${page.url()} (${await words.catch(() => 'not in the class')})`;
}

test('the class goes along into slides, and into another lesson', async () => {
  const [ada] = students as [Page, Page, Page];
  await teacher.locator('body').press('p');
  await expect(teacher.getByTestId('present')).toBeVisible();
  await act(teacher, { type: 'seek', moment: 160e6 });
  await standsAt(ada, 160e6);
  await expect(ada.getByTestId('present')).toHaveCount(0);
  await teacher.locator('body').press('p');
  for (const slug of ['05-cacheline-pingpong', '02-grace-periods']) {
    await teacher.getByRole('link', { name: 'Kernel Duet' }).click();
    await teacher.getByTestId(`lesson-${slug}`).getByRole('heading').getByRole('link').click();
    await expect.poll(() => teacher.url(), { message: 'the instructor' }).toContain(`lesson=${slug}`);
    for (const [number, page] of students.entries())
      await expect.poll(() => where(page), { message: names[number]! }).toContain(`lesson=${slug}`);
  }
  await teacher.goto(new URL(`?lesson=02-grace-periods&step=${steps.asks}`, base).href);
  await said(teacher, 'You lead');
  for (const page of students) await atStep(page, steps.asks);
  await teacher.getByTestId('class-panel-button').click();
});

test('after a restart of the server all are in the class again, with its answers', async () => {
  const port = new URL(base).port;
  await server.end();
  await said(students[0]!, 'No connection to the class');
  await server.start(['--no-guests'], port);
  for (const page of students) await said(page, 'You follow the instructor');
  await said(teacher, 'You lead');
  await expect(teacher.getByTestId(`class-histogram-${prediction}-1`)).toContainText(all);
  await act(teacher, { type: 'seek', moment: 130e6 });
  for (const page of students) await standsAt(page, 130e6);
  await students[1]!.reload();
  await expect(students[1]!.getByTestId(`class-histogram-${prediction}-1`)).toContainText('(you)');
});

test('the report has what was answered, for the instructor alone', async () => {
  const where = await teacher.getByTestId('class-report').evaluate((link: HTMLAnchorElement) => link.href);
  const table = await (await teacher.request.get(where)).text();
  const rows = table.split('\n').filter((row) => row.includes(prediction));
  expect(rows.length).toBeGreaterThan(0);
  expect(table).not.toContain('Ada');
});

test('the end of the class is the end for all', async () => {
  await teacher.getByTestId('class-ending').click();
  await teacher.getByTestId('class-ending-sure').click();
  for (const page of [teacher, ...students]) await said(page, 'The class has ended');
  await students[0]!.getByRole('button', { name: 'dismiss' }).click();
  await expect(students[0]!.getByTestId('class-bar')).toHaveCount(0);
});
