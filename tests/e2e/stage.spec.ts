// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * What `make stage` calls faint is faint: a letter is judged against its own cell, not against borders, smoothing or the
 * page. What it calls covered is covered, and empty is empty.
 */

import { expect, type Page, test } from '@playwright/test';
import { faults } from './stage-faults.ts';
import { knobFaults, stageFacts, watchText } from './stage.ts';

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

/** A stage of 600 by 400 px with a picture that is drawn down to `drawn` px, and what else stands on the page. */
async function stageWith(page: Page, more: string, drawn = 400): Promise<string[]> {
  await page.addInitScript(watchText);
  await page.goto('about:blank');
  await page.setContent(`<style>:root{--paper:${paper}} body{background:${paper};margin:0}
      .lanes, .picture{width:600px;height:400px} .bar{position:fixed;left:0;width:600px;height:60px;top:370px}</style>
    <div class="lanes"><div class="picture"><canvas width="600" height="400"></canvas></div></div>${more}`);
  await page.evaluate((down) => {
    const pen = document.querySelector('canvas')!.getContext('2d')!;
    pen.fillRect(0, 0, 600, down);
  }, drawn);
  return faults(await page.evaluate(stageFacts, '.lanes'));
}

test('what lies over the picture is a fault, what stands below it is none', async ({ page }) => {
  expect(await stageWith(page, '')).toEqual([]);
  for (const name of ['transport', 'desk-panel', 'sentence', 'steps', 'top']) {
    expect(await stageWith(page, `<div class="${name} bar"></div>`), name).toEqual([expect.stringContaining('covers the picture: 30 px')]);
    expect(await stageWith(page, `<div class="${name} bar" style="top:400px"></div>`), name).toEqual([]);
  }
});

test('a third that is empty is a fault', async ({ page }) => {
  expect(await stageWith(page, '', 280)).toEqual([]);
  expect(await stageWith(page, '', 260)).toEqual(['35 % of the height is empty']);
});

test('knobs that stand on each other, are cut, or leave no picture are faults', async ({ page }) => {
  const knobs = async (inside: string, picture = 300) => {
    await page.setContent(`<style>body{margin:0} .desk-panel{width:300px} input{width:60px}</style>
      <div class="desk-panel">${inside}</div><div class="lanes" style="height:${picture}px"><div class="lanes-canvas" style="height:100%"></div></div>`);
    return page.evaluate(knobFaults);
  };
  expect(await knobs('<label>files <input value="32"></label>')).toEqual([]);
  expect(await knobs('<p style="margin:0">files</p><input value="32" style="position:absolute;top:0;left:0">')).toEqual([expect.stringContaining('on “files”')]);
  expect(await knobs('<button style="margin-left:280px;width:60px">of 600 bytes</button>')).toContainEqual(expect.stringContaining('beside the knobs'));
  expect(await knobs('<input value="1234567890123456">')).toEqual(['cut in a field: 1234567890123456']);
  expect(await knobs('<input value="32">', 150)).toEqual(['the picture has 150 px beside the knobs']);
});
