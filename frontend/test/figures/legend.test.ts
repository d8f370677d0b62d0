// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Legends against pictures: every step of the views that paint states of their own is drawn on its recording, in both
 * themes; a state that is painted has a swatch of the same colours, and no two swatches of a legend look alike.
 */

import { beforeAll, expect, test } from 'vitest';
import { darkTheme, lightTheme, type Theme } from '../../src/base/theme.ts';
import { kindsIn } from '../../src/derive/query.ts';
import { legendKinds } from '../../src/panels/legend.tsx';
import type { Kind, Lesson } from '../../src/protocol/lesson.ts';
import type { Artist, Laid } from '../../src/views/contract.ts';
import { lookOf } from '../../src/views/inode-flow/ink.ts';
import { type Fill, namedTiles } from '../../src/views/paints.ts';
import { viewOf } from '../../src/views/registry.ts';
import { paintOf } from '../../src/views/timeline/easel.ts';
import { stylesFor } from '../../src/views/timeline/score.ts';
import { recordingPen } from '../fixtures/pen.ts';
import { type RecordedLesson, recordedLessons, shownScene } from '../fixtures/recordings.ts';
import { contrast } from './contrast.ts';

interface Paints {
  readonly wide: Fill;
  readonly narrow: string;
  readonly border: string | null;
}

/** How each view paints a kind. Marks that are no bars have a brush of their own. */
const paints: Readonly<Record<string, (lesson: Lesson, kind: Kind, theme: Theme) => Paints>> = {
  'hog-rows': (lesson, kind, theme) =>
    paintOf(stylesFor(lesson.kinds)[lesson.kinds.indexOf(kind)]!, theme, namedTiles),
  'inode-flow': (_lesson, kind, theme) => lookOf(kind.name, theme, namedTiles),
};
const shapes: ReadonlySet<string> = new Set(
  'tick tick_ended cut_short gave_up walker reuse'.split(' '),
);
const themes = [lightTheme, darkTheme];
/** Of its strongest ink to the page. */
const least = 3;
const size = { width: 1000, height: 700, dpr: 1 };
let recorded: readonly RecordedLesson[] = [];
beforeAll(() => {
  recorded = recordedLessons().filter(({ lesson }) => (lesson.view ?? '') in paints);
});

function drawn(one: RecordedLesson, scene: Lesson['scenes'][number], theme: Theme) {
  const { lesson, index, frameAt } = shownScene(one, scene);
  const { show } = scene;
  const artist: Artist<Laid> = viewOf(lesson.view).artist(lesson, show);
  const fills = new Set<string>();
  for (const share of [0.3, 0.7, 1]) {
    const drawing = { index, frame: frameAt(share), size, lesson, theme, show };
    const { pen, log } = recordingPen();
    artist.draw(pen, artist.layout(drawing, 34, 13), drawing, null, namedTiles);
    for (const { what, fill } of log) if (/^fill(Rect)?$/.test(what)) fills.add(fill);
  }
  const there = kindsIn(index);
  const legend = viewOf(lesson.view).legend?.(lesson, scene, there) ?? legendKinds(lesson, scene);
  return { fills, legend, there, lesson };
}

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

test('readers of before are drawn where the recording has them, once for each grace period', () => {
  const one = recorded.find(({ lesson }) => lesson.view === 'inode-flow')!;
  const of = (id: string) => one.lesson.scenes.find((scene) => scene.id === id)!;
  const [shown, removal] = [of('wait'), of('dam')].map((scene) => drawn(one, scene, lightTheme));
  expect(shown!.legend.map(({ name }) => name)).toContain('may_read');
  expect(shown!.fills.has(lightTheme.mechanism)).toBe(true);
  expect(removal!.legend.map(({ name }) => name)).not.toContain('may_read');
});
