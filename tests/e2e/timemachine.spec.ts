// SPDX-License-Identifier: GPL-2.0-or-later
/** A recording as a place to go back to: scrubbed, stepped backwards, aligned, linked, embedded. Guests are off. */

import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, type Locator, type Page, test } from '@playwright/test';
import { ends, goesOn, moment, open, rested, still } from './moments.ts';
import { offlinePort } from './playwright.config.ts';

const base = `http://127.0.0.1:${offlinePort}`;
test.use({ baseURL: base });
// A recording is read anew by the server, on a machine that may be busy.
test.setTimeout(600_000);

interface Column {
  readonly [i: number]: number;
}

interface Lane {
  readonly arm: string;
  readonly ops: { readonly length: number; readonly t1: Column };
  readonly spans: {
    readonly length: number;
    readonly t0: Column;
    readonly t1: Column;
    readonly row: Column;
    readonly kind: Column;
  };
}

interface Duet {
  readonly index: () => {
    readonly lanes: readonly Lane[];
    readonly kinds: readonly { readonly name: string }[];
  };
  readonly player: {
    readonly state: {
      readonly mode: string;
      readonly moment: number;
      readonly offset: ReadonlyMap<string, number>;
    };
  };
}

/** "100 of 449 umounts" in each lane's header. */
async function headers(page: Page): Promise<number[]> {
  const texts = await page.locator('.lane-count b').allTextContents();
  return texts.map((text) => Number(text.replaceAll(',', '')));
}

/** All that a viewer has before them: pixels, words, table, figures and the address. */
async function state(page: Page) {
  await still(page);
  const words = page.getByTestId('words');
  await expect(words).toBeVisible();
  await expect(words.locator('tbody tr').first()).toBeVisible();
  await rested(page);
  return {
    url: page.url(),
    words: await words.innerText(),
    headers: await headers(page),
    sentence: await page.getByTestId('sentence').innerText(),
    axis: await page.getByTestId('axis-line').innerText(),
    pixels: await page
      .locator('[data-testid=picture] canvas, [data-testid=scrubber] canvas')
      .evaluateAll((all) => all.map((one) => (one as HTMLCanvasElement).toDataURL())),
  };
}

/** The same once two frames in a row have it: a picture follows the size of its place a frame later. */
async function settled(page: Page) {
  let was = await state(page);
  await expect
    .poll(async () => {
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(done)));
      const before = JSON.stringify(was);
      was = await state(page);
      return JSON.stringify(was) === before;
    })
    .toBe(true);
  return was;
}

test('a known event on all lanes is scrubbed to, and the link brings the same state back', async ({
  page,
}) => {
  await open(page, 'lesson=02-grace-periods&step=ticks&at=20');
  const { srcu = [], rwsem = [] } = await ends(page);
  const known = srcu[99]!;
  // Near it on the strip of all lanes, then beat by beat until it is there.
  const strip = page.getByTestId('scrubber');
  const [box, last] = [
    (await strip.boundingBox())!,
    Number(await strip.getAttribute('aria-valuemax')),
  ];
  await strip.press('Home');
  await expect.poll(() => moment(page)).toBe(0);
  await strip.press('End');
  await expect.poll(() => moment(page)).toBeCloseTo(last, -3);
  let x = box.x + box.width / 2;
  for (let i = 0; i < 3; i++) {
    await page.mouse.click(x, box.y + 20);
    x += ((known - 2e6 - (await moment(page))) / last) * (box.width - 120);
  }
  for (let i = 0; i < 120 && (await moment(page)) > known; i++)
    await page.keyboard.press('ArrowLeft');
  await page.getByTestId('in-words').focus();
  for (let i = 0; i < 120 && (await moment(page)) < known; i++)
    await page.getByTestId('beat-forward').click();
  expect(await moment(page)).toBe(known);
  await page.keyboard.press('w');
  const before = await settled(page);
  expect(before.headers).toEqual([rwsem.filter((t) => t <= known).length, 100]);
  expect(new URL(before.url).searchParams.get('run')).toBe('9-hogs');
  await page.reload();
  // A picture takes its size from rows that are still coming in, and follows them.
  await expect.poll(() => state(page), { timeout: 30_000 }).toEqual(before);
});

test('a jump says what is there, and a button that leads nowhere is off and says why', async ({ page }) => {
  const said = page.getByTestId('jump-words');
  const [divergence, wait, marker] = ['divergence', 'long-wait', 'align-marker'].map((name) => page.getByTestId(name)) as [Locator, Locator, Locator];
  await open(page, 'lesson=01-shrinker-bitmaps&step=one-call&at=15');
  await expect(divergence).toBeDisabled();
  await expect(divergence).toHaveAttribute('title', /^There is only one lane/);
  await expect(marker).toHaveAttribute('title', /^There is only one lane/);
  await page.keyboard.press('d');
  await expect(said).toHaveText(/^There is only one lane/);
  await page.keyboard.press('ArrowRight');
  await expect(said).toHaveCount(0);

  await open(page, 'lesson=01-shrinker-bitmaps&step=third-call&at=20');
  await divergence.click();
  await expect(said).toHaveText(/^The kernels first differ at call 2: 3\.8 ms on list walk and 290 µs on bitmap/);
  await open(page, 'lesson=04-extent-shrinker&step=three-scans&at=0.02');
  await divergence.click();
  await expect(said).toHaveText(/^The kernels first differ at entry 1: .*block 0, delayed, kept on stock; block \d+, written, freed on evictable list\.$/);
  await open(page, 'lesson=05-cacheline-pingpong&step=moved&at=0.4');
  await expect(divergence).toHaveAttribute('title', /in the order in which the host ran the vCPUs/);

  await open(page, 'lesson=02-grace-periods&step=three-hogs&at=20');
  await wait.click();
  await expect(said).toHaveText(/^Here, storm-\d on \S+ waits for .*, for [\d.]+ ms\. "Long" means/);
  await marker.click();
  await expect(said).toHaveText(/^Umount 1 ends at the same moment on every lane, at [\d.]+ ms; moved to align: \S+ by/);
  await expect(said).toHaveCount(1);

  // Where the page scrolls, the picture need not be in view.
  for (const width of [800, 950]) {
    await page.setViewportSize({ width, height: 700 });
    await open(page, 'lesson=02-grace-periods&step=three-hogs&at=20');
    await page.keyboard.press('n');
    await expect(said).toBeInViewport({ ratio: 0.95 });
  }
});

test('a wait is stepped through backwards, by the same events as forwards', async ({ page }) => {
  await open(page, 'lesson=02-grace-periods&step=three-hogs&arms=srcu&at=20');
  await page.getByTestId('long-wait').click();
  const begin = await moment(page);
  const wait = await page.evaluate((t0) => {
    const { lanes, kinds } = (window as unknown as { duet: Duet }).duet.index();
    const { spans } = lanes[0]!;
    for (let i = 0; i < spans.length; i++)
      if (spans.t0[i] === t0 && kinds[spans.kind[i]!]?.name.startsWith('wait_'))
        return { t1: spans.t1[i]!, kind: kinds[spans.kind[i]!]!.name };
    return null;
  }, begin);
  expect(wait?.kind).toBe('wait_srcu');
  const on = [begin];
  while (on.at(-1)! < wait!.t1 && on.length < 400) {
    await page.keyboard.press('Shift+ArrowRight');
    on.push(await moment(page));
  }
  expect(on.at(-1)).toBeGreaterThanOrEqual(wait!.t1);
  expect(on.length).toBeGreaterThan(5);
  const back = [on.at(-1)!];
  while (back.at(-1)! > begin && back.length <= on.length) {
    await page.getByTestId('event-back').click();
    back.push(await moment(page));
  }
  expect(back).toEqual(on.toReversed());
  await expect(page.getByTestId('moment')).toHaveText(
    `${(begin / 1e6).toLocaleString('en', { minimumFractionDigits: 3, maximumFractionDigits: 3 })} ms`,
  );
});

test('the 100th umount of every lane stands at one place, and the axis says so', async ({
  page,
}) => {
  await open(page, 'lesson=02-grace-periods&step=ticks&at=20');
  await expect(page.getByTestId('axis-line')).toHaveText(
    "axis: guest time since the workload's start",
  );
  await page.getByTestId('align-operation').click();
  await page.getByTestId('align-at').fill('100');
  await expect(page.getByTestId('axis-line')).toHaveText(
    'axis: guest time of SRCU; umount 100 ends at the same moment on every lane',
  );
  const { srcu = [], rwsem = [] } = await ends(page);
  const offset = await page.evaluate(() =>
    Object.fromEntries((window as unknown as { duet: Duet }).duet.player.state.offset),
  );
  expect(offset).toEqual({ rwsem: srcu[99]! - rwsem[99]!, srcu: 0 });
  expect(await moment(page)).toBe(srcu[99]);
  await expect.poll(() => headers(page)).toEqual([100, 100]);
  await page.getByTestId('beat-back').click();
  await expect.poll(async () => Math.min(...(await headers(page)))).toBeLessThan(100);
  await page.keyboard.press('w');
  const before = await state(page);
  expect(before.url).toContain('align=operation&n=100');
  await page.reload();
  expect(await state(page)).toEqual(before);
  // A number that not every lane has is not taken.
  await page.getByTestId('align-at').fill('999999');
  await expect(page.getByTestId('axis-line')).toContainText('umount 100 ends');
  await page.getByTestId('align-time').click();
  await expect(page.getByTestId('axis-line')).not.toContainText('umount');
});

test('a real kernel plays backwards, stops, and goes on from there', async ({ page }) => {
  await open(page, 'lesson=02-grace-periods&step=ticks&at=300&speed=0.01');
  const [first, counted] = [await moment(page), await headers(page)];
  await page.getByTestId('play-back').click();
  const seen: number[] = [];
  for (let i = 0; i < 10; i++) {
    await goesOn(page, seen.at(-1) ?? first);
    seen.push(await moment(page));
  }
  expect(seen.toSorted((a, b) => b - a)).toEqual(seen);
  await expect.poll(() => moment(page)).toBeLessThan(first - 1e6);
  await page.keyboard.press('b');
  await still(page);
  const stopped = await moment(page);
  expect((await headers(page))[1]).toBeLessThanOrEqual(counted[1]!);
  await rested(page);
  expect(await moment(page)).toBe(stopped);
  await page.getByTestId('play').click();
  await expect.poll(() => moment(page)).toBeGreaterThan(stopped);
});

test('Back leads to the step before, and to the moment that was left', async ({ page }) => {
  await open(page, 'lesson=02-grace-periods&step=ticks&at=123.456');
  const left = page.url();
  await page.keyboard.press('PageDown');
  await expect(page.getByTestId('step-count')).toContainText('5');
  await page.goBack();
  await expect(page.getByTestId('step-count')).toContainText('4');
  await expect.poll(() => moment(page), { timeout: 90_000 }).toBe(123_456_000);
  await still(page);
  expect(page.url()).toBe(left);
});

test('the link holds knobs, panes, side and the place in the patch that is pointed at', async ({
  page,
  context,
}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.setViewportSize({ width: 1440, height: 900 });
  await open(page, 'lesson=02-grace-periods&step=expedited&at=300&open=knobs');
  await page.keyboard.press('w');
  await page.getByRole('tab', { name: 'SRCU', exact: true }).click();
  const id = (await page.locator('.hunk-point:visible').first().getAttribute('data-testid')) ?? '';
  const hunk = id.replace('point-', '');
  await page.getByTestId(id).click();
  await expect(page.getByTestId(`hunk-${hunk}`)).toHaveAttribute('data-pointed', '');
  await page.getByTestId('share').click();
  await page.getByTestId('share-copy').click();
  await expect(page.getByTestId('share-copy')).toHaveText('link copied');
  const link = new URL(await page.evaluate(() => navigator.clipboard.readText()));
  expect(link.searchParams.get('hunk')).toBe(hunk);
  expect(link.searchParams.get('patch')).toBe('srcu');
  const other = await context.newPage();
  await other.goto(link.href);
  await still(other);
  await expect(other.getByTestId('words')).toBeVisible();
  await expect(other.getByTestId(id)).toHaveAttribute('aria-pressed', 'true');
  // A place further away in the patch lies folded, until a link points at it.
  await other.goto(link.href.replace(`hunk=${hunk}`, 'hunk=1'));
  await still(other);
  await expect(other.getByTestId('hunk-1')).toBeInViewport();
  expect(await moment(other)).toBe(await moment(page));
  // Narrow, the side is tabs, and the link says which is open.
  await other.setViewportSize({ width: 900, height: 1000 });
  await other.getByTestId('tab-evidence').click();
  await expect.poll(() => other.url()).toContain('side=evidence');
  await other.reload();
  await still(other);
  await expect(other.getByTestId('tab-evidence')).toHaveAttribute('aria-selected', 'true');
  await other.close();
});

test('a run that is gone gives way to the recording that fits', async ({ page }) => {
  await page.goto('/?lesson=02-grace-periods&step=ticks&run=live-long-ago&at=1&from=0&for=30');
  await expect(page.getByRole('alert').first()).toBeVisible({ timeout: 90_000 });
  await expect(page.getByTestId('source')).toContainText('recorded', { timeout: 120_000 });
  await expect.poll(() => page.url(), { timeout: 120_000 }).not.toContain('live-long-ago');
});

test('in slides the page is bare: a stage, a sentence, a few buttons', async ({ page }) => {
  await page.setViewportSize({ width: 960, height: 540 });
  const query = 'lesson=02-grace-periods&step=ticks&at=300&embed=1';
  await open(page, query);
  await expect(page.getByTestId('embed')).toBeVisible();
  await expect(page.getByRole('heading', { level: 1, name: 'They wait for ticks' })).toBeInViewport();
  await expect(page.getByTestId('sentence')).toContainText('SRCU');
  await expect(page.getByTestId('source')).toContainText('recorded');
  for (const id of ['story', 'side', 'state', 'run', 'share', 'overview'])
    await expect(page.getByTestId(id)).toHaveCount(0);
  const size = await page.evaluate(() => {
    const { scrollWidth, scrollHeight } = document.documentElement;
    return [scrollWidth, scrollHeight];
  });
  expect(size).toEqual([960, 540]);
  const lanes = page.locator('.lanes');
  expect(await lanes.evaluate((all) => all.scrollHeight - all.clientHeight)).toBeLessThanOrEqual(1);
  await page.getByTestId('beat-forward').click();
  await expect.poll(() => moment(page)).toBeGreaterThan(300e6);
  const whole = await page.getByTestId('whole').getAttribute('href');
  expect(whole).toContain('run=9-hogs');
  expect(whole).not.toContain('embed');
});

test('slides, of another server or a file, may hold the bare page and no other', async ({
  page,
}, info) => {
  const query = 'lesson=02-grace-periods&step=ticks&at=300';
  const slides = `<iframe id="bare" src="${base}/?${query}&embed=1" width="900" height="500"></iframe>
    <iframe id="whole" src="${base}/?${query}" width="900" height="500"></iframe>`;
  const server = createServer((_request, response) =>
    response.setHeader('content-type', 'text/html').end(slides),
  );
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  const file = info.outputPath('slides.html');
  writeFileSync(file, slides);
  try {
    for (const address of [`http://127.0.0.1:${port}/`, `file://${file}`]) {
      await page.goto(address);
      const bare = page.frameLocator('#bare');
      await expect(bare.getByTestId('sentence')).toContainText('SRCU', { timeout: 120_000 });
      await expect(page.frameLocator('#whole').getByTestId('lesson')).toHaveCount(0);
      expect(page.frames().map((frame) => frame.url().split(':')[0])).toContain('chrome-error');
    }
  } finally {
    server.close();
  }
});

test.describe('with fingers', () => {
  test.use({ hasTouch: true });

  test('a tap steps, and a tap on the strip goes there', async ({ page }) => {
    await open(page, 'lesson=02-grace-periods&step=ticks&at=300');
    await page.getByTestId('event-back').tap();
    await expect.poll(() => moment(page)).toBeLessThan(300e6);
    const strip = (await page.getByTestId('scrubber').boundingBox())!;
    await page.touchscreen.tap(strip.x + strip.width - 40, strip.y + 20);
    await expect.poll(() => moment(page)).toBeGreaterThan(400e6);
  });
});

test('a line of the patch leads to the marks of its function, and a mark to its line', async ({
  page,
}) => {
  await page.setViewportSize({ width: 1600, height: 1000 });
  await open(page, 'lesson=02-grace-periods&step=the-reader&patch=srcu&at=300');
  const line = page.locator('.patch-line', { has: page.getByTestId('standing-srcu_call') });
  await expect(line).toHaveCount(1);
  await line.getByTestId('marks-srcu_call').click();
  await expect(line).toHaveAttribute('data-marked', '');
  await expect(line).toHaveAttribute('data-lit');
  await page.keyboard.press('Escape');
  await expect(line).not.toHaveAttribute('data-marked');
  // Turned round, the same line goes, and is lit for the same kernel.
  await page.getByTestId('turn-round').click();
  await expect(page.getByTestId('patch-way')).toContainText('− SRCU + rwsem');
  await expect(line).toHaveAttribute('data-sign', '-');
  await expect(line).toHaveAttribute('data-lit');
});

test('a moment of a link goes before the window of the step', async ({ page }) => {
  await open(page, 'lesson=02-grace-periods&step=ticks&at=150&from=140&for=20');
  const { start, span } = await page.evaluate(
    () => (window as unknown as { duet: { player: { state: { start: number; span: number } } } }).duet.player.state,
  );
  expect([start / 1e6, span / 1e6]).toEqual([140, 20]);
});
