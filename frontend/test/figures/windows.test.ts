// SPDX-License-Identifier: GPL-2.0-or-later
/** Windows against runs: no step opens on what lies behind the end of its recording. */

import { expect, test } from 'vitest';
import { recordedLessons, shownScene } from '../fixtures/recordings.ts';

/** Of a window: so much may lie behind the end of a run, for its end to be seen. */
const most = 0.05;

test('a step that stands on time alone shows the run, not what is behind its end', () => {
  const beyond: string[] = [];
  let looked = 0;
  for (const one of recordedLessons())
    for (const scene of one.lesson.scenes) {
      const { index, frameAt } = shownScene(one, scene);
      if (index.axis !== null || scene.align !== 'time') continue;
      looked += 1;
      const { start, span } = frameAt(0);
      const end = Math.max(...index.lanes.map((lane) => lane.watermark));
      const share = (start + span - end) / span;
      if (start > 0 && share > most) beyond.push(`${one.lesson.slug} ${scene.id}: ${share}`);
    }
  expect(beyond).toEqual([]);
  expect(looked).toBeGreaterThan(10);
});
