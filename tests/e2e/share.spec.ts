// SPDX-License-Identifier: GPL-2.0-or-later
/** A class without a server: the link to a moment as a QR code, and answers that come back by one. */

import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, type Locator, type Page, test } from '@playwright/test';
import decode from 'qr/decode.js';
import { rested } from './moments.ts';

const types: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };
let folder = '';
let server: Server;
let base = '';

test.beforeAll(async () => {
  test.setTimeout(600_000);
  folder = mkdtempSync(join(tmpdir(), 'duet-e2e-share-'));
  execFileSync(join(__dirname, '../../duet'), ['export', '02-grace-periods/3-hogs', '--to', 'site', join(folder, 'site')], {
    env: { ...process.env, DUET_SETUP: 'skip' },
    timeout: 150_000,
  });
  server = createServer((request, answer) => {
    const { pathname } = new URL(request.url ?? '/', 'http://x');
    const file = join(folder, 'site', pathname.slice(1) || 'index.html');
    if (!existsSync(file)) answer.writeHead(404).end();
    else answer.writeHead(200, { 'content-type': types[extname(file)] ?? 'application/octet-stream' }).end(readFileSync(file));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});

test.afterAll(() => {
  server?.close();
  if (folder) rmSync(folder, { recursive: true });
});

/** What a camera that looks at the screen reads: the code is decoded from a picture of it. */
async function scanned(code: Locator): Promise<string> {
  const png = (await code.screenshot()).toString('base64');
  const { width, height, pixels } = await code.page().evaluate(async (text) => {
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const picture = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
    const { width, height } = picture;
    const context = new OffscreenCanvas(width, height).getContext('2d')!;
    context.drawImage(picture, 0, 0);
    return { width, height, pixels: Array.from(context.getImageData(0, 0, width, height).data) };
  }, png);
  return decode({ width, height, data: Uint8Array.from(pixels) });
}

async function opened(page: Page, query: string, shows: string): Promise<void> {
  await page.goto(`${base}?${query}`);
  await expect(page.getByTestId(shows)).toBeVisible({ timeout: 90_000 });
}

for (const theme of ['light', 'dark'] as const)
  test(`the code of a moment is the link, and the link is the moment, ${theme}`, async ({ page, context }) => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.emulateMedia({ colorScheme: theme });
    await opened(page, 'step=ticks&at=200', 'moment');
    await rested(page);
    const stood = await page.getByTestId('moment').textContent();
    await page.getByTestId('share').click();
    const link = await scanned(page.getByTestId('qr'));
    await expect(page.getByTestId('share-text')).toHaveText(link);
    expect(Object.fromEntries(new URL(link).searchParams)).toMatchObject({ step: 'ticks', at: '200', run: '3-hogs' });
    await page.getByTestId('share-copy').click();
    await expect(page.getByTestId('share-copy')).toHaveText('link copied');
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(link);
    await expect(page.getByTestId('no-follow')).toContainText('There is no follow mode without a server');

    const student = await context.newPage();
    await student.goto(link);
    await expect(student.getByTestId('moment')).toHaveText(stood ?? '', { timeout: 90_000 });
  });

test('over a slide a key shows the code, and the clicker goes back to the slide', async ({ page }) => {
  await page.setViewportSize({ width: 1920, height: 1080 });
  await opened(page, 'step=ticks&present=1&slide=2', 'deck-count');
  const slide = await page.getByTestId('deck-count').textContent();
  await page.keyboard.press('?');
  await expect(page.getByTestId('help')).toContainText('the link to this moment, with its QR code');
  await page.keyboard.press('?');
  await page.keyboard.press('a');
  const code = page.getByTestId('qr');
  const link = await scanned(code);
  // Students read the lesson; the slides are the teacher's.
  expect(new URL(link).searchParams.has('present')).toBe(false);
  // From the last row of a room a code should be half as high as the wall.
  expect((await code.boundingBox())?.height).toBeGreaterThan(1080 / 2);
  await expect(page.getByTestId('share-answers')).toHaveCount(0);
  await page.keyboard.press('PageDown');
  await expect(page.getByTestId('share-dialog')).toHaveCount(0);
  await expect(page.getByTestId('deck-count')).toHaveText(slide ?? '');
  await page.getByTestId('deck-share').click();
  await expect(code).toBeVisible();
});

test('while a slide asks, the link leaves out the moment that would answer', async ({ page, browser }) => {
  await opened(page, 'step=three-hogs&present=1', 'ask');
  await page.keyboard.press('a');
  const link = await scanned(page.getByTestId('qr'));
  expect(new URL(link).searchParams.has('at')).toBe(false);
  const student = await browser.newPage();
  await student.goto(link);
  await expect(student.getByTestId('predict')).toBeVisible({ timeout: 90_000 });
  await student.close();
});

test('answers come back by a code, and the page that opens it keeps its own', async ({ page, browser }) => {
  // A student's phone.
  await page.setViewportSize({ width: 390, height: 844 });
  await opened(page, 'step=three-hogs', 'predict');
  await page.getByTestId('predict').getByRole('button', { name: 'five to nine', exact: true }).click();
  await page.getByTestId('share').click();
  await page.getByTestId('share-answers').click();
  const link = await scanned(page.getByTestId('qr'));
  expect(link).toMatch(/\/#answers=1~02-grace-periods~/);
  const saved = page.waitForEvent('download');
  await page.getByTestId('answers-file').click();
  expect((await saved).suggestedFilename()).toBe('02-grace-periods-answers.json');

  const asked: string[] = [];
  const teacher = await browser.newPage();
  teacher.on('request', (request) => asked.push(request.url()));
  await teacher.goto(link);
  const brought = teacher.getByTestId('brought');
  await expect(brought).toContainText('five to nine', { timeout: 90_000 });
  await expect(brought).toContainText(/Predictions: 1 of \d made, \d right/);
  expect(asked.filter((url) => url.includes('answers='))).toEqual([]);
  expect(await teacher.evaluate(() => localStorage.getItem('duet.02-grace-periods'))).toBeNull();
  await teacher.keyboard.press('Escape');
  await expect(teacher.getByTestId('brought-dialog')).toHaveCount(0);
  expect(teacher.url()).not.toContain('answers=');

  for (const [hash, why] of [
    [link.slice(link.indexOf('#'), -3), 'a part of it is missing or changed'],
    ['#answers=9~x', 'version 1, but the link brings version 9'],
    [`#answers=${'1'.repeat(2000)}`, 'but this one has 2000'],
  ] as const) {
    await teacher.goto('about:blank');
    await teacher.goto(base + hash);
    await expect(teacher.getByTestId('brought-bad')).toContainText(why, { timeout: 90_000 });
  }
  await teacher.close();
});

test('a page that was opened as a file says why it has no code', async ({ page }) => {
  await page.goto(`${pathToFileURL(`${folder}/site/`).href}index.html?step=ticks&at=200`);
  await rested(page);
  await page.getByTestId('share').click();
  await expect(page.getByTestId('qr-none')).toHaveText(
    'This page was opened as a file, so other devices cannot open its link. Put the folder on a web host.',
  );
  await expect(page.getByTestId('share-text')).toContainText('step=ticks');
});
