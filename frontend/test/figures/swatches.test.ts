// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Legends of the views whose marks are cells and boxes: what can be pointed at in a step's picture has a swatch, no two
 * swatches of a legend look alike, and each is seen on the page, on a projector, too.
 */

import { beforeAll, expect, test } from 'vitest';
import { darkTheme, lightTheme } from '../../src/base/theme.ts';
import { kindsIn } from '../../src/derive/query.ts';
import { legendKinds } from '../../src/panels/legend.tsx';
import type { Lesson, Scene } from '../../src/protocol/lesson.ts';
import type { Artist, Laid } from '../../src/views/contract.ts';
import { hit } from '../../src/views/items.ts';
import { viewOf } from '../../src/views/registry.ts';
import { looksWith } from '../fixtures/looks.ts';
import { type RecordedLesson, recordedLessons, shownScene } from '../fixtures/recordings.ts';
import { contrast } from './contrast.ts';

/** How each view paints the swatch of a kind. */
const swatches = looksWith('swatch');
/** Where nothing is: the ground of the wall, and what nobody looked at. */
const ground: ReadonlySet<string> = new Set(['not_visited', 'unknown']);
/** Of the budget: painted as the boxes that it was spent on. */
const alike: Readonly<Record<string, string>> = { spent_vain: 'vain', spent_gain: 'freed' };
const themes = [lightTheme, darkTheme];
/** WCAG 2.1: of marks and of letters. */
const least = { mark: 3, letter: 4.5 };
const size = { width: 1000, height: 700, dpr: 1 };
/** Points looked at lie so far apart, px: less than any mark is wide. */
const mesh = 7;
let recorded: readonly RecordedLesson[] = [];
beforeAll(() => {
  recorded = recordedLessons().filter(({ lesson }) => (lesson.view ?? '') in swatches);
});

function legendOf(one: RecordedLesson, scene: Scene) {
  const { lesson, index } = shownScene(one, scene);
  const view = viewOf(lesson.view);
  return {
    lesson,
    legend: view.legend?.(lesson, scene, kindsIn(index)) ?? legendKinds(lesson, scene),
  };
}

/** Names of the kinds that a pointer finds in the picture of a step. */
function pointedAt(one: RecordedLesson, scene: Scene): Set<string> {
  const { lesson, index, frameAt } = shownScene(one, scene);
  const { show } = scene;
  const artist: Artist<Laid> = viewOf(lesson.view).artist(lesson, show);
  const found = new Set<string>();
  for (const share of [0.4, 1]) {
    const drawing = { index, frame: frameAt(share), size, lesson, theme: lightTheme, show };
    const laid = artist.layout(drawing, 34, 13);
    for (let y = 1; y < size.height; y += mesh)
      for (let x = 1; x < size.width; x += mesh) {
        const mark = hit(artist, laid, drawing, { x, y });
        const kind = mark === null ? undefined : lesson.kinds[mark.kind];
        if (kind?.layer === 'mark' && kind.lesson) found.add(kind.name);
      }
  }
  return found;
}

function eachStep(look: (one: RecordedLesson, scene: Lesson['scenes'][number]) => void): void {
  for (const one of recorded) for (const scene of one.lesson.scenes) look(one, scene);
}

test('what can be pointed at has a swatch', () => {
  const missing: string[] = [];
  let looked = 0;
  eachStep((one, scene) => {
    const { lesson, legend } = legendOf(one, scene);
    const names = new Set(legend.map(({ name }) => name));
    for (const name of pointedAt(one, scene)) {
      looked += 1;
      if (!names.has(alike[name] ?? name)) missing.push(`${lesson.slug} ${scene.id}: ${name}`);
    }
  });
  expect([...new Set(missing)]).toEqual([]);
  expect(looked).toBeGreaterThan(60);
});

test('no two swatches of a legend look alike, and none is empty', () => {
  const same: string[] = [];
  eachStep((one, scene) => {
    const { lesson, legend } = legendOf(one, scene);
    const swatch = swatches[lesson.view ?? '']!;
    for (const theme of themes) {
      const seen = new Map<string, string>();
      for (const { name } of legend) {
        const { look } = swatch(name, theme);
        const other = look === '' ? 'nothing' : seen.get(look);
        if (other !== undefined) same.push(`${lesson.slug} ${scene.id}: ${other}, ${name}`);
        seen.set(look, name);
      }
    }
  });
  expect([...new Set(same)]).toEqual([]);
});

test('marks of swatches are seen on the page, and their letters are read, in both themes', () => {
  const faint: string[] = [];
  eachStep((one, scene) => {
    const { lesson, legend } = legendOf(one, scene);
    const swatch = swatches[lesson.view ?? '']!;
    for (const theme of themes)
      for (const { name } of legend) {
        const { inks, letters } = swatch(name, theme);
        const best = Math.max(...inks.map((ink) => contrast(ink, theme.paper)));
        const where = `${lesson.slug} ${theme.name}: ${name}`;
        if (best < least.mark && !ground.has(name)) faint.push(`${where} ${best.toFixed(2)}`);
        for (const { ink, on } of letters)
          for (const under of on)
            if (contrast(ink, under) < least.letter)
              faint.push(`${where}, a letter on ${under} ${contrast(ink, under).toFixed(2)}`);
      }
  });
  expect([...new Set(faint)]).toEqual([]);
});
