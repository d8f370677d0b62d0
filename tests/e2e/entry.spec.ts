// SPDX-License-Identifier: GPL-2.0-or-later
/** The beginning and the end of a lesson: terms with cards, by keys and by touch; the recap and its certificate. */

import { readFileSync } from 'node:fs';
import AxeBuilder from '@axe-core/playwright';
import { type Browser, expect, type Page, test } from '@playwright/test';

const lesson = '/?lesson=02-grace-periods';

async function sound(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).setLegacyMode().analyze();
  const grave = violations.filter((v) => ['serious', 'critical'].includes(v.impact ?? ''));
  expect(grave.map((v) => `${v.id}: ${v.nodes[0]?.target.join(' ')}`)).toEqual([]);
}

test('a term is explained by its card: by keys, and never over the word', async ({ page }) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.goto(lesson);
  const entry = page.getByTestId('entry');
  await expect(entry.getByRole('img')).toHaveCount(0);
  await entry.getByRole('button', { name: 'SRCU' }).press('Enter');
  await expect(entry.getByRole('img')).toHaveCount(1);
  await entry.getByRole('button', { name: 'RCU', exact: true }).click();
  await expect(entry.locator('.entry-card')).toContainText('RCU Read-copy-update.');
  await page.getByTestId('entry-mail').getByRole('link').focus();
  await page.keyboard.press('Tab');
  const word = page.locator('.prose .term').first();
  await expect(word).toBeFocused();
  const card = page.getByTestId('term-card');
  await expect(card).toBeVisible();
  await expect(word).toHaveAccessibleDescription(/\w+/);
  const [at, of] = [await card.boundingBox(), await word.boundingBox()];
  expect(at!.y >= of!.y + of!.height || at!.y + at!.height <= of!.y).toBe(true);
  await sound(page);
  await page.keyboard.press('Escape');
  await expect(card).toHaveCount(0);
  await expect(word).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(card).toBeVisible();
  await page.keyboard.press('Tab');
  await expect(page.getByTestId('term-card')).not.toContainText((await word.textContent()) ?? '');
});

async function onPhone(browser: Browser, look: (page: Page) => Promise<void>): Promise<void> {
  const viewport = { width: 390, height: 844 };
  const context = await browser.newContext({ viewport, hasTouch: true, reducedMotion: 'reduce' });
  try {
    await look(await context.newPage());
  } finally {
    await context.close();
  }
}

test('on a phone the picture comes before the text, as in the document', async ({ browser }) => {
  await onPhone(browser, async (page) => {
    await page.goto(`${lesson}&step=ticks`);
    const [title, lanes, transport, text] = await Promise.all(
      [
        page.getByRole('heading', { name: 'They wait for ticks' }),
        page.locator('.lanes'),
        page.locator('.transport'),
        page.locator('.prose').first(),
      ].map(async (place) => (await place.boundingBox())!),
    );
    expect(title!.y).toBeLessThan(lanes!.y);
    expect(lanes!.y).toBeLessThan(400);
    expect(lanes!.y + lanes!.height).toBeLessThanOrEqual(transport!.y);
    expect(transport!.y + transport!.height).toBeLessThanOrEqual(text!.y);
  });
});

test('on a phone a tap opens the card, and a tap elsewhere closes it', async ({ browser }) => {
  await onPhone(browser, async (page) => {
    await page.goto(lesson);
    const word = page.locator('.prose .term').first();
    await word.tap();
    const card = page.getByTestId('term-card');
    await expect(card).toBeVisible();
    const box = (await card.boundingBox())!;
    expect(box.x).toBeGreaterThanOrEqual(0);
    expect(box.x + box.width).toBeLessThanOrEqual(390);
    await page.getByTestId('step-count').tap();
    await expect(card).toHaveCount(0);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(
      390,
    );
  });
});

test('the recap judges answers, saves them in the browser, and gives a certificate', async ({
  page,
}) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.goto(`${lesson}&step=today`);
  await page.getByTestId('step-next').click();
  const recap = page.getByTestId('recap');
  await expect(recap).toBeVisible();
  await recap.getByTestId('mine').fill('They wait for ticks.');
  await recap.getByRole('button', { name: 'compare with ours' }).click();
  await expect(recap.getByTestId('ours').getByRole('listitem')).toHaveCount(3);
  const [choice, number] = [
    recap.getByTestId('quiz-question').nth(0),
    recap.getByTestId('quiz-question').nth(1),
  ];
  await choice.getByRole('button', { name: 'ticks', exact: true }).click();
  await expect(choice.getByRole('status')).toContainText('Right.');
  await number.getByRole('textbox').fill('5');
  await number.getByRole('button', { name: 'answer' }).click();
  await expect(number.getByRole('status')).toContainText('No: 4 ms.');
  await sound(page);
  const coming = page.waitForEvent('download');
  await recap.getByRole('button', { name: 'as JSON' }).click();
  const tree = JSON.parse(readFileSync(await (await coming).path(), 'utf8'));
  expect(tree.note).toContain('the certificate proves nothing');
  expect(tree.lessons[0]).toMatchObject({ lesson: '02-grace-periods', questions: { right: 1, of: 5 } });
  const picture = page.waitForEvent('download');
  await recap.getByRole('button', { name: 'as a picture' }).click();
  expect(readFileSync(await (await picture).path(), 'utf8')).toContain(
    '<title>Kernel Duet, certificate',
  );
  await page.reload();
  await page.getByTestId('open-recap').click();
  await expect(recap.getByTestId('mine')).toHaveValue('They wait for ticks.');
  await expect(recap.getByTestId('quiz-score')).toContainText('1 of 2');
  await expect(recap.getByTestId('next-lesson').getByRole('link')).toHaveAttribute(
    'href',
    /lesson=03-/,
  );
});

test('without scripts terms and recap are text', async ({ browser, baseURL }) => {
  const context = await browser.newContext({
    javaScriptEnabled: false,
    ...(baseURL ? { baseURL } : {}),
  });
  const page = await context.newPage();
  await page.goto(lesson, { waitUntil: 'commit' });
  // Playwright's words do not look into <noscript>.
  expect(await page.locator('dl').innerText()).toContain('grace period');
  await expect(page.locator('ol > li')).toHaveCount(5);
  await context.close();
});

test('what people type for a lesson and a step leads there, and the address says it in full', async ({
  page,
}) => {
  const ticks = /\?lesson=02-grace-periods&step=ticks/;
  const answers: string[] = [];
  page.on('websocket', (socket) =>
    socket.on('framesent', ({ payload }) => {
      const text = payload.toString('latin1');
      if (text.includes('open')) answers.push(text);
    }),
  );
  for (const [typed, address] of [
    ['/?lesson=02&step=4', ticks],
    ['/?lesson=Lesson%202&step=step%204', ticks],
    ['/?lesson=grace&step=tick', ticks],
    ['/?lesson=02-grace-periods&step=4', ticks],
    ['/lesson/02/4', ticks],
    ['/2', /\?lesson=02-grace-periods$/],
    ['/?lesson=02-gr&step=4&embed=1', ticks],
  ] as const) {
    answers.length = 0;
    await page.goto('about:blank');
    await page.goto(typed);
    if (address === ticks)
      await expect(page.getByRole('heading', { name: 'They wait for ticks' }), typed).toBeVisible();
    await expect(page, typed).toHaveURL(address);
    await expect(page.getByTestId('source'), typed).toContainText('recorded');
    // The server understands the step as well, so no other recording was sent first.
    expect(answers, typed).toHaveLength(1);
    await expect(page.getByTestId('notices'), typed).toHaveCount(0);
  }
  // A step by its number is no other entry of the history.
  await page.goto('about:blank');
  await page.goto('/?lesson=02&step=4');
  await expect(page).toHaveURL(ticks);
  await page.goBack();
  await expect(page).toHaveURL('about:blank');
});

test('a wrong address is a sentence and a way on: page, lesson, step, lab, report', async ({
  page,
}) => {
  const home = page.getByTestId('home-link');
  for (const [address, words, way] of [
    ['/nothing/02', 'There is no such page', page.getByRole('link', { name: 'All lessons' })],
    ['/?lesson=99-none', 'There is no lesson', page.getByRole('button', { name: 'all lessons' })],
    ['/?lab=none', 'There is no lab', home],
    ['/?report=none', 'Open the report in the browser', home],
  ] as const) {
    await page.goto(address);
    await expect(page.getByText(words).first(), address).toBeVisible();
    await way.click();
    await expect(page.getByTestId('front').locator('li').first(), address).toBeVisible();
  }
  await page.goto('/?lesson=02-grace-periods&step=none');
  await expect(page.getByTestId('unknown-step')).toContainText('no step “none”');
  await page.goto('/?lesson=02-grace-periods&step=ticks');
  await expect(page.getByTestId('step-count')).toContainText('Step 4');
  await expect(page.getByTestId('unknown-step')).toHaveCount(0);
});
