// SPDX-License-Identifier: GPL-2.0-or-later
/** A served page where scripts are off: a still of the very moment of its address, in a slide's frame, too. */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, type FrameLocator, type Page, test } from '@playwright/test';

const place = 'lesson=02-grace-periods&step=ticks&at=12.5&run=9-hogs';

test.use({ javaScriptEnabled: false });

/** How wide the still is in dots of its own; 0: it did not come. */
async function dots(of: Page | FrameLocator): Promise<number> {
  const image = of.getByRole('img', { name: /^A still of a recorded run: / });
  await expect(image).toBeVisible();
  return image.evaluate((found) => (found as HTMLImageElement).naturalWidth);
}

test('a link shows its moment as a still, and says that it is one', async ({ page }) => {
  test.setTimeout(600_000);
  await page.goto(`/?${place}&embed=1`, { timeout: 150_000 });
  expect(await dots(page)).toBe(1920);
  const still = page.getByRole('img');
  await expect(still).toHaveAttribute('src', `./still.png?lesson=02-grace-periods&step=ticks&run=9-hogs&at=12.5`);
  await expect(still).toHaveAttribute('alt', /They wait for ticks/);
  // Playwright's words do not look into <noscript>.
  const words = page.locator('main > p');
  expect(await words.innerText()).toMatch(/^A still of a recorded run\. .*JavaScript, which is switched off here\.$/);
  await expect(words).toBeInViewport();
  // Another moment is another picture; the same one is there at once.
  const [first, other, again] = await Promise.all(
    ['12.5', '20', '12.5'].map(async (at) =>
      (await page.request.get(`/still.png?${place.replace('12.5', at)}`, { timeout: 150_000 })).body(),
    ),
  );
  expect(first!.length).toBeGreaterThan(20_000);
  expect(other!.equals(first!)).toBe(false);
  expect(again!.equals(first!)).toBe(true);
});

test('slides from elsewhere may frame it', async ({ page, baseURL }) => {
  test.setTimeout(600_000);
  const slides = createServer((_, answer) => {
    answer.writeHead(200, { 'content-type': 'text/html' });
    answer.end(`<iframe src="${baseURL}/?${place}&embed=1" width="1000" height="620"></iframe>`);
  });
  await new Promise<void>((done) => slides.listen(0, '127.0.0.1', done));
  try {
    await page.goto(`http://127.0.0.1:${(slides.address() as AddressInfo).port}/`, { timeout: 150_000 });
    expect(await dots(page.frameLocator('iframe'))).toBe(1920);
  } finally {
    slides.closeAllConnections();
    slides.close();
  }
});

test('the front page leads to a still of each lesson', async ({ page }) => {
  await page.goto('/');
  const links = page.getByRole('main').getByRole('link');
  expect(await links.count()).toBeGreaterThanOrEqual(5);
  await page.goto('/?lesson=02-grace-periods&step=%22%3E%3Cscript%3Ex', { waitUntil: 'commit' });
  await expect(page.getByRole('heading', { level: 1 })).toContainText('umount');
  expect(await page.locator('script:not([src])').count()).toBe(0);
});
