// SPDX-License-Identifier: GPL-2.0-or-later
/** Every prediction has a clear answer in what judges it, and nothing in a step before it gives that away. */

import { describe, expect, it } from 'vitest';
import { crossingAnswer } from '../src/derive/grid.ts';
import { opsRatio, tableRatio } from '../src/derive/prediction.ts';
import { pickLanes } from '../src/derive/run-index.ts';
import { knownArms, spoilersOf } from '../src/panels/predict.ts';
import { viewOf } from '../src/views/registry.ts';
import { recordedLessons, shownScene } from './fixtures/recordings.ts';

/** How far a value is from a bound, as a share of the bound, where another run would have another value. */
const clear = 0.15;

/** What each step hides until the steps behind it are answered; nothing in lessons that are not named. */
const hiddenIn: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  '01-shrinker-bitmaps': {
    'third-call': ['overview', 'counts', 'cost'],
    'what-is-set': ['overview', 'counts', 'cost'],
  },
  // No step before a question shows the lanes and the run of which it asks.
  '02-grace-periods': {},
  '03-inode-recycling': {
    'one-inode': ['overview', 'counts', 'sweep', 'scale'],
    wait: ['overview', 'counts', 'sweep', 'scale'],
  },
  '04-extent-shrinker': {
    'one-scan': ['overview', 'counts', 'cumulative', 'price'],
    'three-scans': ['overview', 'counts', 'cumulative', 'price'],
  },
  '05-cacheline-pingpong': { 'one-stat': ['counts', 'counted'], moved: ['model'] },
};

describe.each(recordedLessons().map((one) => [one.lesson.slug, one] as const))(
  '%s',
  (slug, one) => {
    const asking = one.lesson.scenes.filter(({ predict }) => predict !== null);

    it.each(asking.map((scene) => [scene.id, scene] as const))('%s', (_id, scene) => {
      const { lesson, index, run } = shownScene(one, scene);
      const prediction = lesson.predictions[scene.predict ?? '']!;
      // The cells of grids are not among these recordings; lint looks at them.
      if (prediction.crossing !== null && lesson.cells.length === 0) return;
      const read = viewOf(lesson.view).answers?.[prediction.metric] ?? opsRatio;
      const answer =
        crossingAnswer(lesson, prediction) ??
        (prediction.measured_on === null
          ? read(index, prediction, lesson)
          : tableRatio(lesson, prediction, lesson));
      expect(answer).not.toBeNull();
      // Lint compares the recorded ratios with the limit; the values of the knob are whole numbers.
      if (answer!.by === 'grid') return;
      // On the count clock, and in what a model makes of counts, every run says the same.
      if (run.message?.clock === 'count' || answer!.by === 'model') return;
      for (const bound of prediction.bounds)
        expect(
          Math.abs(answer!.value / bound - 1),
          `${answer!.value}, bound ${bound}`,
        ).toBeGreaterThan(clear);
    });

    it.each(asking.map((scene) => [scene.id, scene] as const))(
      'the lanes that are shown before the guess do not answer %s',
      (_id, scene) => {
        const { lesson, index } = shownScene(one, scene);
        const prediction = lesson.predictions[scene.predict ?? '']!;
        const known = knownArms(lesson, scene);
        expect(known).not.toContain(prediction.arms[0]);
        // What everything is compared with is there, unless the question is about it.
        if (prediction.arms[1] !== prediction.arms[0]) expect(known).not.toEqual([]);
        const read = viewOf(lesson.view).answers?.[prediction.metric] ?? opsRatio;
        expect(read(pickLanes(index, known), prediction, lesson)).toBeNull();
      },
    );

    it('what would answer a question that is still to come is hidden in the steps before', () => {
      const { lesson } = one;
      const { tells, panels } = viewOf(lesson.view);
      const hidden = lesson.scenes.flatMap((scene) => {
        const spoils = spoilersOf(lesson, scene, { guesses: {} }, new Set(), tells);
        const what = ['overview', 'counts', ...Object.keys(panels ?? {})].filter(spoils);
        return what.length > 0 ? [[scene.id, what]] : [];
      });
      expect(Object.fromEntries(hidden)).toEqual(hiddenIn[slug] ?? {});
    });
  },
);
