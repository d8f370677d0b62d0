// SPDX-License-Identifier: GPL-2.0-or-later
/** Present mode is a deck: a clicker walks a whole lesson, every slide is full and legible, and the speaker's window follows. */

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, type Page, test } from '@playwright/test';
import { judgedSmall, themed } from './judged.ts';
import { animated } from './moments.ts';
import { nightlyUnless } from './nightly.ts';
import { offlinePort } from './playwright.config.ts';
import { measurePens, type SlideFacts, slideFacts } from './slides.ts';
import { faults } from './stage-faults.ts';
import { stageFacts, watchText } from './stage.ts';
import { nextSlide, resized, slideStands } from './walk.ts';

test.use({ baseURL: `http://127.0.0.1:${offlinePort}`, viewport: { width: 1920, height: 1080 } });
// Recordings are read anew by the server, on a machine that may be busy.
test.setTimeout(600_000);

const slug = '04-extent-shrinker';
const lessons = readdirSync(join(__dirname, '../../lessons')).filter((name) => /^\d\d-/.test(name));
/** In every `make test`: the one with most steps, and one whose picture is a space and not a time. */
const walked = ['02-grace-periods', '05-cacheline-pingpong'];
const leastPx = 20;
/** Of a claim, so that it is read from the last row, and of its lines. */
const claim = { px: 34, lines: 2 };
const asking = /^(ask|explain|quiz)$/;
/** A walk that is longer has lost its way. */
const mostPresses = 80;

async function present(page: Page, query: string): Promise<void> {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.addInitScript(measurePens);
  await page.addInitScript(watchText);
  await page.goto(`/?${query}&present=1`);
}

/** The slide when its run is there and nothing moves. */
async function shown(page: Page): Promise<SlideFacts> {
  await slideStands(page);
  await animated(page);
  return await page.evaluate(slideFacts);
}

function expectLegible(facts: SlideFacts): void {
  const where = `${facts.step} ${facts.kind}`;
  expect(facts.text.px, `${where}: “${facts.text.words}”`).toBeGreaterThanOrEqual(leastPx);
  expect(facts.pen.px, `${where}, drawn: “${facts.pen.words}”`).toBeGreaterThanOrEqual(leastPx);
  // No third of the stage is empty, across or down.
  expect(facts.emptyAcross, `${where}: empty, of the width`).toBeLessThan(1 / 3);
  expect(facts.emptyDown, `${where}: empty, of the height`).toBeLessThan(1 / 3);
  expect(facts.cut, `${where}: cut off`).toEqual([]);
  expect(facts.leftOut, `${where}: left out`).toEqual([]);
}

for (const lesson of lessons)
  test(`a clicker walks all of ${lesson}: lanes, claims, answers after questions, nothing small, nothing empty`, nightlyUnless(walked.includes(lesson)), async ({
    page,
    request,
  }) => {
    const { scenes, terms, quiz } = await (await request.get(`/api/lessons/${lesson}`)).json();
    await present(page, `lesson=${lesson}`);
    const steps: string[] = [];
    const kinds: string[] = [];
    const patches: string[] = [];
    const found: string[] = [];
    for (let press = 0; press < mostPresses; press++) {
      await themed(page, press % 2 === 0 ? 'light' : 'dark');
      const facts = await shown(page);
      found.push(...faults(await page.evaluate(stageFacts, '.deck-body')).map((words) => `${facts.step}, slide ${press + 1}: ${words}`));
      if (press === 1) {
        await judgedSmall(page, `${lesson}, a slide of ${facts.step}`);
        await resized(page, '1920x1080');
      }
      expectLegible(facts);
      const scene = scenes.find((one: { id: string }) => one.id === facts.step);
      if (facts.step !== steps.at(-1)) steps.push(facts.step);
      kinds.push(facts.kind);
      patches.push(...facts.patches);
      if (facts.kind === 'picture') {
        expect(facts.lanes).toEqual(scene.arms);
        expect(facts.claim).toMatchObject({ words: scene.claim });
        expect(facts.claim?.px).toBeGreaterThanOrEqual(claim.px);
        expect(facts.claim?.lines).toBeLessThanOrEqual(claim.lines);
      } else if (facts.kind === 'ask')
        // The first press asks, the second shows the answer, and the stage is not seen before.
        await expect(page.getByTestId('ask-answer')).toContainText(
          facts.revealed ? /^(Counted|Measured|Modelled): / : 'Ask for a show of hands',
        );
      if (asking.test(facts.kind)) expect(facts.answers > 0, `${facts.step} ${facts.kind}`).toBe(facts.revealed);
      if (!(await nextSlide(page))) break;
    }
    expect(found, lesson).toEqual([]);
    expect(steps).toEqual(scenes.map(({ id }: { id: string }) => id));
    const count = (kind: string) => kinds.filter((one) => one === kind).length;
    const words = terms.filter(({ entry }: { entry: boolean }) => entry).length;
    expect([count('words'), count('explain'), count('quiz')]).toEqual([Math.ceil(words / 3), 2, 2 * quiz.length]);
    expect(new Set(patches).size, 'no patch is shown twice').toBe(patches.length);
    const end = page.url();
    await page.keyboard.press('PageDown');
    await page.keyboard.press('ArrowRight');
    expect(page.url()).toBe(end);
    await page.keyboard.press('Home');
    await expect(page.getByTestId('deck-count')).toHaveText(/^1 of /);
    await page.keyboard.press('PageUp');
    await expect(page.getByTestId('deck-count')).toHaveText(/^1 of /);
    await expect(page.getByTestId('words-mail')).toContainText('This lesson began with a mail from');
  });

test('the speaker’s window follows the wall, moves it, and says what comes next', async ({
  page,
  context,
}) => {
  await present(page, `lesson=${slug}&step=three-scans`);
  await shown(page);
  const opened = context.waitForEvent('page');
  await page.keyboard.press('s');
  const notes = await opened;
  await expect(notes.getByTestId('notes-title')).toHaveText(
    'The same scan three times: the question',
  );
  await expect(notes.getByTestId('notes-next')).toContainText(
    'The same scan three times: the answer',
  );
  await expect(notes.getByTestId('notes-own')).toContainText(
    'Ask for a show of hands before you reveal the answer.',
  );
  await expect(notes.getByTestId('notes-say')).toContainText('Three kernels get the same request');
  await expect(notes.getByTestId('notes-clock')).toHaveText(/^\d+:\d\d$/);
  // The step begins at the sixth minute, and the talk has just begun.
  await expect(notes.getByTestId('notes-plan')).toContainText('this step 6 to 10 of 45 min');
  await expect(notes.getByTestId('notes-pace')).toHaveText('6 min ahead');
  await page.keyboard.press('PageDown');
  await expect(notes.getByTestId('notes-title')).toHaveText(
    'The same scan three times: the answer',
  );
  await notes.bringToFront();
  await expect(notes.getByTestId('notes-next')).toContainText('the 2013 scan steps over 256 entries');
  await notes.keyboard.press('PageDown');
  await expect(page.getByTestId('slide-picture')).toBeVisible();
  await expect(notes.getByTestId('notes-title')).toHaveText(
    'The same scan three times: the picture',
  );
  // A link holds the slide; a reload comes back to it.
  await expect.poll(() => page.url()).toContain('slide=3');
});
