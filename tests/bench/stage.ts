// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * How every step of every lesson uses its stage, on the desk and on the wall, light and dark; at four sizes, and slides at two:
 *
 *   make stage                                          all of it, some minutes
 *   node tests/bench/stage.ts [--lesson 02] [--size 1280x720] [--slides 1920x1080] [--theme dark] [--mode desk] [--all] [--sheets FOLDER]
 *
 * A row for each look at which something is amiss; with --all every row. What the columns mean: tests/e2e/stage.ts.
 * With --sheets each look is seen, too: a picture for each lesson, mode, size and theme in that folder.
 */

import { parseArgs } from 'node:util';
import type { Page } from '@playwright/test';
import { type StageFacts, stageFacts, watchText } from '../e2e/stage.ts';
import { animated } from '../e2e/moments.ts';
import { faults } from '../e2e/stage-faults.ts';
import { nextSlide, nextStep, resized, slideStands, stands } from '../e2e/walk.ts';
import { withPage } from './page.mjs';
import { Sheets } from './sheets.ts';

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '8673' },
    lesson: { type: 'string', default: '' },
    step: { type: 'string', default: '' },
    size: { type: 'string', default: '1600x1000,1280x720,900x700,390x844' },
    slides: { type: 'string', default: '1920x1080,1280x720' },
    theme: { type: 'string', default: 'light,dark' },
    mode: { type: 'string', default: 'desk,slides' },
    all: { type: 'boolean', default: false },
    sheets: { type: 'string', default: '' },
  },
});

const percent = (share: number) => `${Math.round(share * 100)}`.padStart(4);
let [looks, amiss] = [0, 0];

function report(where: string, facts: StageFacts): void {
  looks += 1;
  const found = faults(facts);
  if (found.length > 0) amiss += 1;
  if (found.length === 0 && !values.all) return;
  const { used, emptyDown, emptyAcross, contrast } = facts;
  console.log(`${where.padEnd(52)}${percent(used)}${percent(emptyDown)}${percent(emptyAcross)}${contrast.toFixed(1).padStart(6)}  ${found.join('; ')}`);
}

await withPage(Number(values.port), ['--no-guests'], async (base: string, open: () => Promise<Page>) => {
  const list = await (await fetch(`${base}/api/lessons`)).json();
  const cards: { slug: string }[] = Array.isArray(list) ? list : list.lessons;
  const slugs = cards.map(({ slug }) => slug).filter((slug) => slug.startsWith(values.lesson));
  console.log(`${'lesson, step, mode, size, theme'.padEnd(52)}used, empty down, across (%), contrast, what is amiss`);
  const page = await open();
  const sheets = values.sheets === '' ? null : new Sheets(values.sheets);
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.addInitScript(watchText);
  /** The same look in each theme. */
  const look = async (sheet: string, name: string, size: string, selector: string): Promise<void> => {
    for (const theme of values.theme.split(',')) {
      await page.emulateMedia({ colorScheme: theme as 'light' | 'dark', reducedMotion: 'reduce' });
      await page.waitForFunction((now) => document.documentElement.dataset['theme'] === now, theme);
      await animated(page);
      report(`${sheet.slice(0, 2)} ${name} ${size} ${theme}`, await page.evaluate(stageFacts, selector));
      await sheets?.take(page, `${sheet} ${size} ${theme}`, name);
    }
  };
  for (const slug of slugs) {
    const { scenes } = (await (await fetch(`${base}/api/lessons/${slug}`)).json()) as { scenes: { id: string }[] };
    const of = slug.slice(0, 2);
    if (values.mode.includes('desk')) {
      const sizes = values.size.split(',');
      await resized(page, sizes[0]!);
      await page.goto(`${base}/?lesson=${slug}`);
      for (const [i, { id }] of scenes.entries()) {
        if (i > 0) await nextStep(page, i + 1);
        await stands(page);
        if (!id.startsWith(values.step)) continue;
        for (const size of sizes) {
          await resized(page, size);
          await look(`${of} desk`, `${id} desk`, size, '.lanes');
        }
      }
    }
    for (const size of values.slides.split(',').filter(() => values.mode.includes('slides'))) {
      await resized(page, size);
      await page.goto(`${base}/?lesson=${slug}&present=1`);
      do {
        await slideStands(page);
        const id = await page.locator('.deck-body').getAttribute('data-step');
        const count = await page.getByTestId('deck-count').textContent();
        if (id?.startsWith(values.step)) await look(`${of} slides`, `${id} slide ${count}`, size, '.deck-body');
      } while (await nextSlide(page));
    }
    if (sheets !== null) {
      const board = await open();
      for (const file of await sheets.write(board)) console.log(file);
      await board.close();
    }
  }
  console.log(`${looks} looks, ${amiss} with something amiss`);
});
