// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Ticks are placed by what the kernel's source says of the guest's clock (views/tick-marks.ts). Recordings can tell: in
 * each lane with enough steps that only a tick begins, these lie right behind the ticks.
 */

import { expect, test } from 'vitest';
import { indexRun } from '../src/derive/run-index.ts';
import type { LaneIndex, RunIndex } from '../src/derive/types.ts';
import type { Lesson } from '../src/protocol/lesson.ts';
import { ticksOf } from '../src/views/hog-rows/look.ts';
import { gridOf } from '../src/views/inode-flow/draw-bands.ts';
import { lifeOf } from '../src/views/inode-flow/layout.ts';
import { never } from '../src/views/inode-flow/lives.ts';
import { phaseOf } from '../src/views/tick-marks.ts';
import { recordedLessons } from './fixtures/recordings.ts';

const endsOf = (index: RunIndex, lane: LaneIndex, lesson: Lesson): number[] => {
  if (lesson.view === 'inode-flow')
    return [...lifeOf(index, lane, lesson).lives.graces.ends].filter((t) => t < never);
  const delays = new Set(['gp_armed', 'cb_delay']);
  const { t0, t1, kind } = lane.spans;
  return Array.from({ length: lane.spans.length }, (_, i) => i).flatMap((i) =>
    delays.has(index.kinds[kind[i]!]?.name ?? '') && t1[i]! - t0[i]! >= index.tickNs / 2
      ? [t1[i]!]
      : [],
  );
};

test('recorded delays and grace periods end right behind the ticks', () => {
  const behind: (readonly [string, number])[] = [];
  for (const { runs } of recordedLessons('02-grace-periods', '03-inode-recycling'))
    for (const [name, store] of runs) {
      const lesson = store.lesson.get()!;
      const index = indexRun(store.shown()!, lesson);
      for (const lane of index.lanes) {
        const every = lane.arm.endsWith('hz1000') ? 1e6 : index.tickNs;
        const flow = lesson.view === 'inode-flow';
        const grid = flow
          ? gridOf(lifeOf(index, lane, lesson).lives, every, lane)
          : ticksOf(index, lane);
        expect(grid, `${name} ${lane.arm}`).toEqual({
          at: (every - (lane.startNs! % every)) % every,
          every,
        });
        const seen = phaseOf(endsOf(index, lane, lesson).slice(-256), every);
        if (seen !== null) behind.push([`${name} ${lane.arm}`, (seen - grid!.at) / every]);
      }
    }
  expect(behind.length).toBeGreaterThanOrEqual(12);
  for (const [lane, share] of behind) {
    expect(share, lane).toBeGreaterThan(0);
    expect(share, lane).toBeLessThan(0.1);
  }
});
