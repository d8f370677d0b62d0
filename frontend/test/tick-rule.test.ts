// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Ticks are placed by what the kernel's source says of the guest's clock (views/tick-marks.ts). Recordings can tell: in
 * each lane with enough steps that only a tick begins, these lie right behind the ticks.
 */

import { expect, test } from 'vitest';
import { indexRun } from '../src/derive/run-index.ts';
import { phaseOf } from '../src/views/tick-marks.ts';
import { looksWith } from './fixtures/looks.ts';
import { recordedLessons } from './fixtures/recordings.ts';

/** Of the views that draw ticks. */
const ticks = looksWith('ticks');

test('recorded delays and grace periods end right behind the ticks', () => {
  const behind: (readonly [string, number])[] = [];
  const drawn = recordedLessons().filter(({ lesson }) => (lesson.view ?? '') in ticks);
  for (const { lesson: shown, runs } of drawn) {
    const { grid: gridOf, ends: endsOf } = ticks[shown.view ?? '']!;
    for (const [name, store] of runs) {
      const lesson = store.lesson.get()!;
      const index = indexRun(store.shown()!, lesson);
      for (const lane of index.lanes) {
        const every = lane.arm.endsWith('hz1000') ? 1e6 : index.tickNs;
        const grid = gridOf(index, lane, lesson, every);
        expect(grid, `${name} ${lane.arm}`).toEqual({
          at: (every - (lane.startNs! % every)) % every,
          every,
        });
        const seen = phaseOf(endsOf(index, lane, lesson).slice(-256), every);
        if (seen !== null) behind.push([`${name} ${lane.arm}`, (seen - grid!.at) / every]);
      }
    }
  }
  expect(behind.length).toBeGreaterThanOrEqual(12);
  for (const [lane, share] of behind) {
    expect(share, lane).toBeGreaterThan(0);
    expect(share, lane).toBeLessThan(0.1);
  }
});
