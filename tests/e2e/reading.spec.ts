// SPDX-License-Identifier: GPL-2.0-or-later
/** A lesson that is scrolled: text beside a picture that stays, at 900 px; a story down the page, at 390 px. */

import { expect, type Page, test } from '@playwright/test';
import { moment, rested } from './moments.ts';
import { offlinePort } from './playwright.config.ts';
import { nextStep, stands } from './walk.ts';

/** On the server whose guests are switched off: nothing but recordings is looked at. */
test.use({ baseURL: `http://127.0.0.1:${offlinePort}` });

const lesson = '/?lesson=02-grace-periods';

test.beforeEach(async ({ page }) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
});

interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

function boxOf(page: Page, selector: string): Promise<Box> {
  return page.locator(selector).first().evaluate((element) => {
    const { left, top, width, height } = element.getBoundingClientRect();
    return { left, top, width, height };
  });
}

const textOf = (id: string) => `article[data-step="${id}"]`;

/** By wheel, as a reader does, over the text. */
async function scrollTo(page: Page, id: string, top: number): Promise<void> {
  const { top: now } = await boxOf(page, textOf(id));
  await page.mouse.move(150, 300);
  await page.mouse.wheel(0, now - top);
  await expect.poll(async () => Math.abs((await boxOf(page, textOf(id))).top - top)).toBeLessThan(30);
}

const onStage = (page: Page, n: number) => expect(page.getByTestId('step-count')).toHaveText(`Step ${n} of 10`);

test.describe('at 900 px', () => {
  test.use({ viewport: { width: 900, height: 700 } });

  test('text and picture stand side by side, large enough for both, and the transport is one line', async ({ page }) => {
    await page.goto(`${lesson}&step=ticks`);
    await stands(page);
    const text = await boxOf(page, `${textOf('ticks')} .prose`);
    const picture = await boxOf(page, '.picture');
    expect(text.width).toBeGreaterThanOrEqual(300);
    expect(picture.width).toBeGreaterThanOrEqual(520);
    expect(picture.left).toBeGreaterThan(text.left + text.width);
    const transport = await boxOf(page, '.transport');
    expect(transport.height).toBeLessThanOrEqual(64);
    expect(picture.top + picture.height).toBeLessThanOrEqual(transport.top);
    // What scrolls within the page is as high as what it stands in.
    const low = await page.evaluate(() =>
      [...document.querySelectorAll('.story, .story *, .stage, .lanes')]
        .filter((e) => /auto|scroll/.test(getComputedStyle(e).overflowY) && e.scrollHeight > e.clientHeight + 1 && e.clientHeight < 200)
        .map((e) => e.className),
    );
    expect(low).toEqual([]);
    // The page scrolls, and the picture stays.
    await page.mouse.move(150, 300);
    await page.mouse.wheel(0, 300);
    await expect.poll(() => boxOf(page, `${textOf('ticks')} .prose`)).toMatchObject({ top: text.top - 300 });
    expect(await boxOf(page, '.picture')).toEqual(picture);
  });

  test('who scrolls to the text of a step gets that step: the text stays where it is, and no entry is made', async ({ page }) => {
    await page.goto(lesson);
    await stands(page);
    const entries = await page.evaluate(() => history.length);
    await scrollTo(page, 'one-hog', 200);
    await onStage(page, 2);
    await expect.poll(() => page.url()).toContain('step=one-hog');
    expect(Math.abs((await boxOf(page, textOf('one-hog'))).top - 200)).toBeLessThan(30);
    // A step of which much more stands there than of one that waits.
    const before = (await boxOf(page, textOf('three-hogs'))).top;
    await scrollTo(page, 'three-hogs', 150);
    await onStage(page, 3);
    await stands(page);
    expect(Math.abs((await boxOf(page, textOf('three-hogs'))).top - 150)).toBeLessThan(30);
    expect(before).toBeGreaterThan(150);
    await scrollTo(page, 'one-hog', 100);
    await onStage(page, 2);
    expect(Math.abs((await boxOf(page, textOf('one-hog'))).top - 100)).toBeLessThan(30);
    expect(await page.evaluate(() => history.length)).toBe(entries);
  });

  test('the way on leads to the title of the next step, and back to where one was', async ({ page }) => {
    await page.goto(`${lesson}&step=one-hog`);
    await stands(page);
    await nextStep(page, 3);
    const title = async (id: string) => (await boxOf(page, `${textOf(id)} h2`)).top;
    expect(await title('three-hogs')).toBeGreaterThan(48);
    expect(await title('three-hogs')).toBeLessThan(200);
    await page.goBack();
    await onStage(page, 2);
    expect(await title('one-hog')).toBeLessThan(200);
    // The last one, too, stands at the top.
    await page.goto(`${lesson}&step=today`);
    await stands(page);
    expect(await title('today')).toBeLessThan(200);
    await onStage(page, 10);
  });

  test('scrolling within a text moves nobody, and a hand on the run goes on having its step', async ({ page }) => {
    await page.goto(`${lesson}&step=ticks`);
    await stands(page);
    await page.getByTestId('beat-forward').click();
    const at = await moment(page);
    await page.mouse.move(150, 300);
    await page.mouse.wheel(0, 120);
    await rested(page);
    expect(await moment(page)).toBe(at);
    const strip = (await page.getByTestId('scrubber').boundingBox())!;
    await page.mouse.move(strip.x + strip.width * 0.6, strip.y + 20);
    await page.mouse.down();
    await page.evaluate((text) => {
      dispatchEvent(new WheelEvent('wheel'));
      scrollBy(0, document.querySelector(text)!.getBoundingClientRect().top - 200);
    }, textOf('expedited'));
    await rested(page);
    await onStage(page, 4);
    await page.mouse.move(strip.x + strip.width * 0.7, strip.y + 20);
    await rested(page);
    await onStage(page, 4);
    await page.mouse.up();
    await onStage(page, 5);
  });

  test('a page that is moved by something else than the viewer leads to no other step', async ({ page }) => {
    await page.goto(`${lesson}&step=ticks`);
    await stands(page);
    await page.evaluate((text) => scrollBy(0, document.querySelector(text)!.getBoundingClientRect().top - 100), textOf('one-hog'));
    await rested(page);
    await onStage(page, 4);
  });

  test('what would answer an open question is not read before it', async ({ page }) => {
    await page.goto(`${lesson}&step=one-hog`);
    await stands(page);
    const paragraphs = (id: string) => page.locator(`${textOf(id)} .prose`);
    // Its question is open: the text before it is there, what comes after and the steps behind it are not.
    await expect(paragraphs('three-hogs')).toHaveCount(1);
    await expect(paragraphs('ticks')).toHaveCount(0);
    await expect(page.locator(textOf('ticks'))).toContainText('They wait for ticks');
  });

  test('what moves through the run is one press away', async ({ page }) => {
    await page.goto(`${lesson}&step=ticks`);
    await stands(page);
    await expect(page.getByTestId('divergence')).toBeHidden();
    await page.getByTestId('transport-more').click();
    await expect(page.getByTestId('divergence')).toBeVisible();
    const [tools, row] = [await boxOf(page, '.transport'), await boxOf(page, '.transport-right')];
    const [picture, last] = [await boxOf(page, '.picture'), await boxOf(page, '[data-testid=divergence]')];
    expect(row.top).toBeGreaterThanOrEqual(tools.top + 60);
    expect(last.top + last.height).toBeLessThanOrEqual(700);
    expect(picture.top + picture.height).toBeLessThanOrEqual(tools.top + 1);
  });
});

test('at 390 px the page is read down: title, picture, transport, text, the way on', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(`${lesson}&step=the-reader`);
  await stands(page);
  const tops: number[] = [];
  for (const part of ['.top h1', '.story h2', '.picture', '.transport', '.sentence', '.story .prose', '.side', '.steps']) {
    const { top } = await boxOf(page, part);
    tops.push(top);
  }
  expect(tops).toEqual(tops.toSorted((a, b) => a - b));
  // Nothing lies over the picture, wherever the page is scrolled to.
  for (const block of ['start', 'center', 'end'] as const) {
    const covered = await page.getByTestId('picture').evaluate((picture, where) => {
      picture.scrollIntoView({ block: where });
      const { left, top, bottom } = picture.getBoundingClientRect();
      const ys = [top + 4, (top + bottom) / 2, bottom - 4].filter((y) => y > 0 && y < innerHeight);
      return ys.filter((y) => document.elementFromPoint(left + 60, y)?.closest('.picture') === null);
    }, block);
    expect(covered, block).toEqual([]);
  }
  await page.getByTestId('step-next').click();
  await onStage(page, 8);
  expect((await boxOf(page, '.story h2')).top).toBeLessThan(150);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  expect(wide).toBe(390);
});
