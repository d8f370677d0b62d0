// SPDX-License-Identifier: GPL-2.0-or-later
/** Every page and every view: no serious finding of axe, keys alone, reduced motion in steps. */

import AxeBuilder from '@axe-core/playwright';
import { expect, type Page, test } from '@playwright/test';

const grave = ['serious', 'critical'];

async function judged(page: Page, where: string, rules?: string[]): Promise<void> {
  // What moves is not judged half-way.
  await page.waitForTimeout(300);
  const axe = new AxeBuilder({ page });
  const { violations } = await (rules ? axe.withRules(rules) : axe).analyze();
  const found = violations
    .filter((v) => grave.includes(v.impact ?? ''))
    .map(
      (v) =>
        `${v.id}: ${v.help} (${v.nodes
          .slice(0, 3)
          .map((n) => n.target.join(' '))
          .join('; ')})`,
    );
  expect(found, where).toEqual([]);
}

interface Card {
  readonly slug: string;
  readonly scenes: readonly { readonly id: string }[];
  readonly view: string | null;
}

async function lessonsWithPicture(page: Page): Promise<Card[]> {
  const list = (await (await page.request.get('/api/lessons')).json()) as
    | Card[]
    | { lessons: Card[] };
  const slugs = (Array.isArray(list) ? list : list.lessons).map((l) => l.slug);
  const all = await Promise.all(
    slugs.map(
      async (slug) => (await (await page.request.get(`/api/lessons/${slug}`)).json()) as Card,
    ),
  );
  return all.filter((l) => l.view !== null);
}

for (const scheme of ['light', 'dark'] as const) {
  test(`front page, gallery and every step of every lesson, ${scheme}`, async ({ page }) => {
    test.setTimeout(600_000);
    // The two differ in colour alone.
    const rules = scheme === 'dark' ? ['color-contrast'] : undefined;
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
    await page.goto('/');
    await expect(page.getByTestId('front').locator('li').first()).toBeVisible();
    await judged(page, 'front page', rules);
    const lessons = await lessonsWithPicture(page);
    expect(lessons.length).toBeGreaterThanOrEqual(4);
    for (const { slug, scenes } of lessons) {
      for (const { id } of scenes) {
        await page.goto(`/?lesson=${slug}&step=${id}`);
        await expect(page.getByTestId('picture')).toBeVisible({ timeout: 20_000 });
        await judged(page, `${slug} ${id}`, rules);
      }
      await page.getByTestId('in-words').click();
      await expect(page.getByTestId('words')).toBeVisible();
      await judged(page, `${slug} in words`, rules);
    }
    await page.goto('/?gallery');
    await expect(page.getByTestId('picture')).toHaveCount(lessons.length, { timeout: 30_000 });
    await judged(page, 'gallery', rules);
  });
}

test('every picture is walked with keys alone, and its marks open', async ({ page }) => {
  test.setTimeout(180_000);
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.goto('/');
  for (const { slug, scenes } of await lessonsWithPicture(page)) {
    await page.goto(`/?lesson=${slug}&step=${scenes[1]!.id}`);
    const veil = page.getByTestId('veil').getByRole('button');
    const picture = page.getByTestId('picture');
    await expect(picture).toBeVisible({ timeout: 20_000 });
    if (await veil.count()) await veil.click();
    await expect(page.locator('html')).toHaveAttribute('data-idle', /./);
    await page.getByTestId('play').click();
    await picture.focus();
    await page.keyboard.press('ArrowRight');
    const said = picture.locator('[aria-live]');
    await expect(said, slug).not.toBeEmpty();
    const first = await said.textContent();
    let other = first;
    for (const key of ['ArrowRight', 'ArrowDown', 'ArrowUp', 'ArrowLeft']) {
      await page.keyboard.press(key);
      other = await said.textContent();
      if (other !== first) break;
    }
    expect(other, `${slug}: an arrow key goes to another mark`).not.toBe(first);
    await page.keyboard.press('Enter');
    await expect(page.getByTestId('records'), slug).toBeVisible();
    await page.keyboard.press('Escape');
  }
});

test('with reduced motion the moment stands between beats', async ({ page }) => {
  test.setTimeout(120_000);
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.goto('/');
  for (const { slug, scenes } of await lessonsWithPicture(page)) {
    await page.goto(`/?lesson=${slug}&step=${scenes[0]!.id}`);
    await expect(page.getByTestId('picture')).toBeVisible({ timeout: 20_000 });
    await page.waitForTimeout(1000);
    const moments = await page.evaluate(async () => {
      const { player } = (window as unknown as { duet: { player: { state: { moment: number } } } })
        .duet;
      const seen: number[] = [];
      for (let i = 0; i < 60; i++) {
        seen.push(player.state.moment);
        await new Promise((done) => setTimeout(done, 50));
      }
      return seen;
    });
    // Three seconds hold two or three beats, not sixty frames.
    expect(new Set(moments).size, slug).toBeLessThanOrEqual(5);
  }
});
