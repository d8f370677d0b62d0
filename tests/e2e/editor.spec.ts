// SPDX-License-Identifier: GPL-2.0-or-later
/** The editor of a patch, on a source of the test's own: views, themes, links, keys, and the lanes with it. */

import AxeBuilder from '@axe-core/playwright';
import { expect, type Page, test } from '@playwright/test';

const place = '/?lesson=01-shrinker-bitmaps&step=what-is-set';
const body = Array.from({ length: 60 }, (_, i) => `\tpr_debug("line %d", ${i});`).join('\n');
const text = `/* Reclaim. */\n#include <linux/mm.h>\n\nstatic int walk(int n)\n{\n${body}\n\treturn n;\n}\n`;
const source = {
  arm: 'after',
  off: '',
  files: [
    { name: 'mm/vmscan.c', text, regions: [{ title: 'walk()', first: 4, last: 67 }] },
    { name: 'include/linux/shrinker.h', text: 'int n;\n', regions: [] },
  ],
};

async function opened(page: Page, address = place): Promise<void> {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.route('**/arms/*/source', (route) => route.fulfill({ json: source }));
  await page.goto(address);
  await expect(page.getByTestId('picture')).toBeVisible({ timeout: 90_000 });
}

async function judged(page: Page, where: string): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).setLegacyMode().analyze();
  const grave = violations.filter((v) => ['serious', 'critical'].includes(v.impact ?? ''));
  const found = grave.map((v) => `${v.id}: ${v.nodes.map((n) => n.target.join(' ')).join('; ')}`);
  expect(found, where).toEqual([]);
}

test('it opens beside the lanes, in both themes and three views', async ({ page }) => {
  test.setTimeout(600_000);
  await opened(page);
  await page.getByTestId('change-patch').focus();
  await page.keyboard.press('Enter');
  const code = page.getByTestId('change-code');
  await expect(code).toContainText('static int walk', { timeout: 90_000 });
  await expect(page.getByTestId('picture')).toBeVisible();
  await page.getByRole('button', { name: 'walk()' }).click();
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');
  await page.keyboard.type('/* p and t are letters here. */');
  await expect(page.getByTestId('change-tally')).toHaveText('+1 −0');
  for (const view of ['edit', 'merge', 'diff']) {
    await page.getByTestId(`view-${view}`).click();
    for (const scheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
      await expect(page.locator('html')).toHaveAttribute('data-theme', scheme);
      await judged(page, `${view}, ${scheme}`);
    }
  }
  await expect(page.getByTestId('change-diff')).toContainText('@@ -2,6 +2,7 @@');
  await page.getByTestId('view-edit').click();
  await page.locator('.cm-content').focus();
  await page.keyboard.press('Control+z');
  await page.keyboard.press('Control+z');
  await expect(page.getByTestId('change-tally')).toHaveText('same text as the arm');
  await page.keyboard.press('Escape');
  await expect(page.getByTestId('change-pane')).toHaveCount(0);
  await expect(page.getByTestId('change-patch')).toBeFocused();
});

test('a link brings a change to whoever opens it, and runs nothing', async ({ page, context }) => {
  test.setTimeout(600_000);
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await opened(page);
  await page.getByTestId('change-patch').click();
  await expect(page.getByTestId('change-code')).toBeVisible({ timeout: 90_000 });
  await page.getByRole('button', { name: 'walk()' }).click();
  await page.keyboard.type('int from_a_link;\n');
  await page.getByTestId('copy-change').click();
  await expect(page.getByTestId('copy-change')).toHaveText('copied');
  const link = await page.evaluate(() => navigator.clipboard.readText());
  expect(link).toContain('step=what-is-set#change=');
  await page.getByTestId('reset-change').click();
  await expect(page.getByTestId('change-tally')).toHaveText('same text as the arm');

  const other = await context.newPage();
  const sent: string[] = [];
  other.on('websocket', (socket) =>
    socket.on('framesent', ({ payload }) => sent.push(payload.toString('latin1'))),
  );
  await opened(other, link);
  await expect(other.getByTestId('change-code')).toContainText('int from_a_link;', {
    timeout: 90_000,
  });
  await expect(other.getByTestId('change-note')).toContainText('Nothing runs until you start a run.');
  expect(sent.filter((frame) => frame.includes('diff') || frame.includes('start'))).toEqual([]);
  // Without the part behind the #, as a reload after another step has it, nothing of it is left.
  await opened(other);
  await other.getByTestId('change-patch').click();
  await expect(other.getByTestId('change-tally')).toHaveText('same text as the arm', {
    timeout: 90_000,
  });
});

test('it stands beside the lanes of every step, and cuts off no count of theirs', async ({
  page,
}) => {
  test.setTimeout(600_000);
  await page.setViewportSize({ width: 1280, height: 720 });
  // Behind the predictions of their lesson, which hide the counts and lanes that would answer them.
  const steps = { '03-inode-recycling&step=four': 1, '01-shrinker-bitmaps&step=touch': 1 };
  for (const [step, lanes] of Object.entries(steps)) {
    await opened(page, `/?lesson=${step}`);
    await page.getByTestId('change').click();
    await expect(page.getByTestId('change-code')).toBeVisible({ timeout: 90_000 });
    const right = async (what: string) =>
      page.locator(what).evaluateAll((all) => all.map((one) => one.getBoundingClientRect().right));
    await expect(page.locator('.lane-count'), step).toHaveCount(lanes, { timeout: 90_000 });
    const counts = await right('.lane-count');
    const [edge] = await right('.stage');
    for (const count of counts) expect(count, step).toBeLessThanOrEqual(edge ?? 0);
    const pane = await page.getByTestId('change-pane').boundingBox();
    expect(pane?.x, step).toBeGreaterThanOrEqual((edge ?? 0) - 1);
  }
});

test('on a small screen it has the page, and a file is taken', async ({ page }) => {
  test.setTimeout(600_000);
  await page.setViewportSize({ width: 390, height: 844 });
  await opened(page);
  await page.getByTestId('change-patch').click();
  await expect(page.getByTestId('change-code')).toBeVisible({ timeout: 90_000 });
  await expect(page.getByTestId('picture')).toBeHidden();
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  expect(wide).toBeLessThanOrEqual(390);
  const file = { name: 'x.txt', mimeType: 'text/plain', buffer: Buffer.from('words') };
  await page.getByTestId('patch-file').setInputFiles(file);
  await expect(page.getByTestId('share-said')).toHaveText('x.txt is not a patch.');
  const diff = '--- a/fs/no.c\n+++ b/fs/no.c\n@@ -1 +1 @@\n-int a;\n+int b;\n';
  await page.getByTestId('patch-file').setInputFiles({ ...file, buffer: Buffer.from(diff) });
  await expect(page.getByTestId('change-diff')).toContainText('diff --git a/fs/no.c b/fs/no.c');
  await expect(page.getByTestId('change-note').last()).toContainText('fs/no.c');
  await judged(page, 'a diff that does not fit');
});
