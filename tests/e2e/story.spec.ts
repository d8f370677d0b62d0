// SPDX-License-Identifier: GPL-2.0-or-later
/** A new step opens with its title and the begin of its text in view, at every size, however the reader got there. */

import { expect, type Page, test } from '@playwright/test';

const sizes = [
  { width: 1600, height: 1000 },
  { width: 1280, height: 720 },
  { width: 900, height: 700 },
  { width: 390, height: 844 },
];
const lesson = '/?lesson=03-inode-recycling';
const restMs = 60_000;

/** Scrolls the text, and the page where it scrolls, to their ends; where all steps stand below each other, to the end of this one. */
async function toEnd(page: Page): Promise<void> {
  await page.evaluate(() => {
    const text = document.querySelector('.story-text')!;
    text.scrollTop = text.scrollHeight;
    if (text.children.length > 1) text.querySelector('[aria-current]')!.scrollIntoView({ block: 'end' });
    else scrollTo(0, document.documentElement.scrollHeight);
  });
}

/** Of title and first line of text, or of title and picture on a phone: what is not in view, below other things counted. */
function hidden(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const step = document.querySelector('.story [aria-current]')!;
    const [title, next] = [step.querySelector('h2')!, (step.querySelector('.picture') ?? step.querySelector(':is(.entry, .prose p)'))!];
    const seen = (of: Element): boolean => {
      const { left, top } = of.getBoundingClientRect();
      if (of.matches('.picture')) return top > 0 && top < innerHeight - 200;
      return of.contains(document.elementFromPoint(left + 4, top + 8));
    };
    return [title, next].filter((of) => !seen(of)).map((of) => of.textContent!.slice(0, 40));
  });
}

async function stepIs(page: Page, n: number): Promise<void> {
  await expect(page.getByTestId('step-count')).toHaveText(new RegExp(`^Step ${n} of`), { timeout: restMs });
}

for (const viewport of sizes) {
  test(`a step opens with its title and text in view at ${viewport.width} by ${viewport.height}`, async ({ page }) => {
    await page.setViewportSize(viewport);
    await page.goto(lesson);
    await stepIs(page, 1);
    expect(await hidden(page), 'the first').toEqual([]);
    for (const n of [2, 3, 4]) {
      await toEnd(page);
      await page.getByTestId('step-next').press('Enter');
      await stepIs(page, n);
      expect(await hidden(page), `step ${n}, by next`).toEqual([]);
    }
    await toEnd(page);
    await page.keyboard.press('PageDown');
    await stepIs(page, 5);
    expect(await hidden(page), 'by a key').toEqual([]);
    await toEnd(page);
    await page.goBack();
    await stepIs(page, 4);
    await expect.poll(() => hidden(page), { message: 'back' }).toEqual([]);
    await toEnd(page);
    await page.getByRole('button', { name: /^Step 1: / }).press('Enter');
    await stepIs(page, 1);
    expect(await hidden(page), 'the first again').toEqual([]);
  });
}

for (const viewport of sizes) {
  test(`an answer comes with the begin of its explanation at ${viewport.width} by ${viewport.height}`, async ({ page }) => {
    await page.setViewportSize(viewport);
    await page.goto('/?lesson=02-grace-periods&step=expedited');
    await page.getByTestId('predict').locator('.choice').first().click();
    await expect(page.getByTestId('predict-truth')).toBeVisible({ timeout: restMs });
    const seen = (css: string) =>
      page.evaluate((of) => {
        const all = [...document.querySelectorAll(of)];
        return all.filter((one) => {
          const { left, top } = one.getBoundingClientRect();
          return one.contains(document.elementFromPoint(left + 6, top + 6));
        }).length;
      }, css);
    await expect.poll(() => seen('.predict + .prose > :first-child'), { message: 'the explanation' }).toBe(1);
    expect(await seen('[data-testid=predict-truth]'), 'the answer').toBe(1);
  });
}

test('a step whose question was answered before does not open scrolled to it', async ({ page }) => {
  // Two questions, one step after the other: the first is left open.
  await page.setViewportSize({ width: 1280, height: 560 });
  await page.goto('/?lesson=05-cacheline-pingpong&step=eight-letters');
  await page.getByTestId('predict').locator('.choice').first().click();
  await page.getByTestId('step-back').click();
  await stepIs(page, 2);
  await toEnd(page);
  await page.getByTestId('step-next').click();
  await stepIs(page, 3);
  expect(await hidden(page)).toEqual([]);
});

test('a long legend gives way to the lanes of a low desk, and one press shows all of it', async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 720 });
  const [signs, more] = [page.getByTestId('legend').locator('li:visible'), page.getByTestId('legend-more')];
  await page.goto('/?lesson=02-grace-periods&step=verdict&at=222');
  await expect(more).toBeVisible({ timeout: restMs });
  const few = await signs.count();
  const rest = Number.parseInt((await more.textContent()) ?? '', 10);
  const low = (await page.getByTestId('stage').boundingBox())!.height;
  await more.press('Enter');
  await expect(signs).toHaveCount(few + rest);
  await expect.poll(async () => (await page.getByTestId('stage').boundingBox())!.height).toBeLessThan(low);
  await more.press('Enter');
  await expect(signs).toHaveCount(few);
  // What is not the lesson waits in a high window, too.
  await page.setViewportSize({ width: 1440, height: 1000 });
  await expect(more).toBeVisible();
  await expect(page.getByTestId('legend').locator('li[data-muted]:visible')).toHaveCount(0);
});

for (const font of ['Inter', 'the font of the browser']) test(`on a phone the tools of a lesson stand in one row, and the language is named by its letters, in ${font}`, async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  if (font !== 'Inter') await page.route('**/*.woff2', (route) => route.abort());
  await page.goto(lesson);
  await stepIs(page, 1);
  const row = () => page.locator('.top .tools > *:visible').evaluateAll((all) => {
    const middles = all.map((one) => one.getBoundingClientRect()).map(({ top, height }) => Math.round(top + height / 2));
    return Math.max(...middles) - Math.min(...middles);
  });
  await expect.poll(row, 'one row').toBeLessThan(6);
  const short = page.locator('.top .languages-short');
  await expect(short).toHaveText(/^EN/);
  const { width, wanted } = await short.evaluate((one) => ({ width: one.clientWidth || one.getBoundingClientRect().width, wanted: one.scrollWidth }));
  expect(wanted, 'nothing is cut off').toBeLessThanOrEqual(Math.ceil(width));
});

test('lanes that go on below a low window fade until they are scrolled to their end', async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 720 });
  await page.goto('/?lesson=05-cacheline-pingpong&step=moved&at=0');
  const lanes = page.locator('.lanes');
  await expect(lanes).toHaveAttribute('data-below', { timeout: restMs });
  expect(await lanes.evaluate((box) => getComputedStyle(box).maskImage)).toContain('gradient');
  await lanes.evaluate((box) => box.scrollTo(0, box.scrollHeight));
  await expect(lanes).not.toHaveAttribute('data-below');
  await page.setViewportSize({ width: 1600, height: 1400 });
  await lanes.evaluate((box) => box.scrollTo(0, 0));
  await expect(lanes).not.toHaveAttribute('data-below');
});

test('a badge of trouble over a lane pushes no count out of a low window', async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 720 });
  await page.goto('/?lesson=02-grace-periods&step=verdict&at=222');
  const header = page.getByTestId('lane-srcu-expedited');
  await expect(header.locator('.lane-count')).toBeVisible({ timeout: restMs });
  // Of a live run on a busy host; here there is none.
  const cut = await header.evaluate((head) => {
    const badge = Object.assign(document.createElement('span'), { className: 'badge', textContent: '✕ times distorted: waited 95 %' });
    head.insertBefore(badge, head.querySelector('.lane-count'));
    const [count, all] = [head.querySelector('.lane-count b')!.getBoundingClientRect(), head.getBoundingClientRect()];
    return Math.max(count.right - all.right, head.scrollWidth - head.clientWidth);
  });
  expect(cut).toBeLessThanOrEqual(1);
});

test('keys do not get behind the cover of a prediction', async ({ page }) => {
  await page.goto('/?lesson=02-grace-periods&step=three-hogs');
  await expect(page.getByTestId('veil')).toBeVisible({ timeout: restMs });
  const lanes = page.getByTestId('picture');
  await expect(lanes).toHaveAttribute('inert', { timeout: restMs });
  await page.getByTestId('predict').locator('.choice').first().click();
  await expect(lanes).not.toHaveAttribute('inert');
  await page.getByTestId('picture').focus();
  await expect(page.getByTestId('picture')).toBeFocused();
});
