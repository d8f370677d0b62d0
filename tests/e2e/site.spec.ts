// SPDX-License-Identifier: GPL-2.0-or-later
/** A lesson exported as a folder: it plays from a plain web server below a path, and as a file; nothing else answers. */

import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { expect, type Page, test } from '@playwright/test';
import { rested } from './moments.ts';
import { nightlyUnless } from './nightly.ts';

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
};
const below = '/lectures/umount/';
const reveal = join(__dirname, '../node_modules/reveal.js/dist');
/** A deck as docs/EMBEDDING.md has it, beside the exported lesson. */
const slides = `<!doctype html><meta charset="utf-8"><title>Umount</title>
<link rel="stylesheet" href="reveal/reveal.css">
<div class="reveal"><div class="slides">
<section><h2>Why is umount slow?</h2></section>
<section><kernel-duet step="ticks" at="200" ratio="16/9" style="width: 900px" autoplay></kernel-duet></section>
<section><kernel-duet src="javascript:alert(1)">no scripts</kernel-duet></section>
</div></div>
<script src="reveal/reveal.js"></script>
<script src="kernel-duet.js"></script>
<script>Reveal.initialize({ hash: false });</script>`;
/** A course of MkDocs as docs/EMBEDDING.md has it: files of its folder, with the exported lesson in docs/duet. */
const course = {
  'mkdocs.yml': `site_name: Kernels
theme: {name: material, font: false, features: [navigation.instant]}
plugins: []
strict: true
extra_javascript: [duet/kernel-duet.js]
not_in_nav: /duet/
nav: [index.md, week/umount.md]
`,
  'docs/index.md': '# Kernels\n\n[Why is umount slow?](week/umount.md)\n',
  'docs/week/umount.md': '# Umount\n\nIt waits:\n\n<kernel-duet step="ticks" at="200" autoplay></kernel-duet>\n\nFor *ticks*.\n',
};
let scratch = '';
let folder = '';
let server: Server;
let base = '';

function exported(run: string, out: string): void {
  execFileSync(join(__dirname, '../../duet'), ['export', run, '--to', 'site', out], {
    env: { ...process.env, DUET_SETUP: 'skip' },
    timeout: 150_000,
  });
}

function bytesOf(out: string): number {
  return readdirSync(out).reduce((sum, name) => sum + statSync(join(out, name)).size, 0);
}

test.beforeAll(async () => {
  test.setTimeout(600_000);
  scratch = mkdtempSync(join(tmpdir(), 'duet-e2e-site-'));
  folder = join(scratch, 'site');
  exported('02-grace-periods/3-hogs', folder);
  writeFileSync(join(folder, 'slides.html'), slides);
  server = createServer((request, answer) => {
    const path = new URL(request.url ?? '/', 'http://x').pathname;
    const name = path.startsWith(below) ? path.slice(below.length) || 'index.html' : '';
    const file = name.startsWith('reveal/')
      ? join(reveal, name.slice('reveal/'.length))
      : join(name.startsWith('course/') ? scratch : folder, name.endsWith('/') ? `${name}index.html` : name);
    if (name === '' || !existsSync(file)) {
      answer.writeHead(404).end();
      return;
    }
    answer.writeHead(200, { 'content-type': types[extname(file)] ?? 'application/octet-stream' });
    answer.end(readFileSync(file));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}${below}`;
});

test.afterAll(() => {
  server?.close();
  if (scratch) rmSync(scratch, { recursive: true });
});

/** Everything the page asks for must come from the folder; what fails or goes elsewhere is reported. */
function watched(page: Page, start: string): string[] {
  const wrong: string[] = [];
  page.on('pageerror', (error) => wrong.push(error.message));
  page.on('console', (line) => {
    if (line.text().includes('Content Security Policy')) wrong.push(line.text());
  });
  page.on('requestfailed', (request) => {
    // What a page was still asking for when the test went on to the next address.
    if (request.failure()?.errorText !== 'net::ERR_ABORTED') wrong.push(`failed: ${request.url()}`);
  });
  page.on('websocket', (socket) => wrong.push(`socket: ${socket.url()}`));
  page.on('request', (request) => {
    if (!request.url().startsWith(start) && !/^(data|blob):/.test(request.url()))
      wrong.push(`elsewhere: ${request.url()}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 400) wrong.push(`${response.status()}: ${response.url()}`);
  });
  return wrong;
}

test('a site may load its own files alone, and carries the notices of the packages in it', async ({
  page,
}) => {
  const notices = readFileSync(join(folder, 'licenses.md'), 'utf8');
  for (const name of ['react-dom', 'd3-scale', '@fontsource-variable/inter']) expect(notices).toContain(`## ${name} - `);
  for (const start of [base, pathToFileURL(`${folder}/`).href]) {
    await page.goto(`${start}index.html`);
    const refused = page.waitForEvent('console', (line) => line.text().includes('Content Security Policy'));
    await page.addScriptTag({ url: 'http://127.0.0.1:9/x.js' }).catch(() => undefined);
    await refused;
  }
});

/** Plays, stops, steps, scrubs, comes back by its link, tells its story. */
async function plays(page: Page, index: string) {
  await page.goto(`${index}?step=ticks`);
  await expect(page.getByTestId('source')).toContainText('recorded', { timeout: 90_000 });
  const moment = page.getByTestId('moment');
  const first = await moment.textContent();
  await expect.poll(() => moment.textContent(), { timeout: 90_000 }).not.toBe(first);
  await expect(page.getByTestId('sentence')).toContainText('counted, recorded');

  await page.getByTestId('play').click();
  await rested(page);
  const stood = await moment.textContent();
  await page.getByTestId('beat-forward').click();
  await expect(moment).not.toHaveText(stood ?? '');
  await page.getByTestId('beat-back').click();

  // The link holds the moment: opened anew, the page shows the same.
  await expect(page).toHaveURL(/[?&]at=/);
  await rested(page);
  const linked = { url: page.url(), moment: await moment.textContent() };
  await page.goto('about:blank');
  await page.goto(linked.url);
  await expect(moment).toHaveText(linked.moment ?? '', { timeout: 90_000 });

  const step = await page.getByTestId('step-count').textContent();
  await page.keyboard.press('PageDown');
  await expect(page.getByTestId('step-count')).not.toHaveText(step ?? '');
}

test('a folder below a path of a plain web server is the whole lesson', async ({ page }) => {
  const wrong = watched(page, base);
  await plays(page, base);
  // Patch and measured evidence of their steps; a prediction that waits for an answer.
  await page.goto(`${base}?step=verdict`);
  await expect(page.getByTestId('measured')).toContainText('recorded', { timeout: 90_000 });
  await expect(page.locator('[data-sign="+"]').first()).toBeVisible();
  await page.goto(`${base}?step=three-hogs`);
  await expect(page.getByTestId('predict')).toBeVisible({ timeout: 90_000 });
  expect(wrong).toEqual([]);
});

test('the same folder plays when its page is opened as a file', async ({ page }) => {
  const start = pathToFileURL(`${folder}/`).href;
  const wrong = watched(page, start);
  await plays(page, `${start}index.html`);
  expect(wrong).toEqual([]);
});

test('in a deck of reveal.js it loads on its slide, plays, and stops when the slide is gone', async ({ page }) => {
  const wrong = watched(page, base);
  await page.goto(`${base}slides.html`);
  await expect(page.getByRole('heading', { name: 'Why is umount slow?' })).toBeVisible();
  const frames = () => page.frames().filter((frame) => frame.url().includes('embed=1'));
  const duet = page.locator('kernel-duet').first();
  await page.keyboard.press('ArrowRight');
  const frame = duet.frameLocator('iframe');
  await expect(frame.getByTestId('source')).toContainText('recorded', { timeout: 90_000 });
  const moment = frame.getByTestId('moment');
  const first = await moment.textContent();
  await expect.poll(() => moment.textContent(), { timeout: 90_000 }).not.toBe(first);
  const box = await duet.boundingBox();
  expect(Math.abs((box?.width ?? 0) / (box?.height ?? 1) - 16 / 9)).toBeLessThan(0.05);
  expect(frames()).toHaveLength(1);
  // The page in the frame changes its own address as it plays.
  const asked = await duet.evaluate((element) => element.shadowRoot?.querySelector('iframe')?.src ?? '');
  expect(new URL(asked).search).toBe('?embed=1&step=ticks&at=200');

  // Out of sight it stands; back on its slide it goes on.
  await page.keyboard.press('ArrowRight');
  await expect(page.locator('kernel-duet').nth(1)).toContainText('src wants the address of a folder or server');
  await expect.poll(async () => {
    const seen = await moment.textContent();
    await page.waitForTimeout(300);
    return (await moment.textContent()) === seen;
  }).toBe(true);
  const stood = await moment.textContent();
  await page.keyboard.press('ArrowLeft');
  await expect.poll(() => moment.textContent(), { timeout: 90_000 }).not.toBe(stood);

  // A slide's own script moves it without a new page.
  await duet.evaluate((element: HTMLElement & { pause(): void }) => {
    element.pause();
    element.setAttribute('at', '50');
  });
  await expect(moment).toContainText('50');
  expect(wrong).toEqual([]);
});

test('in a deck, after a click into the frame, the keys that it does not use are those of the deck', async ({ page }) => {
  await page.goto(`${base}slides.html`);
  await page.keyboard.press('ArrowRight');
  const slide = () => page.evaluate('Reveal.getIndices().h');
  expect(await slide()).toBe(1);
  const frame = page.locator('kernel-duet').first().frameLocator('iframe');
  await expect(frame.getByTestId('source')).toContainText('recorded', { timeout: 90_000 });
  const inFrame = () => page.evaluate(() => document.activeElement?.localName === 'kernel-duet');

  // The frame's own keys stay in it, with the step that the deck has chosen.
  await frame.getByTestId('play').click();
  await frame.getByTestId('embed-title').click();
  expect(await inFrame()).toBe(true);
  const moment = frame.getByTestId('moment');
  const stood = await moment.textContent();
  await page.keyboard.press('ArrowRight');
  await expect(moment).not.toHaveText(stood ?? '');
  expect(await slide()).toBe(1);

  // A clicker goes on, from a button and from the scrubber, too.
  for (const id of ['embed-title', 'play', 'scrubber']) {
    await frame.getByTestId(id).click();
    await page.keyboard.press('PageDown');
    await expect.poll(slide).toBe(2);
    await page.keyboard.press('PageUp');
    await expect.poll(slide).toBe(1);
  }
  await expect(frame.getByTestId('embed-title')).toHaveText('They wait for ticks');

  // With Escape all keys are the deck's again.
  await frame.getByTestId('embed-title').click();
  await page.keyboard.press('Escape');
  await expect.poll(inFrame).toBe(false);
  await page.keyboard.press('ArrowRight');
  await expect.poll(slide).toBe(2);
});

/** Builds the course into `scratch`/course. */
function builtCourse(): void {
  const root = join(__dirname, '../..');
  execFileSync(join(root, 'setup.sh'), ['docs'], { timeout: 300_000 });
  const source = join(scratch, 'course-source');
  for (const [name, text] of Object.entries(course)) {
    mkdirSync(dirname(join(source, name)), { recursive: true });
    // Pages are brought without a reload where the site knows its address.
    writeFileSync(join(source, name), name.endsWith('.yml') ? `site_url: ${base}course/\n${text}` : text);
  }
  cpSync(folder, join(source, 'docs/duet'), { recursive: true });
  const words = ['build', '-q', '-f', join(source, 'mkdocs.yml'), '-d', join(scratch, 'course')];
  const env = { ...process.env, NO_MKDOCS_2_WARNING: '1' };
  execFileSync(join(root, '.venv-docs/bin/mkdocs'), words, { env, timeout: 150_000 });
}

test('in a page of MkDocs it plays, also where the page is brought without a reload', async ({ page }) => {
  builtCourse();
  const start = `${base}course/`;
  const wrong = watched(page, start);
  for (const address of [`${start}week/umount/`, start]) {
    await page.goto(address);
    if (address === start) {
      await page.evaluate(() => document.documentElement.classList.add('stays'));
      await page.getByRole('link', { name: 'Why is umount slow?' }).click();
      await expect(page.locator('html')).toHaveClass(/stays/);
    }
    await expect(page.getByRole('heading', { name: 'Umount' })).toBeVisible();
    // Markdown goes on around the element.
    await expect(page.locator('em')).toHaveText('ticks');
    const frame = page.locator('kernel-duet').frameLocator('iframe');
    await expect(frame.getByTestId('source')).toContainText('recorded', { timeout: 90_000 });
    const moment = frame.getByTestId('moment');
    const first = await moment.textContent();
    await expect.poll(() => moment.textContent(), { timeout: 90_000 }).not.toBe(first);
  }
  expect(wrong).toEqual([]);
});

test('what people type for its lesson and a step leads there, also in a file', async ({ page }) => {
  for (const start of [base, pathToFileURL(`${folder}/`).href]) {
    for (const typed of ['lesson=2&step=4', 'lesson=grace&step=tick', 'step=4']) {
      await page.goto('about:blank');
      await page.goto(`${start}index.html?${typed}`);
      await expect(page.getByRole('heading', { name: 'They wait for ticks' }), typed).toBeVisible({ timeout: 90_000 });
      await expect(page, typed).toHaveURL(/[?&]step=ticks/);
      if (typed.startsWith('lesson')) await expect(page, typed).toHaveURL(/[?]lesson=02-grace-periods/);
      await expect(page.getByTestId('source'), typed).toContainText('recorded');
    }
  }
});

test('what takes a server is said in a sentence', async ({ page }) => {
  await page.goto(`${base}?step=ticks`);
  await expect(page.getByTestId('run')).toBeDisabled({ timeout: 90_000 });
  await expect(page.getByTestId('blocked')).toContainText('no server that could run kernels');
  await page.goto(`${base}?lesson=01-shrinker-bitmaps`);
  await expect(page.getByRole('alert').first()).toContainText('contains only the lesson 02-grace-periods');
});

test('readers without scripts get a picture and words', async ({ browser }) => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(base);
  await expect(page.getByRole('heading', { level: 1 })).toContainText('umount');
  const image = page.getByRole('img');
  await expect(image).toBeVisible();
  expect(statSync(join(folder, 'picture.webp')).size).toBeGreaterThan(20_000);
  await context.close();
});

test('it speaks the languages that its lesson has, also as a file', async ({ page }) => {
  for (const start of [base, pathToFileURL(`${folder}/`).href]) {
    const wrong = watched(page, start);
    await page.goto(`${start}index.html?step=ticks&lang=de`);
    await expect(page.getByRole('heading', { name: 'Sie warten auf Ticks' })).toBeVisible({ timeout: 90_000 });
    await expect(page.getByTestId('step-next')).toHaveText('weiter');
    await expect(page.getByTestId('language').locator('option')).toHaveText(['English', 'Deutsch', '简体中文']);
    expect(wrong).toEqual([]);
  }
});

const largest = '02-grace-periods';
let wholeLesson = '';

/** The site of a complete lesson, which is exported once. */
function wholeSite(): string {
  if (wholeLesson === '') {
    wholeLesson = join(scratch, `whole-${largest}`);
    exported(largest, wholeLesson);
  }
  return wholeLesson;
}

interface Sent {
  readonly name: string;
  readonly bytes: number;
  /** Time of the request, ms since 1970. */
  readonly at: number;
}

/** A static host that compresses texts with gzip. */
async function compressingHost(out: string): Promise<{ address: string; sent: Sent[]; close(): void }> {
  const sent: Sent[] = [];
  const host = createServer((request, answer) => {
    const at = Date.now();
    const name = new URL(request.url ?? '/', 'http://x').pathname.slice(1) || 'index.html';
    const file = join(out, name);
    if (!existsSync(file)) {
      answer.writeHead(404).end();
      return;
    }
    const texts = ['.html', '.js', '.css', '.svg'].includes(extname(file));
    const body = texts ? gzipSync(readFileSync(file), { level: 6 }) : readFileSync(file);
    sent.push({ name, bytes: body.byteLength, at });
    answer.writeHead(200, {
      'content-type': types[extname(file)] ?? 'application/octet-stream',
      ...(texts ? { 'content-encoding': 'gzip' } : {}),
    });
    answer.end(body);
  });
  await new Promise<void>((done) => host.listen(0, '127.0.0.1', done));
  return {
    address: `http://127.0.0.1:${(host.address() as AddressInfo).port}/`,
    sent,
    close: () => {
      host.close();
      host.closeAllConnections();
    },
  };
}

/** The time at which lanes were first drawn, ms since 1970. */
async function firstPicture(page: Page): Promise<number> {
  const mark = await page.waitForFunction(() => performance.getEntriesByName('duet:first-picture')[0]?.startTime);
  return (await page.evaluate('performance.timeOrigin') as number) + Number(await mark.jsonValue());
}

test('the first picture takes at most 350 kB, fonts come later, and the other code after that', async ({ page }) => {
  test.setTimeout(600_000);
  const host = await compressingHost(wholeSite());
  const wrong = watched(page, host.address);
  await page.goto(host.address);
  const drawn = await firstPicture(page);
  const before = host.sent.filter(({ at }) => at <= drawn);
  const list = before.map(({ name, bytes }) => `${bytes} ${name}`).join('\n');
  const total = before.reduce((sum, { bytes }) => sum + bytes, 0);
  console.log(`${list}\n${total} bytes before the first picture`);
  expect(total, list).toBeLessThanOrEqual(350_000);
  expect(before.map(({ name }) => extname(name)), list).not.toContain('.woff2');
  await expect.poll(() => host.sent.filter(({ name }) => name.endsWith('.woff2')).length).toBeGreaterThanOrEqual(3);
  await expect.poll(() => host.sent.some(({ name }) => name.startsWith('deck-page-'))).toBe(true);
  expect(await page.evaluate('document.fonts.check("16px \'Inter Variable\'")')).toBe(true);
  // The text appeared at once without its signs, and then as Markdown.
  await expect(page.locator('.story code, .story em, .story a').first()).toBeVisible();
  expect(wrong).toEqual([]);
  host.close();
});

test('after the first visit it works without a network, also steps and parts that were not opened', async ({ page, context }) => {
  test.setTimeout(600_000);
  const host = await compressingHost(wholeSite());
  await page.goto(host.address);
  await page.evaluate(async () => {
    await navigator.serviceWorker.ready;
  });
  host.close();
  await context.setOffline(true);
  for (const place of ['', 'index.html?step=ticks']) {
    await page.goto(`${host.address}${place}`);
    await expect(page.getByTestId('source')).toContainText('recorded', { timeout: 90_000 });
    await firstPicture(page);
  }
  await expect.poll(() => page.evaluate('document.fonts.check("16px \'Inter Variable\'")')).toBe(true);
  await page.keyboard.press('PageDown');
  await expect(page.getByTestId('source')).toContainText('recorded');
  await page.keyboard.press('p');
  await expect(page).toHaveURL(/[?&]present/);
  await expect(page.getByTestId('deck-next')).toBeVisible();
  await context.setOffline(false);
});

test('another export has another store, and removes that of the first', async ({ page }) => {
  test.setTimeout(600_000);
  const out = join(scratch, 'twice');
  exported('02-grace-periods/3-hogs', out);
  const host = await compressingHost(out);
  const stores = () => page.evaluate(() => caches.keys());
  await page.goto(host.address);
  await page.evaluate(async () => {
    await navigator.serviceWorker.ready;
  });
  const first = await stores();
  expect(first).toHaveLength(1);
  exported('02-grace-periods/1-hog', out);
  await page.goto(host.address);
  await expect(page.getByTestId('source')).toContainText('recorded', { timeout: 90_000 });
  await expect.poll(async () => (await stores()).length).toBe(2);
  // The new worker starts some time after the last page of the old one was closed.
  await expect(async () => {
    await page.goto('about:blank');
    await page.waitForTimeout(1000);
    await page.goto(host.address);
    expect((await stores()).filter((name) => first.includes(name))).toEqual([]);
  }).toPass();
  host.close();
});

test('the folder is under 3 MB with its recording', () => {
  expect(readdirSync(folder)).toContain('3-hogs.duet');
  expect(bytesOf(folder)).toBeLessThan(3_000_000);
});

for (const slug of readdirSync(join(__dirname, '../../lessons')).filter((name) => /^\d\d-/.test(name)))
  test(`${slug} is under 3 MB with all of its recordings, and cells of a grid under 2 MB`, nightlyUnless(slug === largest), () => {
    test.setTimeout(600_000);
    const out = slug === largest ? wholeSite() : join(scratch, slug);
    if (slug !== largest) exported(slug, out);
    const recorded = join(__dirname, '../../lessons', slug, 'recorded');
    const bundles = (of: string) =>
      existsSync(of) ? readdirSync(of).filter((name) => name.endsWith('.duet')).map((name) => name.replace('.duet', '')) : [];
    const cells = bundles(join(recorded, 'grid'));
    const site = JSON.parse(readFileSync(join(out, 'site.js'), 'utf8').replace('globalThis.duetSite = ', '').replace(/;\n$/, '')) as {
      parts: Record<string, string>;
    };
    const runs = Object.keys(site.parts).filter((part) => part.startsWith('recorded:'));
    expect(runs.toSorted()).toEqual([...bundles(recorded), ...cells].map((name) => `recorded:${slug}:${name}`).toSorted());
    expect(readdirSync(out)).toContain('picture.webp');
    const cellBytes = cells.reduce((sum, name) => sum + statSync(join(out, site.parts[`recorded:${slug}:${name}`] ?? '')).size, 0);
    expect(cellBytes).toBeLessThan(2_000_000);
    expect(bytesOf(out) - cellBytes).toBeLessThan(3_000_000);
  });
