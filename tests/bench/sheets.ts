// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Contact sheets: the looks at a lesson in one size and theme, side by side in one picture, to be looked at by a person.
 * Below `looks` each of them as it was seen, dot by dot.
 */

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from '@playwright/test';

/** A page that scrolls is seen whole, down to here, px. */
const deepest = 2400;
const wide = 2400;
const gap = 16;

interface Look {
  readonly name: string;
  readonly image: string;
  readonly width: number;
}

/** Takes looks and groups them by sheet; `write` makes the sheets. */
export class Sheets {
  readonly #folder: string;
  readonly #looks = new Map<string, Look[]>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  async take(page: Page, sheet: string, name: string): Promise<void> {
    const { width, height } = page.viewportSize()!;
    // A text that scrolls beside its picture is of all steps: this one is what the window shows.
    const deep = await page.evaluate(() => (document.querySelector('.lesson[data-width=middle]') ? 0 : document.documentElement.scrollHeight));
    const whole = deep > height + 2;
    const clip = { x: 0, y: 0, width, height: Math.min(deepest, Math.max(height, deep)) };
    const bytes = await page.screenshot({ fullPage: whole, ...(whole ? { clip } : {}) });
    const all = this.#looks.get(sheet) ?? [];
    this.#looks.set(sheet, all);
    const folder = join(this.#folder, 'looks', fileName(sheet));
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, `${fileName(name)}.png`), bytes);
    all.push({ name, image: bytes.toString('base64'), width });
  }

  /** The files that were written. */
  async write(page: Page): Promise<string[]> {
    await mkdir(this.#folder, { recursive: true });
    const files: string[] = [];
    for (const [sheet, looks] of this.#looks) {
      const file = join(this.#folder, `${fileName(sheet)}.png`);
      const each = (wide - gap) / columns(looks[0]!.width) - gap;
      const boxes = looks.map(({ name, image }) => `<figure><figcaption>${name}</figcaption><img src="data:image/png;base64,${image}"></figure>`);
      await page.setViewportSize({ width: wide, height: 800 });
      await page.setContent(
        `<style>body{margin:0;padding:${gap}px;display:flex;flex-wrap:wrap;gap:${gap}px;background:#777;font:22px sans-serif;color:#fff}` +
          `figure{margin:0;width:${each}px}img{width:100%;display:block}</style>${boxes.join('')}`,
      );
      await page.screenshot({ path: file, fullPage: true });
      files.push(file);
    }
    this.#looks.clear();
    return files;
  }
}

function fileName(words: string): string {
  return words.replaceAll(' ', '-');
}

/** Small enough to see a lesson at once, large enough to read it. */
function columns(width: number): number {
  return width > 1000 ? 3 : width > 500 ? 4 : 7;
}
