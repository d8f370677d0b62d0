// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Legends against pictures: every step of the views that paint states of their own is drawn on its recording, in both
 * themes; a state that is painted has a swatch of the same colours, and no two swatches of a legend look alike.
 */

import { beforeAll, expect, test } from 'vitest';
import { darkTheme, lightTheme } from '../../src/base/theme.ts';
import type { Kind } from '../../src/protocol/lesson.ts';
import { looksWith, type Paints } from '../fixtures/looks.ts';
import { type RecordedLesson, recordedLessons } from '../fixtures/recordings.ts';
import { contrast } from './contrast.ts';
import { drawnStep as drawn } from './drawn-step.ts';

/** How each view paints a kind. Marks that are no bars have a brush of their own. */
const paints = looksWith('paints');
const shapes: ReadonlySet<string> = new Set(
  'tick tick_ended cut_short gave_up walker reuse'.split(' '),
);
const themes = [lightTheme, darkTheme];
/** Of its strongest ink to the page. */
const least = 3;
let recorded: readonly RecordedLesson[] = [];
beforeAll(() => {
  recorded = recordedLessons().filter(({ lesson }) => (lesson.view ?? '') in paints);
});

const fillsOf = ({ wide, narrow, border }: Paints) =>
  [String(wide), narrow, border].filter((one) => one !== null);

test('a state that is drawn has a swatch', () => {
  const missing: string[] = [];
  let looked = 0;
  for (const one of recorded)
    for (const scene of one.lesson.scenes)
      for (const theme of themes) {
        const { fills, legend, lesson } = drawn(one, scene, theme);
        const paint = paints[lesson.view ?? '']!;
        const known = new Set(legend.flatMap((kind) => fillsOf(paint(lesson, kind, theme))));
        for (const kind of lesson.kinds) {
          if (legend.includes(kind) || kind.layer === 'function' || shapes.has(kind.name)) continue;
          looked += 1;
          const own = [String(paint(lesson, kind, theme).wide)].filter(
            (fill) => !known.has(fill) && fill !== theme.paper,
          );
          if (own.some((fill) => fills.has(fill)))
            missing.push(`${lesson.slug} ${scene.id}: ${kind.name}`);
        }
      }
  expect([...new Set(missing)]).toEqual([]);
  expect(looked).toBeGreaterThan(50);
});

test('swatches of one legend differ, also from what else the run has', () => {
  const alike: string[] = [];
  for (const one of recorded)
    for (const scene of one.lesson.scenes) {
      const { legend, there, lesson } = drawn(one, scene, lightTheme);
      const paint = paints[lesson.view ?? '']!;
      const rest = lesson.kinds.filter((kind) => there.has(kind.name) && kind.layer !== 'function');
      const kinds = [...new Set([...legend, ...rest])].filter(
        ({ name, layer }) => !shapes.has(name) && layer !== 'function',
      );
      for (const theme of themes) {
        const seen = new Map<string, string>();
        for (const kind of kinds) {
          const { wide, border } = paint(lesson, kind, theme);
          const look = `${String(wide)} ${kind.name === 'runnable' ? 'line' : border}`;
          const other = seen.get(look);
          if (other !== undefined) alike.push(`${lesson.slug} ${scene.id}: ${other}, ${kind.name}`);
          seen.set(look, kind.name);
        }
      }
    }
  expect([...new Set(alike)]).toEqual([]);
});

test('each swatch of the lesson, or of what the step speaks of, stands out from the page in both themes', () => {
  const faint: string[] = [];
  for (const one of recorded)
    for (const scene of one.lesson.scenes)
      for (const theme of themes) {
        const { legend, lesson } = drawn(one, scene, theme);
        const paint = paints[lesson.view ?? '']!;
        const spoken = ({ lesson: own, name }: Kind) => own || scene.focus.includes(name);
        for (const kind of legend.filter((one) => spoken(one) && !shapes.has(one.name))) {
          const inks = fillsOf(paint(lesson, kind, theme)).flatMap(
            (fill) => fill.match(/#[0-9a-f]{6}/g) ?? [],
          );
          const best = Math.max(...inks.map((ink) => contrast(ink, theme.paper)));
          if (best < least) faint.push(`${lesson.slug}: ${kind.name} ${best.toFixed(2)}`);
        }
      }
  expect([...new Set(faint)]).toEqual([]);
});
