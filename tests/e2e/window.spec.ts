// SPDX-License-Identifier: GPL-2.0-or-later
/** The window of a time axis by wheel, drag, brush, pinch and keys; the address holds what they chose. */

import { expect, type Page, test } from '@playwright/test';
import { open, still } from './moments.ts';

/** Lesson 02: 100 to 300 ms of a run, still. */
const rows = 'lesson=02-grace-periods&step=expedited&at=200&from=100&for=200';
/** Lesson 03: an axis whose body a drag scrubs. */
const lives = 'lesson=03-inode-recycling&step=dam&at=130&from=100&for=80';

interface Duet {
  readonly player: { readonly state: { readonly start: number; readonly span: number; readonly mode: string } };
}

/** The window that playback has, ms. */
async function shown(page: Page): Promise<{ from: number; span: number }> {
  return page.evaluate(() => {
    const { start, span } = (window as unknown as { duet: Duet }).duet.player.state;
    return { from: start / 1e6, span: span / 1e6 };
  });
}

/** The window that the address has, once it says that of playback. */
async function addressed(page: Page): Promise<{ from: number; span: number }> {
  const read = () => {
    const q = new URL(page.url()).searchParams;
    return { from: Number(q.get('from')), span: Number(q.get('for')) };
  };
  await expect
    .poll(async () => {
      const [a, b] = [read(), await shown(page)];
      return Math.abs(a.from - b.from) + Math.abs(a.span - b.span);
    })
    .toBeLessThan(1e-3);
  return read();
}

/** A place in the picture, by shares of its box. */
async function inPicture(page: Page, x: number, y: number): Promise<{ x: number; y: number }> {
  const box = (await page.getByTestId('picture').boundingBox())!;
  return { x: box.x + box.width * x, y: box.y + box.height * y };
}

test.beforeEach(async ({ page }) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
});

for (const [name, query] of [
  ['rows', rows],
  ['lives', lives],
] as const) {
  test(`a wheel zooms ${name} around the pointer, and the address has the window`, async ({ page }) => {
    await open(page, query);
    const before = await addressed(page);
    const at = await inPicture(page, 0.7, 0.25);
    await page.mouse.move(at.x, at.y);
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, -240);
    await page.keyboard.up('Control');
    await expect.poll(async () => (await shown(page)).span).toBeLessThan(before.span * 0.95);
    const after = await addressed(page);
    // What is pointed at lies in the right part of both windows.
    expect(after.from).toBeGreaterThan(before.from);
    expect(after.from + after.span).toBeLessThan(before.from + before.span);
    expect(before.from + before.span - after.from - after.span).toBeLessThan(after.from - before.from);
    await page.reload();
    await still(page);
    expect(await addressed(page)).toEqual(after);
  });
}

test('a drag moves the window, and a click still shows the records of a mark', async ({ page }) => {
  await open(page, rows);
  const before = await addressed(page);
  const at = await inPicture(page, 0.6, 0.5);
  await page.mouse.move(at.x, at.y);
  await page.mouse.down();
  await page.mouse.move(at.x - 60, at.y, { steps: 4 });
  await page.mouse.move(at.x - 120, at.y, { steps: 4 });
  await page.mouse.up();
  const after = await addressed(page);
  expect(after.from).toBeGreaterThan(before.from + 5);
  expect(after.span).toBeCloseTo(before.span, 5);
  await expect(page.getByTestId('records')).toHaveCount(0);
});

test('Shift and drag selects a window, in the picture and on the overview', async ({ page }) => {
  await open(page, rows);
  const before = await addressed(page);
  const [a, b] = [await inPicture(page, 0.5, 0.5), await inPicture(page, 0.7, 0.5)];
  await page.keyboard.down('Shift');
  await page.mouse.move(a.x, a.y);
  await page.mouse.down();
  await page.mouse.move(b.x, b.y, { steps: 5 });
  await page.mouse.up();
  await page.keyboard.up('Shift');
  const picked = await addressed(page);
  expect(picked.from).toBeGreaterThan(before.from);
  expect(picked.span).toBeLessThan(before.span * 0.4);

  const strip = (await page.getByTestId('scrubber').boundingBox())!;
  await page.keyboard.down('Shift');
  await page.mouse.move(strip.x + strip.width * 0.3, strip.y + strip.height / 2);
  await page.mouse.down();
  await page.mouse.move(strip.x + strip.width * 0.5, strip.y + strip.height / 2, { steps: 5 });
  await page.mouse.up();
  await page.keyboard.up('Shift');
  const wide = await addressed(page);
  expect(wide.span).toBeGreaterThan(picked.span * 1.5);
});

test('a wheel beside the picture changes no window', async ({ page }) => {
  await open(page, rows);
  const before = await addressed(page);
  const side = (await page.getByTestId('side').boundingBox())!;
  await page.mouse.move(side.x + side.width / 2, side.y + side.height / 2);
  await page.mouse.wheel(0, 300);
  await page.waitForFunction(() => document.querySelector('[data-testid=side]')!.scrollTop > 0);
  expect(await shown(page)).toEqual(before);
});

test('keys zoom, move and choose the window', async ({ page }) => {
  await open(page, rows);
  const press = async (key: string) => {
    await page.keyboard.press(key);
    return addressed(page);
  };
  await page.getByTestId('picture').focus();
  expect(await press('z')).toEqual({ from: 150, span: 100 });
  expect(await press('Shift+Z')).toEqual({ from: 100, span: 200 });
  expect(await press('.')).toEqual({ from: 200, span: 200 });
  expect(await press(',')).toEqual({ from: 100, span: 200 });
  expect(await press('i')).toEqual({ from: 200, span: 100 });
  expect((await press('0')).from).toBe(0);
});

test.describe('with fingers', () => {
  test.use({ hasTouch: true, viewport: { width: 420, height: 900 } });

  test('a pinch zooms, one finger does not', async ({ page, context }) => {
    await open(page, rows);
    const before = await addressed(page);
    await page.getByTestId('picture').scrollIntoViewIfNeeded();
    const { x, y } = await inPicture(page, 0.6, 0.4);
    const cdp = await context.newCDPSession(page);
    const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', xs: readonly number[]) =>
      cdp.send('Input.dispatchTouchEvent', { type, touchPoints: xs.map((at, id) => ({ x: at, y, id })) });
    await touch('touchStart', [x]);
    await touch('touchMove', [x + 40]);
    await touch('touchEnd', []);
    expect((await shown(page)).span).toBeCloseTo(before.span, 5);
    await touch('touchStart', [x - 20, x + 20]);
    for (const apart of [30, 45, 60]) await touch('touchMove', [x - apart, x + apart]);
    await touch('touchEnd', []);
    await expect.poll(async () => (await shown(page)).span).toBeLessThan(before.span * 0.7);
    await addressed(page);
  });
});
