// SPDX-License-Identifier: GPL-2.0-or-later
/** What `make stage` calls faint is faint: a letter is judged against its own cell, not against borders, smoothing or the page. */

import { expect, test } from '@playwright/test';
import { faults } from './stage-faults.ts';
import { stageFacts, watchText } from './stage.ts';

interface Cell {
  readonly letter: string;
  readonly ink: string;
  /** Null: the page. */
  readonly fill: string | null;
  readonly border?: string;
  readonly alpha?: number;
  /** Stripes over the fill. */
  readonly stripes?: string;
}

const paper = '#faf8f3';
const cases: readonly { readonly name: string; readonly cell: Cell; readonly faint: boolean }[] = [
  { name: 'dark on the page', cell: { letter: 'D', ink: '#575b62', fill: null }, faint: false },
  { name: 'the same in a frame that is as dark', cell: { letter: 'D', ink: '#575b62', fill: null, border: '#7b5ea7' }, faint: false },
  { name: 'light on dark green', cell: { letter: 'H', ink: '#faf8f3', fill: '#00825f' }, faint: false },
  { name: 'a letter of one stroke', cell: { letter: 'I', ink: '#5f6268', fill: paper }, faint: false },
  { name: 'a letter that fills its box', cell: { letter: 'M', ink: '#1b1d21', fill: '#a894c2' }, faint: false },
  { name: 'pale on the page', cell: { letter: 'D', ink: '#b8b8b8', fill: null }, faint: true },
  { name: 'pale on the page, in a dark frame', cell: { letter: 'D', ink: '#b8b8b8', fill: null, border: '#202020' }, faint: true },
  { name: 'right on the page, but not in its cell', cell: { letter: 'W', ink: '#575b62', fill: '#6d7178' }, faint: true },
  { name: 'light on light green', cell: { letter: 'M', ink: '#faf8f3', fill: '#8fd0b8' }, faint: true },
  { name: 'dark, but let through', cell: { letter: 'D', ink: '#575b62', fill: null, alpha: 0.5 }, faint: true },
  { name: 'grey with light stripes', cell: { letter: 'W', ink: '#575b62', fill: '#7d8188', stripes: '#fff' }, faint: true },
  { name: 'light on dark stripes', cell: { letter: 'm', ink: '#e9e6df', fill: '#2f343a', stripes: '#8a5935' }, faint: false },
  { name: 'a light stroke on light stripes', cell: { letter: 'i', ink: '#e9e6df', fill: '#8d8a80', stripes: '#d8b090' }, faint: true },
  { name: 'a pale letter of one stroke', cell: { letter: 'I', ink: '#a8a8a8', fill: paper }, faint: true },
  { name: 'of the colour of its cell', cell: { letter: 'W', ink: '#575b62', fill: '#575b62' }, faint: true },
];

for (const { name, cell, faint } of cases) {
  test(`contrast: ${name}`, async ({ page }) => {
    await page.addInitScript(watchText);
    await page.goto('about:blank');
    await page.setContent(`<style>:root{--paper:${paper}} body{background:${paper};margin:0} .lanes{width:440px;height:220px}</style>
      <div class="lanes"><canvas width="420" height="200"></canvas></div>`);
    await page.evaluate((c: Cell) => {
      const pen = document.querySelector('canvas')!.getContext('2d')!;
      // As many as in a picture: what one letter looks like depends on where it stands between two dots.
      for (let i = 0; i < 60; i += 1) {
        const [x, y] = [10.3 + (i % 12) * 33.4, 10.6 + Math.floor(i / 12) * 36.3];
        if (c.fill !== null) {
          pen.fillStyle = c.fill;
          pen.fillRect(x, y, 14, 13);
        }
        pen.fillStyle = c.stripes ?? '#000';
        for (let at = 1; c.stripes !== undefined && at < 14; at += 5) pen.fillRect(x + at, y, 1, 13);
        if (c.border !== undefined) {
          pen.strokeStyle = c.border;
          pen.lineWidth = 2.5;
          pen.strokeRect(x - 1, y - 1, 16, 15);
        }
        pen.globalAlpha = c.alpha ?? 1;
        pen.fillStyle = c.ink;
        pen.font = '600 13px monospace';
        pen.textAlign = 'center';
        pen.textBaseline = 'middle';
        pen.fillText(c.letter, x + 7, y + 7);
        pen.globalAlpha = 1;
      }
    }, cell);
    const said = faults(await page.evaluate(stageFacts, '.lanes')).filter((words) => words.startsWith('faint'));
    expect(said).toHaveLength(faint ? 1 : 0);
  });
}
