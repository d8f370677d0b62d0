// SPDX-License-Identifier: GPL-2.0-or-later
/** Two recordings beside each other: differences first, then the lanes of both on one axis under one scrubber. */

import { expect, type Page, test } from '@playwright/test';
import { ends, moment, open, rested, still } from './moments.ts';
import { offlinePort } from './playwright.config.ts';

test.use({ baseURL: `http://127.0.0.1:${offlinePort}` });
// Both are read anew by the server, on a machine that may be busy.
test.setTimeout(600_000);

interface Duet {
  readonly player: { readonly state: { readonly offset: ReadonlyMap<string, number> } };
}

const pair = 'lesson=02-grace-periods&step=ticks&run=9-hogs&with=3-hogs';
const keys = ['first:rwsem', 'second:rwsem', 'first:srcu', 'second:srcu'];

/** "100 of 449 umounts" of each lane, as it stands on the page. */
async function counts(page: Page): Promise<number[]> {
  const texts = await page.locator('.beside-lane .lane-count b').allTextContents();
  return texts.map((text) => Number(text.replaceAll(',', '')));
}

async function state(page: Page) {
  await still(page);
  await rested(page);
  return {
    url: page.url(),
    counts: await counts(page),
    differences: await page.getByTestId('differences').innerText(),
    axis: await page.getByTestId('axis-line').innerText(),
    words: await page.getByTestId('words').innerText(),
    pixels: await page
      .locator('[data-testid=picture] canvas, [data-testid=scrubber] canvas')
      .evaluateAll((all) => all.map((one) => (one as HTMLCanvasElement).toDataURL())),
  };
}

test('two recordings stand beside each other, and the same operation of both is laid over the other', async ({ page }) => {
  await open(page, `${pair}&at=20`);
  const head = page.getByTestId('differences');
  await expect(head).toContainText('hogs: 9 in the first run, 3 in the second run');
  // What differs is read before any lane is seen, and each lane says which run it is of.
  const above = (await head.boundingBox())!;
  const lanes = ['first-rwsem', 'second-rwsem', 'first-srcu', 'second-srcu'];
  const tops: number[] = [];
  for (const id of lanes) {
    const lane = page.getByTestId(id);
    tops.push((await lane.boundingBox())!.y);
    await expect(lane.getByRole('heading')).toContainText(id.startsWith('first') ? ', first' : ', second');
    await expect(lane.locator('.lane-header')).toContainText('recorded');
  }
  expect(tops).toEqual(tops.toSorted((a, b) => a - b));
  expect(above.y + above.height).toBeLessThan(tops[0]!);
  await expect(page.getByTestId('run-first').getByTestId('clock')).toHaveText('clock wall');
  await expect(page.getByTestId('run-second').getByTestId('lost')).toContainText('lost events');

  const found = await ends(page);
  expect(Object.keys(found)).toEqual(keys);
  // Scrubbed to the 100th umount of the second run's SRCU lane: each lane counts its own.
  const known = found['second:srcu']![99]!;
  await page.getByTestId('beat-forward').click();
  const strip = page.getByTestId('scrubber');
  const last = Number(await strip.getAttribute('aria-valuemax'));
  const box = (await strip.boundingBox())!;
  let x = box.x + box.width / 2;
  for (let i = 0; i < 3; i++) {
    await page.mouse.click(x, box.y + 20);
    x += ((known - 1e6 - (await moment(page))) / last) * (box.width - 130);
  }
  for (let i = 0; i < 200 && (await moment(page)) > known; i++) await page.keyboard.press('ArrowLeft');
  await page.getByTestId('in-words').focus();
  for (let i = 0; i < 200 && (await moment(page)) < known; i++) await page.getByTestId('beat-forward').click();
  expect(await moment(page)).toBe(known);
  await expect
    .poll(() => counts(page))
    .toEqual(keys.map((key) => found[key]!.filter((t) => t <= known).length));

  // By operations the 100th of all four ends at once.
  await page.getByTestId('align-operation').click();
  await page.getByTestId('align-at').fill('100');
  const latest = Math.max(...keys.map((key) => found[key]![99]!));
  const offset = await page.evaluate(() =>
    Object.fromEntries((window as unknown as { duet: Duet }).duet.player.state.offset),
  );
  expect(offset).toEqual(Object.fromEntries(keys.map((key) => [key, latest - found[key]![99]!])));
  expect(await moment(page)).toBe(latest);
  await expect.poll(() => counts(page)).toEqual([100, 100, 100, 100]);
  await expect(page.getByTestId('axis-line')).toContainText('umount 100 ends at the same moment on every lane');

  await page.keyboard.press('Escape');
  await page.getByTestId('in-words').click();
  const before = await state(page);
  expect(before.url).toContain('run=9-hogs&with=3-hogs');
  expect(before.words).toContain('second:');
  await page.reload();
  expect(await state(page)).toEqual(before);
});

test('from the list of runs to their lanes, and to one of them alone', async ({ page }) => {
  await page.goto('/?lesson=03-inode-recycling&at=10');
  await page.getByTestId('runs').click();
  const choice = page.getByTestId('compare');
  await choice.getByLabel('first').selectOption('recorded:03-inode-recycling:removal');
  await choice.getByLabel('second').selectOption('recorded:03-inode-recycling:removal-4x');
  await choice.getByRole('button', { name: 'compare' }).click();
  await page.getByTestId('see-lanes').click();
  await expect(page.getByTestId('beside')).toBeVisible({ timeout: 120_000 });
  await expect(page.getByTestId('differences')).toBeVisible();
  await page.keyboard.press('PageDown');
  await expect(page).toHaveURL(/step=/);
  await expect(page).toHaveURL(/with=/);
  await page.getByTestId('alone-second').click();
  await expect(page.getByTestId('lesson')).toBeVisible({ timeout: 120_000 });
  await expect(page).not.toHaveURL(/with=/);
});

test('what cannot stand beside each other is said in a sentence', async ({ page }) => {
  const refused: [string, string][] = [
    ['lesson=02-grace-periods&run=9-hogs&with=nothing', "nothing' is neither a recording nor a saved run"],
    ['lesson=02-grace-periods&run=9-hogs&with=recorded:03-inode-recycling:removal', 'belongs to lesson 02-grace-periods, and .* to 03-inode-recycling'],
    ['lesson=02-grace-periods&run=9-hogs&with=9-hogs', 'Both runs are the same'],
    ['lesson=02-grace-periods&with=9-hogs', 'Name both'],
    [
      'lesson=02-grace-periods&run=recorded:03-inode-recycling:removal&with=recorded:03-inode-recycling:batch-32',
      'not to 02-grace-periods',
    ],
    ['lesson=05-cacheline-pingpong&run=watched-8&with=listing-queued', 'no common axis'],
  ];
  for (const [query, sentence] of refused) {
    await page.goto(`/?${query}`);
    await expect(page.getByRole('alert')).toHaveText(new RegExp(sentence), { timeout: 120_000 });
    await expect(page.getByTestId('picture')).toHaveCount(0);
  }
  await page.getByRole('button', { name: 'the lesson' }).click();
  await expect(page.getByTestId('lesson')).toBeVisible({ timeout: 120_000 });
});
