// SPDX-License-Identifier: GPL-2.0-or-later
/** Present mode is a deck: a clicker walks a whole lesson, every slide is full and legible, and the speaker's window follows. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, type Page, test } from '@playwright/test';
import { animated } from './moments.ts';
import { offlinePort } from './playwright.config.ts';
import { measurePens, type SlideFacts, slideFacts } from './slides.ts';

test.use({ baseURL: `http://127.0.0.1:${offlinePort}`, viewport: { width: 1920, height: 1080 } });
// Recordings are read anew by the server, on a machine that may be busy.
test.setTimeout(600_000);

const slug = '04-extent-shrinker';
const leastPx = 20;

/** The lanes of each step, out of the lesson's own file. */
function lanesOf(lesson: string): Map<string, string[]> {
  const path = join(__dirname, '../../lessons', lesson, 'story.yaml');
  const scenes = readFileSync(path, 'utf8').matchAll(/- \{id: ([\w-]+),.*?arms: \[([^\]]*)\]/g);
  return new Map([...scenes].map(([, id = '', arms = '']) => [id, arms.split(', ')]));
}

async function present(page: Page, query: string): Promise<void> {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.addInitScript(measurePens);
  await page.goto(`/?${query}&present=1`);
}

/** The slide when its run is there and nothing moves. */
async function shown(page: Page): Promise<SlideFacts> {
  await expect(page.locator('.deck-body')).toHaveAttribute('data-ready', '', { timeout: 120_000 });
  const play = page.getByTestId('play');
  if ((await play.count()) > 0 && (await play.textContent()) === 'pause') await play.click();
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
}

test('a clicker walks a whole lesson: all lanes, nothing small, nothing empty, to the last slide', async ({
  page,
}) => {
  await present(page, `lesson=${slug}`);
  const lanes = lanesOf(slug);
  const steps: string[] = [];
  const last = page.getByTestId('deck-next');
  for (let press = 0; press < 60; press++) {
    const facts = await shown(page);
    expectLegible(facts);
    if (facts.step !== steps.at(-1)) steps.push(facts.step);
    if (facts.kind === 'picture') expect(facts.lanes).toEqual(lanes.get(facts.step));
    if (facts.kind === 'ask' && !facts.revealed) {
      // The first press asked, the second shows the answer, and the stage is not seen before.
      await expect(page.getByTestId('picture')).toHaveCount(0);
      await page.keyboard.press('PageDown');
      await expect(page.locator('.ask [data-truth]')).toHaveCount(1);
      await expect(page.getByTestId('ask-answer')).toContainText(/^(Counted|Modelled): /);
      expectLegible(await shown(page));
    }
    if (await last.isDisabled()) break;
    const before = page.url();
    await page.keyboard.press('PageDown');
    await expect.poll(() => page.url()).not.toBe(before);
  }
  expect(steps).toEqual([...lanes.keys()]);
  const end = page.url();
  await page.keyboard.press('PageDown');
  await page.keyboard.press('ArrowRight');
  expect(page.url()).toBe(end);
  await page.keyboard.press('Home');
  await expect(page.getByTestId('deck-count')).toHaveText(/^1 of /);
  await page.keyboard.press('PageUp');
  await expect(page.getByTestId('deck-count')).toHaveText(/^1 of /);
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
  await expect(notes.getByTestId('notes-say')).toContainText('Three kernels, the same file');
  await expect(notes.getByTestId('notes-clock')).toHaveText(/^\d+:\d\d$/);
  await page.keyboard.press('PageDown');
  await expect(notes.getByTestId('notes-title')).toHaveText(
    'The same scan three times: the answer',
  );
  await notes.bringToFront();
  await notes.keyboard.press('PageDown');
  await expect(page.getByTestId('slide-picture')).toBeVisible();
  await expect(notes.getByTestId('notes-title')).toHaveText(
    'The same scan three times: the picture',
  );
  // A link holds the slide; a reload comes back to it.
  await expect.poll(() => page.url()).toContain('slide=3');
});
