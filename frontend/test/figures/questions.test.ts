// SPDX-License-Identifier: GPL-2.0-or-later
/** Each question can be answered in the picture of the step that it names: a mark under the pointer is right. */

import { beforeAll, expect, test } from 'vitest';
import { lightTheme } from '../../src/base/theme.ts';
import { pointsAt } from '../../src/playback/hooks.tsx';
import type { Scene } from '../../src/protocol/lesson.ts';
import type { Artist, Laid } from '../../src/views/contract.ts';
import { hit } from '../../src/views/items.ts';
import { viewOf } from '../../src/views/registry.ts';
import { type RecordedLesson, recordedLessons, shownScene } from '../fixtures/recordings.ts';

const size = { width: 900, height: 600, dpr: 1 };
const grid = 6;
let recorded: readonly RecordedLesson[] = [];
beforeAll(() => {
  recorded = recordedLessons();
});

/** Those of the questions that no mark of the step's picture answers, at some moments of its window. */
function unanswered(one: RecordedLesson, scene: Scene, asked: readonly number[]): number[] {
  const { lesson, index, frameAt } = shownScene(one, scene);
  const { show } = scene;
  const artist: Artist<Laid> = viewOf(lesson.view).artist(lesson, show);
  let left = [...asked];
  for (const share of [0.3, 0.6, 1]) {
    for (const lane of index.lanes) {
      const only = { ...index, lanes: [lane] };
      const drawing = { index: only, frame: frameAt(share), size, lesson, theme: lightTheme, show };
      const laid = artist.layout(drawing, 34, 13);
      for (let x = 0; x < size.width && left.length > 0; x += grid) {
        for (let y = 0; y < size.height; y += grid) {
          const mark = hit(artist, laid, drawing, { x, y });
          if (mark === null) continue;
          left = left.filter((i) => !pointsAt(index, mark, lesson.questions[i]!));
        }
      }
    }
  }
  return left;
}

test('each question is answered by a mark in the picture of the step that it names', () => {
  expect(recorded.length).toBeGreaterThan(4);
  for (const one of recorded) {
    const { lesson } = one;
    expect(lesson.questions).toHaveLength(5);
    const missing = lesson.scenes.flatMap((scene) => {
      const asked = lesson.questions.flatMap((q, i) => (q.step === scene.id ? [i] : []));
      const left = asked.length === 0 ? asked : unanswered(one, scene, asked);
      return left.map((i) => `${lesson.slug}, ${scene.id}: ${lesson.questions[i]!.ask}`);
    });
    expect(missing).toEqual([]);
  }
}, 120_000);
