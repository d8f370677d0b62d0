// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * How every step of every lesson uses its stage, on the desk and on the wall, at four sizes, light and dark:
 *
 *   make stage                                          all of it, some minutes
 *   node tests/bench/stage.ts [--lesson 02] [--size 1280x720] [--theme dark] [--mode desk] [--all]
 *
 * A row for each look at which something is amiss; with --all every row. What the columns mean: tests/e2e/stage.ts.
 */

import { parseArgs } from 'node:util';
import { type StageFacts, stageFacts, watchText } from '../e2e/stage.ts';
import { withPage } from './page.mjs';

const port = 8673;
const { values } = parseArgs({
  options: {
    lesson: { type: 'string', default: '' },
    step: { type: 'string', default: '' },
    size: { type: 'string', default: '1600x1000,1280x720,900x700,390x844' },
    theme: { type: 'string', default: 'light,dark' },
    mode: { type: 'string', default: 'desk,slides' },
    all: { type: 'boolean', default: false },
  },
});
const most = { empty: 1 / 3, contrast: 4.5 };

interface Page {
  goto(url: string): Promise<unknown>;
  url(): string;
  evaluate<T>(act: ((arg: string) => T) | (() => T), arg?: string): Promise<T>;
  addInitScript(script: () => void): Promise<void>;
  emulateMedia(media: { colorScheme: string; reducedMotion: string }): Promise<void>;
  setViewportSize(size: { width: number; height: number }): Promise<void>;
  waitForSelector(selector: string, options: { timeout: number }): Promise<unknown>;
  keyboard: { press(key: string): Promise<void> };
}

const percent = (share: number) => `${Math.round(share * 100)}`.padStart(4);
let [looks, amiss] = [0, 0];

/** A deck and a page that scrolls may be longer than the window; only one that does not may hide nothing. */
function faults(facts: StageFacts): string[] {
  return [
    ...(facts.emptyDown >= most.empty ? [`${percent(facts.emptyDown).trim()} % of the height is empty`] : []),
    ...(facts.emptyAcross >= most.empty ? [`${percent(facts.emptyAcross).trim()} % of the width is empty`] : []),
    ...(facts.contrast < most.contrast ? [`faint ${facts.contrast.toFixed(1)}: “${facts.faintest}”`] : []),
    ...facts.cut.map((words) => `cut ${words}`),
    ...facts.overlaps,
    ...facts.below.map((lane) => `below the fold: ${lane}`),
  ];
}

function report(where: string, facts: StageFacts): void {
  looks += 1;
  const found = faults(facts);
  if (found.length > 0) amiss += 1;
  if (found.length === 0 && !values.all) return;
  const { used, emptyDown, emptyAcross, contrast } = facts;
  console.log(`${where.padEnd(52)}${percent(used)}${percent(emptyDown)}${percent(emptyAcross)}${contrast.toFixed(1).padStart(6)}  ${found.join('; ')}`);
}

/** The picture is there, and nothing is awaited. */
async function settled(page: Page, selector: string): Promise<void> {
  await page.waitForSelector(selector, { timeout: 60_000 });
  await page.evaluate(async () => {
    const play = document.querySelector<HTMLElement>('[data-testid=play]');
    if (/^pause$/i.test(play?.getAttribute('aria-label') ?? play?.textContent ?? '')) play?.click();
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    const deadline = performance.now() + 8000;
    while (document.documentElement.dataset['idle'] !== 'true' && performance.now() < deadline) await frame();
    for (let i = 0; i < 6; i += 1) await frame();
  });
}

await withPage(port, ['--no-guests'], async (base: string, open: () => Promise<Page>) => {
  const list = await (await fetch(`${base}/api/lessons`)).json();
  const cards: { slug: string }[] = Array.isArray(list) ? list : list.lessons;
  const slugs = cards.map(({ slug }) => slug).filter((slug) => slug.startsWith(values.lesson));
  console.log(`${'lesson, step, mode, size, theme'.padEnd(52)}used, empty down, across (%), contrast, what is amiss`);
  const page = await open();
  await page.addInitScript(watchText);
  for (const slug of slugs) {
    const { scenes } = (await (await fetch(`${base}/api/lessons/${slug}`)).json()) as { scenes: { id: string }[] };
    for (const size of values.size.split(',')) {
      const [width = 0, height = 0] = size.split('x').map(Number);
      await page.setViewportSize({ width, height });
      for (const theme of values.theme.split(',')) {
        await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
        for (const { id } of scenes.filter((scene) => scene.id.startsWith(values.step))) {
          const at = `${base}/?lesson=${slug}&step=${id}`;
          const name = `${slug.slice(0, 2)} ${id}`;
          if (values.mode.includes('desk')) {
            await page.goto(at);
            await settled(page, '[data-testid=stage]');
            await page.evaluate(() => document.querySelector<HTMLElement>('[data-testid=veil] button')?.click());
            await settled(page, '[data-testid=picture]');
            report(`${name} desk ${size} ${theme}`, await page.evaluate(stageFacts, '.lanes'));
          }
          for (let press = 1; values.mode.includes('slides') && press < 9; press += 1) {
            await page.goto(`${at}&present=1&slide=${press}`);
            await settled(page, '.deck-body[data-ready]');
            // A press beyond the step's last is its last.
            if (press > 1 && !page.url().includes(`slide=${press}`)) break;
            report(`${name} slide ${press} ${size} ${theme}`, await page.evaluate(stageFacts, '.deck-body'));
          }
        }
      }
    }
  }
  console.log(`${looks} looks, ${amiss} with something amiss`);
});
