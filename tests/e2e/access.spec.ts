// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Every page and every view: no serious finding of axe, each step shows what it claims, a stage that is used at four
 * sizes, knobs that cover nothing, keys alone, reduced motion in steps. One load a lesson: windows are resized.
 */

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, type Page, test } from '@playwright/test';
import { judgedSmall, judgedTwice, themed } from './judged.ts';
import { animated, goesOn, moment } from './moments.ts';
import { nightly } from './nightly.ts';
import { faults } from './stage-faults.ts';
import { knobFaults, stageFacts, watchText } from './stage.ts';
import { nextStep, resized, searched, stands } from './walk.ts';

/** In which size a step is looked at, and in which theme: a desk and a narrow page of each. */
const looks = [
  ['1600x1000', 'dark'],
  ['900x700', 'dark'],
  ['390x844', 'light'],
  ['1280x720', 'light'],
] as const;
/** Ends on a desk, where the next step begins. In `make test` a step has every other look, and its neighbours have the rest. */
const looksOf = (step: number) => {
  if (nightly) return step % 2 === 0 ? looks : looks.toReversed();
  const some = looks.filter((_, i) => i % 2 === step % 2);
  return step % 2 === 0 ? some.toReversed() : some;
};
/** Guards against a search that never ends: it takes some 10 ms, and a busy machine a hundred times that. */
const searchMs = 5000;
const slugs = readdirSync(join(__dirname, '../../lessons')).filter((name) => /^\d\d-/.test(name));

test.describe.configure({ mode: 'parallel' });

interface Card {
  readonly slug: string;
  readonly scenes: readonly { readonly id: string }[];
  readonly view: string | null;
}

async function lessonOf(page: Page, slug: string): Promise<Card> {
  return (await (await page.request.get(`/api/lessons/${slug}`)).json()) as Card;
}

async function lessonsWithPicture(page: Page): Promise<Card[]> {
  const list = (await (await page.request.get('/api/lessons')).json()) as
    | Card[]
    | { lessons: Card[] };
  const there = (Array.isArray(list) ? list : list.lessons).map((l) => l.slug);
  const all = await Promise.all(there.map((slug) => lessonOf(page, slug)));
  return all.filter((l) => l.view !== null);
}

test('front page and gallery, light and dark', async ({ page }) => {
  test.setTimeout(600_000);
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.goto('/');
  await expect(page.getByTestId('front').locator('li').first()).toBeVisible();
  await judgedTwice(page, 'front page');
  const lessons = await lessonsWithPicture(page);
  expect(lessons.length).toBeGreaterThanOrEqual(4);
  expect(lessons.map(({ slug }) => slug).filter((slug) => !slugs.includes(slug))).toEqual([]);
  await page.goto('/?gallery');
  await expect(page.getByTestId('picture')).toHaveCount(lessons.length, { timeout: 90_000 });
  await judgedTwice(page, 'gallery');
});

for (const slug of slugs) {
  test(`every step of ${slug}: its claim, light and dark, its stage, keys alone, reduced motion`, async ({ page }) => {
    test.setTimeout(600_000);
    await page.emulateMedia({ reducedMotion: 'reduce' });
    const lesson = await lessonOf(page, slug);
    test.skip(lesson.view === null, 'it has no picture');
    await page.addInitScript(watchText);
    await resized(page, looks[0][0]);
    await page.goto(`/?lesson=${slug}`);
    const spent = { looks: 0, knobs: false };
    for (const [i, { id }] of lesson.scenes.entries()) {
      // As a viewer goes: the page is loaded once.
      if (i > 0) await nextStep(page, i + 1);
      await expect(page.getByTestId('picture')).toBeVisible({ timeout: 90_000 });
      const where = `${slug} ${id}`;
      if (i === 0) await movesInBeats(page, where);
      await judgedTwice(page, where);
      const began = Date.now();
      await stands(page);
      await expect(page.getByTestId('unseen'), `${where} shows what it claims`).toHaveCount(0);
      await expectStages(page, where, looksOf(i));
      spent.looks += Date.now() - began;
      if (!spent.knobs && (await page.getByTestId('more-knobs').count()) > 0) {
        spent.knobs = true;
        await expectKnobs(page, where, looksOf(i + 1));
      }
      if (i === 1) {
        await walkedByKeys(page, where);
        await judgedSmall(page, where);
        await resized(page, looks[0][0]);
      }
    }
    await page.getByTestId('in-words').click();
    await expect(page.getByTestId('words')).toBeVisible();
    await judgedTwice(page, `${slug} in words`);
    await page.keyboard.press('w');
    const searches = await searched(page);
    expect(searches.length, `${slug}: steps that look for what they claim`).toBeGreaterThan(4);
    expect(Math.max(...searches), slug).toBeLessThan(searchMs);
    test.info().annotations.push({ type: 'seconds', description: `looks ${spent.looks / 1000}` });
  });
}

/** Once the run stands: no word is cut, overprinted or faint, nothing covered, no lane hidden, no third of the stage empty. */
async function expectStages(page: Page, where: string, at: readonly (typeof looks)[number][]): Promise<void> {
  const found: string[] = [];
  for (const [size, scheme] of at) {
    await resized(page, size);
    await themed(page, scheme);
    await animated(page);
    found.push(...faults(await page.evaluate(stageFacts, '.lanes')).map((words) => `${size} ${scheme}: ${words}`));
  }
  if (found.length > 0) await page.screenshot({ path: '/tmp/layout/fail.png' });
  expect(found, where).toEqual([]);
}

/** The knobs open at any size: nothing stands on anything, and Esc closes them. */
async function expectKnobs(page: Page, where: string, at: readonly (typeof looks)[number][]): Promise<void> {
  for (const [size] of at) {
    await resized(page, size);
    const more = page.getByTestId('more-knobs');
    await more.press('Enter');
    await expect(page.getByTestId('knob-panel'), `${where} ${size}`).toBeVisible();
    await resized(page, size);
    expect(await page.evaluate(knobFaults), `${where} ${size}`).toEqual([]);
    await page.getByTestId('knob-panel').locator('select, button').last().focus();
    await page.keyboard.press('Escape');
    await expect(page.getByTestId('knob-panel'), `${where} ${size}`).toHaveCount(0);
    await expect(more, `${where} ${size}`).toBeFocused();
  }
}

/** With arrow keys from mark to mark, and Enter opens one. The run stands. */
async function walkedByKeys(page: Page, where: string): Promise<void> {
  const picture = page.getByTestId('picture');
  await picture.focus();
  await page.keyboard.press('ArrowRight');
  const said = picture.locator('[aria-live]');
  await expect(said, where).not.toBeEmpty();
  const first = await said.textContent();
  let other = first;
  for (const key of ['ArrowRight', 'ArrowDown', 'ArrowUp', 'ArrowLeft']) {
    await page.keyboard.press(key);
    other = await said.textContent();
    if (other !== first) break;
  }
  expect(other, `${where}: an arrow key goes to another mark`).not.toBe(first);
  await page.keyboard.press('Enter');
  await expect(page.getByTestId('records'), where).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByTestId('records'), where).toBeHidden();
  await page.getByTestId('play').focus();
  await expect(page.locator('.mark-tip'), `${where}: the tip goes with the focus`).toHaveCount(0);
}

/** With reduced motion the moment stands between beats: two seconds hold two or three, not sixty frames. */
async function movesInBeats(page: Page, where: string): Promise<void> {
  await expect(page.locator('html')).toHaveAttribute('data-idle', /./);
  await goesOn(page, await moment(page));
  const { beats, seconds } = await page.evaluate(async () => {
    const { player } = (window as unknown as { duet: { player: { state: { moment: number } } } })
      .duet;
    const seen = new Set<number>();
    const began = performance.now();
    for (let i = 0; i < 40; i++) {
      seen.add(player.state.moment);
      await new Promise((done) => setTimeout(done, 50));
    }
    return { beats: seen.size, seconds: (performance.now() - began) / 1000 };
  });
  // On a busy host they are more than two.
  expect(beats, where).toBeLessThanOrEqual(2 + seconds);
}

test('slides: words, question, answer, picture, patch and table, three sentences, a question at the end', async ({ page }) => {
  test.setTimeout(600_000);
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.goto('/?lesson=02-grace-periods&step=expedited&present=1');
  const seen: string[] = [];
  for (const kind of ['ask', 'ask', 'picture', 'evidence']) {
    await expect(page.getByTestId(`slide-${kind}`)).toHaveAttribute('data-ready', '');
    await judgedTwice(page, page.url());
    seen.push((await page.locator('.deck-body').textContent()) ?? '');
    await page.keyboard.press('PageDown');
  }
  expect(new Set(seen).size).toBe(seen.length);
  const others = [['words', 'step=one-umount'], ['explain', 'step=today&slide=2'], ['quiz', 'step=today&slide=4']] as const;
  for (const [kind, where] of others) {
    await page.goto(`/?lesson=02-grace-periods&${where}&present=1`);
    await expect(page.getByTestId(`slide-${kind}`)).toHaveAttribute('data-ready', '');
    await judgedTwice(page, page.url());
  }
});
