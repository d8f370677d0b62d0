// SPDX-License-Identifier: GPL-2.0-or-later
/** The page in German, in Chinese, and in a language for tests that is written from right to left. */

import { expect, type Page, test } from '@playwright/test';
import { rested } from './moments.ts';
import { offlinePort } from './playwright.config.ts';
import { stands } from './walk.ts';

/** On the server whose guests are switched off: nothing but recordings is looked at. */
test.use({ baseURL: `http://127.0.0.1:${offlinePort}` });

const step = 'lesson=02-grace-periods&step=ticks&at=330&from=320&for=30';

test.beforeEach(async ({ page }) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
});

const known = {
  de: { title: 'Sie warten auf Ticks', next: 'weiter', ask: 'Zeigen Sie auf einen Hog, der auf eine Grace Period wartet.' },
  'zh-Hans': { title: '它们在等 tick', next: '下一步', ask: '指出一个正在等待宽限期的 hog。' },
} as const;

async function speaks(page: Page, tag: keyof typeof known) {
  const { title, next, ask } = known[tag];
  await expect(page.locator('html')).toHaveAttribute('lang', tag);
  await expect(page.getByRole('heading', { name: title })).toBeVisible();
  await expect(page.getByTestId('step-next')).toHaveText(next);
  await expect(page.getByText(ask)).toBeVisible();
}

for (const tag of ['de', 'zh-Hans'] as const)
  test(`${tag}: a step, its buttons and its questions, and the choice is remembered`, async ({ page }) => {
    await page.goto(`/?${step}&open=questions`);
    await expect(page.getByRole('heading', { name: 'They wait for ticks' })).toBeVisible();
    await page.getByTestId('language').selectOption(tag);
    await speaks(page, tag);
    // The address says no language: whoever is given the link reads it in their own.
    expect(page.url()).not.toContain('lang=');
    await page.goto(`/?${step}&open=questions`);
    await speaks(page, tag);
    // A link that names one decides.
    await page.goto(`/?${step}&lang=en`);
    await expect(page.getByRole('heading', { name: 'They wait for ticks' })).toBeVisible();
  });

test.describe('a browser that prefers German', () => {
  test.use({ locale: 'de-AT' });

  test('reads German, and what a lesson does not have in it is English', async ({ page }) => {
    await page.goto('/');
    await expect(page.getByTestId('lesson-02-grace-periods')).toContainText('Warum wurde umount viermal so langsam');
    await expect(page.getByTestId('lesson-04-extent-shrinker')).toContainText('What should a shrinker do');
    await expect(page.getByTestId('lesson-04-extent-shrinker')).toContainText('sofort abspielbar');
  });
});

test('a sentence of the picture has the numbers of its language', async ({ page }) => {
  await page.goto(`/?${step}&lang=de`);
  await stands(page);
  await expect(page.getByTestId('sentence')).toContainText(/Auf SRCU befreite ein einziges Wecken vor \d+,\d ms 9 Hogs/);
  await expect(page.getByTestId('moment')).toHaveText('338,000 ms');
});

/** Texts that are cut off or stick out of the page, by what they say. */
function overflowing(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const wrong: string[] = [];
    const page = document.documentElement;
    if (page.scrollWidth > innerWidth) wrong.push(`the page is ${page.scrollWidth} px wide`);
    for (const element of document.querySelectorAll<HTMLElement>('button, a, h1, h2, h3, label, legend, th, .badge, .eyebrow, p')) {
      const { left, right, width, height } = element.getBoundingClientRect();
      if (width === 0 || height === 0 || element.closest('.hidden-text, .lab-hidden')) continue;
      const style = getComputedStyle(element);
      const says = `${element.tagName} ${element.className}: ${element.textContent?.slice(0, 60)}`;
      // What ends in an ellipsis says so, and has the whole text in its title.
      const shortened = style.textOverflow === 'ellipsis';
      const scrolls = element.closest('.lanes, .side, .entry-cards, .story-text') !== null;
      if (!shortened && element.scrollWidth > element.clientWidth + 1 && style.display !== 'inline') wrong.push(`cut off: ${says}`);
      if (!scrolls && (left < -1 || right > innerWidth + 1)) wrong.push(`outside: ${says}`);
    }
    return wrong;
  });
}

for (const tag of ['de', 'ar-XB'])
  for (const [width, height] of [[390, 844], [1440, 900]] as const)
    test(`${tag}: no text is cut off at ${width} px`, async ({ page }) => {
      await page.setViewportSize({ width, height });
      await page.goto(`/?${step}&lang=${tag}`);
      await stands(page);
      await rested(page);
      await expect(page.locator('html')).toHaveAttribute('dir', tag === 'de' ? 'ltr' : 'rtl');
      expect(await overflowing(page)).toEqual([]);
    });

const spoken = {
  de: { class: 'Sie führen: Die Klasse sieht', lab: 'Praktikum: worauf umount wartet', task: 'Drei Hogs', report: 'Bericht einer Klasse' },
  'ar-XB': { class: 'claass', lab: 'Lab: what umount waits for', task: 'Three hogs', report: 'Reepoort' },
} as const;

for (const tag of ['de', 'ar-XB'] as const)
  test(`${tag}: a class, its report and a lab; no text is cut off, wide and narrow`, async ({ page }) => {
    const words = spoken[tag];
    const fits = async (plays = false) => {
      for (const [width, height] of [[1440, 900], [390, 844]] as const) {
        await page.setViewportSize({ width, height });
        if (!plays) await rested(page);
        expect(await overflowing(page), `${width} px`).toEqual([]);
      }
    };
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto(`/?${step}&lang=${tag}`);
    await page.getByTestId('class-start').click();
    await page.getByTestId('class-begin').click();
    await expect(page.getByTestId('class-link')).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(page.getByTestId('class-words')).toContainText(words.class);
    await page.getByTestId('class-panel-button').click();
    await fits();
    await page.getByTestId('class-ending').click();
    await page.getByTestId('class-ending-sure').click();
    await expect(page.getByTestId('class-report-after')).toBeVisible();
    // Its words come with its chunk.
    const report = new URL((await page.getByTestId('class-report-after').getAttribute('href'))!, page.url());
    await page.goto(`${report.pathname}${report.search}x&lang=${tag}`);
    await expect(page.getByRole('heading', { level: 1 })).toContainText(words.report);
    await page.goto(`/?lab=02-grace-periods&lang=${tag}`);
    const panel = page.getByTestId('lab-panel');
    await expect(panel).toContainText(words.lab);
    await panel.getByTestId('lab-task-company').getByRole('button').first().click();
    await expect(panel.getByTestId('lab-task-company')).toContainText(words.task);
    // A task goes to its step, whose run plays.
    await fits(true);
  });

test('from right to left the story is on the right, and time still runs to the right', async ({ page }) => {
  await page.goto(`/?${step}&lang=ar-XB`);
  await stands(page);
  const story = (await page.getByTestId('story').boundingBox())!;
  const picture = (await page.locator('.picture').first().boundingBox())!;
  expect(story.x).toBeGreaterThan(picture.x + picture.width / 2);
  for (const selector of ['.picture', '.transport-overview', '.transport-buttons'])
    await expect(page.locator(selector).first()).toHaveCSS('direction', 'ltr');
  await expect(page.getByTestId('language').locator('option[value="ar-XB"]')).toHaveCount(1);
  await page.goto(`/?${step}&lang=en`);
  await expect(page.getByTestId('language').locator('option[value="ar-XB"]')).toHaveCount(0);
});
