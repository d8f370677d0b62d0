// SPDX-License-Identifier: GPL-2.0-or-later
/** What slides are made of: an excerpt of a patch, words to say, hands, and the size of it all. */

import { describe, expect, it } from 'vitest';
import { parsePatch } from '../../panels/patch.ts';
import { excerptOf, messageOf } from './excerpt.ts';
import { columnsToFill, scaleToFill } from './fit.tsx';
import { clockWords, paperSay, sayOf, stopTitle } from './say.ts';
import type { Stop } from './slides.ts';
import { withHand } from './use-hands.ts';
import { deckScale, sheetStyle } from './use-scale.ts';

const body = (name: string, n: number) =>
  [
    `@@ -1,1 +1,${n + 1} @@ int ${name}(void)`,
    ' {',
    ...Array.from({ length: n }, (_, i) => `+\t${name}_${i}();`),
  ].join('\n');
const files = parsePatch(
  ['+++ b/mm/a.c', body('one', 5), body('two', 12), body('three', 3)].join('\n'),
);

describe('an excerpt of a patch', () => {
  it('is all of it where there is room', () => {
    const { hunks, left } = excerptOf(files, () => false, 99);
    expect(hunks.map((hunk) => [hunk.where, hunk.lines.length, hunk.cut])).toEqual([
      ['one()', 6, false],
      ['two()', 13, false],
      ['three()', 4, false],
    ]);
    expect(left).toBe(0);
  });

  it('begins with what matters, in the order of the patch, and counts what is left out', () => {
    const { hunks, left } = excerptOf(files, (line) => line.text.includes('three_1'), 16);
    expect(hunks.map((hunk) => [hunk.where, hunk.lines.length, hunk.cut])).toEqual([
      ['two()', 8, true],
      ['three()', 4, false],
    ]);
    expect(left).toBe(20 - 3 - 7);
  });

  it('cuts a long hunk around the line that matters', () => {
    const { hunks } = excerptOf(files, (line) => line.text.includes('two_9'), 8);
    expect(hunks).toHaveLength(1);
    expect(hunks[0]?.lines.map((line) => line.text)).toContain('\ttwo_9();');
    const far = excerptOf(files, (line) => /two_(1|11)\b/.test(line.text), 8);
    expect(far.hunks[0]?.lines.map((line) => line.text)).toContain('\ttwo_11();');
  });
});

it('a message of a patch is its prose', () => {
  const body = 'It was\nslow.\n\n  a table\n\nBased-on: x\n\nNow it is not.';
  expect(messageOf(body)).toEqual(['It was slow.', 'Now it is not.']);
  expect(messageOf(`${'a'.repeat(800)}\n\n${'b'.repeat(800)}`)).toHaveLength(1);
  expect(messageOf('')).toEqual([]);
});

describe('what is said', () => {
  const content = { one: 'First.\n\n---\n\nThen.' };
  const scene = { id: 'one', predict: 'guess', title: 'One' };
  const stop = (kind: Stop['slide']['kind'], revealed: boolean) =>
    ({ slide: { kind, parts: [] }, revealed }) as unknown as Stop;

  it('keeps the answer back until it is on the wall', () => {
    expect(sayOf(content, scene, stop('ask', false))).toBe('First.');
    expect(sayOf(content, scene, stop('ask', true))).toBe('Then.');
    expect(sayOf(content, scene, stop('picture', true))).toBe('First.\n\nThen.');
    expect(sayOf({}, scene, stop('picture', true))).toBe('');
  });

  it('stands on paper once', () => {
    const at = (kind: Stop['slide']['kind'], press: number) =>
      paperSay(content, scene, { ...stop(kind, kind !== 'ask'), press });
    expect([at('ask', 1), at('picture', 3), at('evidence', 4)]).toEqual(['First.', 'Then.', '']);
    expect(at('picture', 1)).toBe('First.\n\nThen.');
  });

  it('names a stop', () => {
    expect(stopTitle(scene, stop('ask', false))).toBe('One: the question');
    expect(stopTitle(scene, stop('ask', true))).toBe('One: the answer');
    expect(stopTitle(scene, stop('evidence', true))).toBe('One: the evidence');
  });

  it('tells the time', () => {
    expect([0, 61_000, 3_723_000, -5].map(clockWords)).toEqual(['0:00', '1:01', '1:02:03', '0:00']);
  });
});

it('hands are counted, and never fewer than none', () => {
  expect(withHand([], 2, 1)).toEqual([0, 0, 1]);
  expect(withHand([1, 0, 1], 1, -1)).toEqual([1, 0, 1]);
});

describe('the size of a slide', () => {
  it('makes 13 px of the page 20 px at 1920x1080, and fills any window', () => {
    expect(13 * deckScale(1920, 1080)).toBeGreaterThanOrEqual(20);
    for (const [w, h] of [
      [1920, 1080],
      [1280, 720],
      [390, 844],
    ] as const) {
      const { width, height } = sheetStyle(w, h);
      expect(Number(width) * deckScale(w, h)).toBeCloseTo(w);
      expect(Number(height) * deckScale(w, h)).toBeCloseTo(h);
    }
  });

  it('shows content as large as the box holds it', () => {
    const box = { width: 1000, height: 500 };
    expect(scaleToFill(box, () => 100)).toBeCloseTo(2.2);
    expect(scaleToFill(box, () => 400)).toBeCloseTo(1.25);
    expect(scaleToFill(box, () => 5000)).toBeCloseTo(0.7);
  });

  it('has more columns only where text would be small', () => {
    const scales: Record<number, number> = { 2: 0.7, 3: 0.9, 4: 0.8 };
    expect(columnsToFill([2, 3, 4], (n) => scales[n]!)).toEqual([0.9, 3]);
    expect(columnsToFill([2, 3], (n) => n / 2)).toEqual([1, 2]);
  });
});
