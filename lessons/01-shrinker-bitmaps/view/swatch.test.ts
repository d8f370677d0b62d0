// SPDX-License-Identifier: GPL-2.0-or-later
/** The legend has a swatch for each tone of a cell, and shows it as the wall does. */

import { darkTheme, lightTheme } from '@page/base/theme.ts';
import { contrast } from '@test/figures/contrast.ts';
import { recordedLessons } from '@test/fixtures/recordings.ts';
import { expect, test } from 'vitest';
import { cellsOf, view } from './index.tsx';
import { faces, glowLevels, Sprites, Tone, toneStep } from './paint.ts';

const vain = faces.indexOf('visit_vain');

test.each([lightTheme, darkTheme])(
  'the newest visits and those of an earlier pass, $name',
  (theme) => {
    const wall = (tone: number, wide: number) =>
      new Sprites(wide, 16, theme, new Set()).of(vain + toneStep * tone);
    const { wide, cells } = cellsOf('visit_new', 16, theme);
    expect(cells).toEqual([wall(Tone.glow, wide), wall(Tone.glow + glowLevels - 1, wide)]);
    expect(cellsOf('visit_before', 16, theme).cells).toEqual([wall(Tone.earlier, 16)]);
    expect(cellsOf('visit_vain', 16, theme).cells).toEqual([wall(Tone.now, 16)]);
    expect(cells[1]).not.toEqual(wall(Tone.now, wide));
  },
);

test('every step says what darker means; what paler means, where a call makes several passes', () => {
  const { lesson } = recordedLessons('01-shrinker-bitmaps')[0]!;
  const names = lesson.scenes.map((scene) => {
    const kinds = view.legend!(lesson, scene, null).map(({ name }) => name);
    return [scene.id, kinds.includes('visit_new'), kinds.includes('visit_before')];
  });
  expect(names.every(([, darker]) => darker)).toBe(true);
  expect(names.flatMap(([id, , paler]) => (paler ? [id] : []))).toEqual([
    'first-call',
    'touch',
    'no-bit-to-lose',
    'today',
  ]);
});

test('each step with the list walk says what a visit is that found something', () => {
  const { lesson } = recordedLessons('01-shrinker-bitmaps')[0]!;
  const without = lesson.scenes.filter(
    (scene) =>
      scene.arms.includes('before') &&
      !view.legend!(lesson, scene, null).some(({ name }) => name === 'visit_busy'),
  );
  expect(without.map(({ id }) => id)).toEqual([]);
});

/** #rrggbb of a pixel of ImageData. */
const hexOf = (pixel: number) =>
  `#${[0, 8, 16].map((by) => ((pixel >> by) & 255).toString(16).padStart(2, '0')).join('')}`;

test.each([lightTheme, darkTheme])('a bit stands out from the cell it is in, $name', (theme) => {
  const faint: string[] = [];
  for (const name of ['bit', 'bit_unread'] as const) {
    const pixels = [...cellsOf(name, 16, theme).cells[0]!].map((p) =>
      p === 0 ? theme.paper : hexOf(p),
    );
    const often = new Map<string, number>();
    for (const one of pixels) often.set(one, (often.get(one) ?? 0) + 1);
    const [ground] = [...often].sort((a, b) => b[1] - a[1])[0]!;
    const best = Math.max(...[...often.keys()].map((ink) => contrast(ink, ground)));
    if (best < 3) faint.push(`${name} ${best.toFixed(2)}`);
  }
  expect(faint).toEqual([]);
});
