// SPDX-License-Identifier: GPL-2.0-or-later
/** The page on recordings: there at once, labelled, driven by keys and links; and lessons without any. */

import { decode } from '@msgpack/msgpack';
import { expect, type Page, test } from '@playwright/test';
import { goesOn, moment as momentOf, rested } from './moments.ts';

const lesson = '/?lesson=02-grace-periods';

interface Reported {
  readonly type: string;
  readonly run_id?: string | null;
  readonly [field: string]: unknown;
}

/** What page and server say to each other from now on. */
function overheard(page: Page): { readonly sent: Reported[]; readonly came: Reported[] } {
  const received = { sent: [] as Reported[], came: [] as Reported[] };
  const read = (payload: string | Buffer) => decode(payload as Buffer) as Reported;
  page.on('websocket', (socket) => {
    socket.on('framesent', ({ payload }) => received.sent.push(read(payload)));
    socket.on('framereceived', ({ payload }) => received.came.push(read(payload)));
  });
  return received;
}

test('a recorded run plays at once and says that it is recorded', async ({ page }) => {
  await page.goto(lesson);
  await expect(page.getByTestId('phase-rwsem')).toContainText('recorded');
  await expect(page.getByTestId('sentence')).not.toBeEmpty();
});

test('the moment moves while it plays, stands when paused, and steps by umounts', async ({ page }) => {
  await page.goto(`${lesson}&step=ticks`);
  const moment = page.getByTestId('moment');
  await expect(moment).toBeVisible();
  const first = await moment.textContent();
  await expect(moment).not.toHaveText(first ?? '');
  await page.getByTestId('play').click();
  await rested(page);
  const stood = await moment.textContent();
  await rested(page);
  await expect(moment).toHaveText(stood ?? '');
  await page.getByTestId('beat-forward').click();
  await expect(moment).not.toHaveText(stood ?? '');
});

test('behind an open question the run stands, and it plays once the question is answered', async ({ page }) => {
  await page.goto(`${lesson}&step=three-hogs`);
  await expect(page.getByTestId('veil')).toBeVisible();
  await expect(page.getByTestId('phase-rwsem')).toContainText('recorded');
  await expect(page.getByTestId('play')).toHaveAccessibleName('Play');
  // Its window is found once the recording has come.
  await expect(page.getByTestId('coming')).toHaveCount(0);
  await expect.poll(() => momentOf(page)).toBeGreaterThan(0);
  const begin = await momentOf(page);
  // Frames that a run would move in.
  await page.evaluate(async () => {
    for (let i = 0; i < 60; i++) await new Promise((frame) => requestAnimationFrame(frame));
  });
  expect(await momentOf(page)).toBe(begin);
  await page.getByTestId('predict').locator('.choice').first().click();
  await expect(page.getByTestId('veil')).toHaveCount(0);
  await expect(page.getByTestId('play')).toHaveAccessibleName('Pause');
  await goesOn(page, begin);
});

test('before the guess the known lane is shown, and the document does not hold the answer; the guess is said in the blank lane', async ({ page }) => {
  await page.goto(`${lesson}&step=three-hogs&open=words`);
  await expect(page.getByTestId('veil')).toBeVisible();
  await expect(page.getByTestId('coming')).toHaveCount(0);
  await expect(page.getByTestId('ops-rwsem')).toHaveText(/\d/);
  await expect(page.getByTestId('counts').locator('tbody tr')).toHaveText([/^rwsem/]);
  await expect(page.getByTestId('ops-srcu')).toHaveCount(0);
  await expect(page.getByTestId('sentence')).toHaveCount(0);
  // The blank lane is where the answer will stand: below its header, above the axis.
  const [head, cover, canvas] = await Promise.all(
    ['lane-srcu', 'veil', 'picture'].map((id) => page.getByTestId(id).boundingBox()),
  );
  expect(cover!.y).toBeGreaterThanOrEqual(head!.y + head!.height - 1);
  expect(cover!.y + cover!.height).toBeLessThan(canvas!.y + canvas!.height - 15);
  const before = await page.content();
  await page.getByTestId('veil').getByRole('button', { name: 'five to nine' }).click();
  await expect(page.getByTestId('veil')).toHaveCount(0);
  await expect(page.getByTestId('predict').locator('[aria-pressed="true"]')).toContainText('five to nine');
  const counted = await page.getByTestId('predict-truth').textContent();
  const all = await page.getByTestId('total-srcu').textContent();
  const share = /(\d+\.\d) umounts on SRCU/.exec(counted ?? '')?.[1];
  expect(share).toBeDefined();
  for (const answer of [share!, `>${all}<`]) expect(before).not.toContain(answer);
});

test('the picture gives the arrow keys back, and a drawer the focus', async ({ page }) => {
  await page.goto(`${lesson}&step=ticks&at=150&from=140&for=20`);
  await rested(page);
  const picture = page.getByTestId('picture');
  await picture.focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  await expect(page.getByTestId('records')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(picture).toBeFocused();
  await page.keyboard.press('c');
  await expect(page.getByTestId('caveats-sheet')).toBeVisible();
  await page.keyboard.press('c');
  await expect(page.getByTestId('caveats-sheet')).toHaveCount(0);
  await expect(picture).toBeFocused();
  const stood = await momentOf(page);
  await page.keyboard.press('Escape');
  await page.keyboard.press('ArrowRight');
  await expect.poll(() => momentOf(page)).toBeGreaterThan(stood);
});

test('steps change by Page Down, and the link brings the step back', async ({ page }) => {
  await page.goto(lesson);
  await expect(page.getByTestId('step-count')).toContainText('1');
  await page.keyboard.press('PageDown');
  await expect(page.getByTestId('step-count')).toContainText('2');
  await page.reload();
  await expect(page.getByTestId('step-count')).toContainText('2');
});

test('the last step ends with what was said, and each trial leads to its arms and knobs', async ({ page }) => {
  await page.goto(`${lesson}&step=ticks`);
  await expect(page.getByTestId('step-count')).toBeVisible();
  await expect(page.getByTestId('discussion')).toHaveCount(0);
  await page.goto(`${lesson}&step=today`);
  const remark = page.getByTestId('remark').filter({ hasText: 'Dave Chinner' }).first();
  await expect(remark.getByRole('link', { name: 'Re: [PATCH v2 3/3]' }).first()).toHaveAttribute('href', /^https:\/\/lore\.kernel\.org\//);
  await page.getByTestId('remark').getByRole('link', { name: 'auto-expedite off' }).click();
  await expect(page).toHaveURL(/knobs=hogs:1,exp_holdoff:0/);
  await expect(page.getByTestId('step-count')).toContainText('Step 2');
});

test('a nonsense address is a page, not an error', async ({ page }) => {
  const errors: string[] = [];
  page.on('pageerror', (e) => errors.push(e.message));
  await page.goto('/?lesson=99-nothing&step=%3Cscript%3E&at=NaN&speed=-1');
  await expect(page.getByRole('alert').first()).toContainText(/no lesson/i);
  expect(errors).toEqual([]);
});

test('no page writes to the console, and none evaluates strings', async ({ page }) => {
  const said: string[] = [];
  page.on('pageerror', (e) => said.push(e.message));
  page.on('console', (line) => {
    if (['error', 'warning'].includes(line.type())) said.push(line.text());
  });
  for (const path of ['/', lesson, '/?lesson=01-shrinker-bitmaps', `${lesson}&embed=1`]) {
    await page.goto(path);
    await expect(page.getByRole('heading').first()).toBeAttached();
    await page.waitForLoadState('networkidle');
  }
  expect(said).toEqual([]);
});

test('under 1000 px the patch and the evidence are tabs', async ({ page }) => {
  await page.setViewportSize({ width: 800, height: 1000 });
  await page.goto(`${lesson}&step=expedited`);
  await expect(page.getByRole('tab').first()).toBeVisible();
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  expect(width).toBeLessThanOrEqual(800);
});

for (const [query, run] of [
  ['&step=three-hogs', '3-hogs'],
  ['&step=expedited', '9-hogs'],
  ['&step=ticks&run=1-hog&at=5&from=0&for=30', '1-hog'],
] as const) {
  test(`an address gets its own recording and no other: ${query}`, async ({ page }) => {
    const { sent, came } = overheard(page);
    await page.goto(lesson + query);
    // As messages while the server reads it, as segments once it has.
    await expect
      .poll(() => came.some((m) => m.type === 'segments' || (m.type === 'reading' && m['whole'] === true)))
      .toBe(true);
    await expect(page.getByTestId('source')).toContainText('recorded');
    await expect(page.getByTestId('coming')).toHaveCount(0);
    // Behind the veil of a question the run stands.
    if (!query.includes('&at=')) await page.getByRole('button', { name: 'just show me' }).click();
    // The page has drawn since: it would have sent a second request by now.
    await goesOn(page, await momentOf(page));
    expect(sent.filter((m) => m.type === 'open')).toHaveLength(1);
    const runs = new Set(came.filter((m) => m.run_id != null).map((m) => m.run_id));
    expect([...runs]).toEqual([`recorded:02-grace-periods:${run}`]);
  });
}

test('a run that is not there is reported in one sentence, and the step gets its own recording at once', async ({ page }) => {
  const { sent } = overheard(page);
  await page.goto(`${lesson}&step=three-hogs&run=no-such-run&at=5&from=0&for=30`);
  await expect(page.getByRole('alert')).toHaveCount(1);
  await expect(page.getByRole('alert')).toContainText('no-such-run');
  await expect(page.getByTestId('source')).toContainText('recorded');
  await expect.poll(() => page.url()).not.toContain('no-such-run');
  expect(sent.filter((m) => m.type === 'open').map((m) => m['run'])).toEqual([
    'no-such-run',
    'recorded:02-grace-periods:3-hogs',
  ]);
});

test('a recording that the server has read comes as segments, each fetched once, and looks the same', async ({ page }) => {
  const address = `${lesson}&step=ticks&run=3-hogs&at=5&from=0&for=30`;
  const texts = async () => ({
    moment: await page.getByTestId('moment').textContent(),
    sentence: await page.getByTestId('sentence').textContent(),
  });
  const { came } = overheard(page);
  // A browser without this sends no word of segments, so that all comes as messages.
  await page.addInitScript("if (location.hash === '#old') delete AbortSignal.any");
  await page.goto(`${address}#old`);
  await expect(page.getByTestId('coming')).toHaveCount(0);
  await expect(page.getByTestId('sentence')).not.toBeEmpty();
  const before = await texts();
  expect(came.some((m) => m.type === 'batch')).toBe(true);

  came.length = 0;
  const fetched: string[] = [];
  page.on('response', (answer) => {
    if (answer.url().includes('/segments/')) fetched.push(`${answer.status()} ${answer.url()}`);
  });
  await page.goto(lesson);
  await page.goto(address);
  await expect(page.getByTestId('coming')).toHaveCount(0);
  await expect(page.getByTestId('sentence')).not.toBeEmpty();
  await expect.poll(texts).toEqual(before);
  expect(came.some((m) => m.type === 'segments' && m.run_id === 'recorded:02-grace-periods:3-hogs')).toBe(true);
  expect(came.some((m) => m.type === 'batch' && m.run_id === 'recorded:02-grace-periods:3-hogs')).toBe(false);
  const own = fetched.filter((line) => line.includes('3-hogs'));
  expect(own.length).toBeGreaterThan(0);
  expect(new Set(own).size).toBe(own.length);
  expect(own.every((line) => line.startsWith('200 '))).toBe(true);
});
