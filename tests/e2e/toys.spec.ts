// SPDX-License-Identifier: GPL-2.0-or-later
/** Toys, on the desk, on the wall and in frames: keys drag the steps of a race to its goals, over a recording's distances; nothing serious for axe. */

import AxeBuilder from '@axe-core/playwright';
import { expect, type Locator, type Page, test } from '@playwright/test';

async function openToy(page: Page, lesson: string, step: string, of = 'Distances from', shell = ''): Promise<Locator> {
  await page.goto(`/?lesson=${lesson}&step=${step}${shell}`);
  await page.getByTestId('toy-open').click();
  const toy = page.getByTestId('toy');
  await expect(toy.getByTestId('toy-source')).toContainText(`${of} the recording`);
  await expect(toy).toContainText('a rule, not a run');
  return toy;
}

/** Presses a key on a handle until the goal is reached; false: the handle came to its end. */
async function drag(toy: Locator, handle: string, key: string, goal: string): Promise<boolean> {
  const grip = toy.getByTestId(`grip-${handle}`);
  const reached = toy.getByTestId(`goal-${goal}`).and(toy.page().locator('[data-reached]'));
  for (let at = ''; (await reached.count()) === 0; ) {
    const now = await grip.getAttribute('aria-valuenow');
    if (now === at) return false;
    at = now ?? '';
    await grip.press(key);
  }
  return true;
}

async function nothingSerious(page: Page): Promise<void> {
  const axe = new AxeBuilder({ page }).setLegacyMode().include('[data-testid=toy]');
  const { violations } = await axe.analyze();
  const bad = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  expect(bad.map(({ id, nodes }) => [id, nodes[0]?.html])).toEqual([]);
}

test('01: an object is lost where care is missing, and never where it is not', async ({ page }) => {
  const toy = await openToy(page, '01-shrinker-bitmaps', 'no-bit-to-lose');
  await nothingSerious(page);
  await toy.getByTestId('grip-add').press('Home');
  expect(await drag(toy, 'add', 'ArrowRight', 'whole')).toBe(false);
  await toy.getByTestId('switch-second').uncheck();
  await toy.getByTestId('grip-add').press('Home');
  expect(await drag(toy, 'add', 'ArrowRight', 'naive')).toBe(true);
  await expect(toy.getByTestId('toy-outcome')).toContainText('Lost.');
  await toy.getByTestId('switch-second').check();
  await toy.getByTestId('switch-walkBarrier').uncheck();
  await toy.getByTestId('grip-clear').press('End');
  await toy.getByTestId('grip-add').press('Home');
  expect(await drag(toy, 'add', 'ArrowRight', 'late')).toBe(true);
  await toy.getByTestId('goal-whole').getByRole('button').click();
  await expect(toy.getByTestId('goal-whole')).toContainText(/lost in none of the \d+ possible orders/);
  await page.getByTestId('tab-run').click();
  await expect(page.getByTestId('stage')).toBeVisible();
  await expect(toy).toHaveCount(0);
});

test('01: a pointer drags on the wall; y leads to the rule and back, a clicker goes on', async ({ page }) => {
  const toy = await openToy(page, '01-shrinker-bitmaps', 'no-bit-to-lose', 'Distances from', '&present=1');
  await nothingSerious(page);
  const grip = toy.getByTestId('grip-add');
  const at = async () => Number(await grip.getAttribute('aria-valuenow'));
  const before = await at();
  const box = (await grip.boundingBox())!;
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + 200, y, { steps: 5 });
  await page.mouse.up();
  expect(await at()).toBeGreaterThan(before + 500);
  const moved = await at();
  await page.keyboard.press('ArrowRight');
  expect(await at()).toBeGreaterThan(moved);
  // What comes of it is in sight without scrolling.
  await expect(toy.getByTestId('toy-outcome')).toBeInViewport({ ratio: 0.99 });
  await expect(page).toHaveURL(/open=toy/);
  await page.getByTestId('deck-count').click();
  await page.keyboard.press('y');
  await expect(page.getByTestId('stage')).toBeVisible();
  await expect(toy).toHaveCount(0);
  await page.keyboard.press('y');
  await grip.focus();
  await page.keyboard.press('PageDown');
  await expect(page.getByTestId('slide-evidence')).toBeVisible();
  await expect(page).not.toHaveURL(/open=toy/);
});

test('02: a reader is dragged across an umount, and each goal that can be is reached', async ({ page }) => {
  const toy = await openToy(page, '02-grace-periods', 'the-reader');
  await nothingSerious(page);
  await toy.getByTestId('grip-reader').press('Home');
  expect(await drag(toy, 'reader', 'ArrowRight', 'quits')).toBe(true);
  expect(await drag(toy, 'reader', 'ArrowRight', 'innocent')).toBe(true);
  await toy.getByTestId('grip-reader').press('Home');
  expect(await drag(toy, 'end', 'ArrowRight', 'twice')).toBe(true);
  await toy.getByTestId('goal-nobody').getByRole('button').click();
  await expect(toy.getByTestId('goal-nobody')).toContainText('No: ');
});

test('03: an old reader sees the wrong file on stock, and on no other kernel', async ({ page }) => {
  const toy = await openToy(page, '03-inode-recycling', 'buys');
  await nothingSerious(page);
  expect(await drag(toy, 'end', 'ArrowRight', 'wrong')).toBe(true);
  await expect(toy.getByTestId('toy-outcome')).toContainText('the wrong file');
  expect(await drag(toy, 'create', 'ArrowRight', 'nobody')).toBe(true);
  // A long reader, from before the unlink to after it.
  await toy.getByTestId('grip-create').press('Home');
  await toy.getByTestId('grip-reader').press('Home');
  for (let i = 0; i < 6; i++) await toy.getByTestId('grip-end').press('PageUp');
  expect(await drag(toy, 'reader', 'ArrowRight', 'innocent')).toBe(true);
  await toy.getByTestId('goal-elsewhere').getByRole('button').click();
  await expect(toy.getByTestId('goal-elsewhere')).toContainText('in none of');
});

test('05: fields moved by keys come to what upstream has, and no goal is to have less', async ({ page }) => {
  const toy = await openToy(page, '05-cacheline-pingpong', 'moved', 'From');
  await nothingSerious(page);
  await expect(toy.getByTestId('bar-mine')).toContainText(
    (await toy.getByTestId('bar-stock').locator('.number').textContent())!,
  );
  const count = toy.locator('button[data-tile=d_lockref]');
  await count.focus();
  await page.keyboard.press('Space');
  for (let i = 0; i < 5; i++) await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Space');
  await expect(count).toBeFocused();
  await expect(toy.getByTestId('goal-stock')).toHaveAttribute('data-reached');
  await expect(toy.getByTestId('toy-outcome')).toContainText("As few transfers as upstream's layout");
  await toy.getByTestId('goal-beat').getByRole('button').click();
  await expect(toy.getByTestId('goal-beat')).toContainText('No. In upstream');
});

test('05: in a frame of slides a pointer drags a field to another place; a word has its card', async ({ page }) => {
  const toy = await openToy(page, '05-cacheline-pingpong', 'moved', 'From', '&embed=1');
  const count = (await toy.locator('button[data-tile=d_lockref]').boundingBox())!;
  const to = (await toy.locator('button[data-tile=d_child]').boundingBox())!;
  await page.mouse.move(count.x + count.width / 2, count.y + count.height / 2);
  await page.mouse.down();
  await page.mouse.move(to.x + to.width * 0.8, to.y + to.height / 2, { steps: 8 });
  await page.mouse.up();
  await expect(toy.getByTestId('goal-stock')).toHaveAttribute('data-reached');
  await expect(toy.getByTestId('toy-outcome')).toBeInViewport({ ratio: 0.99 });
  await page.getByTestId('toy-open').click();
  await page.locator('.legend .term, .embed-sentence .term').first().focus();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Shift+Tab');
  await expect(page.getByTestId('term-card')).toBeInViewport({ ratio: 0.99 });
});

test('04: a letter makes a scan free nothing, and the list has nobody wait', async ({ page }) => {
  const toy = await openToy(page, '04-extent-shrinker', 'budget', 'From');
  await nothingSerious(page);
  await toy.locator('button[data-tile="1"]').press('d');
  await expect(toy.getByTestId('goal-empty')).toHaveAttribute('data-reached');
  await expect(toy.getByTestId('toy-outcome')).toContainText('frees nothing');
  await toy.locator('button[data-tile="0"]').press('w');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('w');
  await expect(toy.getByTestId('goal-nobody')).toHaveAttribute('data-reached');
  await toy.getByTestId('goal-never').getByRole('button').click();
  await expect(toy.getByTestId('goal-never')).toContainText('No: ');
});
