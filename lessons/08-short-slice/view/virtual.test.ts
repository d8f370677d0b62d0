// SPDX-License-Identifier: GPL-2.0-or-later
/** The line of virtual time on the lesson's recordings. */

import { laneOf, spansIn } from '@page/derive/query.ts';
import { indexRun } from '@page/derive/run-index.ts';
import type { RunIndex } from '@page/derive/types.ts';
import { recordedLessons } from '@test/fixtures/recordings.ts';
import { expect, test } from 'vitest';
import { queuedAt } from './virtual.ts';

const [recorded] = recordedLessons('08-short-slice');

function indexOf(name: string): RunIndex {
  const [, store] = [...recorded!.runs].find(([id]) => id.endsWith(name))!;
  return indexRun(store.shown()!, recorded!.lesson);
}

test('one task runs, and the virtual times of all lie around their average', () => {
  for (const name of ['quiet', 'short', 'long']) {
    const index = indexOf(name);
    for (const lane of index.lanes)
      for (let t = 50e6; t < 150e6; t += 1.7e6) {
        const queued = queuedAt(index, lane, t);
        expect(queued.length).toBeGreaterThanOrEqual(4);
        expect(queued.filter((one) => one.running)).toHaveLength(1);
        expect(queued.reduce((sum, one) => sum + one.vruntime, 0)).toBeCloseTo(0, 0);
        expect(queued.some((one) => one.eligible)).toBe(true);
      }
  }
});

test('a player that waits for long is eligible', () => {
  const index = indexOf('equal');
  const lane = laneOf(index, 'protect')!;
  const waits = [...spansIn(lane, 'track', 0, Number.POSITIVE_INFINITY)].filter(
    (one) => index.kinds[one.kind]?.name === 'due' && one.t1 - one.t0 > 20e6,
  );
  expect(waits.length).toBeGreaterThan(0);
  for (const { t1 } of waits) {
    const player = queuedAt(index, lane, t1 - 1e6).find((one) => one.name === 'turn-player')!;
    expect(player.eligible).toBe(true);
    expect(player.running).toBe(false);
    expect(player.vruntime).toBeLessThan(-5e6);
  }
});

test('a task that has not had the CPU yet is on the line', () => {
  const index = indexOf('quiet');
  const lane = laneOf(index, 'protect')!;
  expect(queuedAt(index, lane, 5e6)).toHaveLength(4);
});

test('a player in a long job loses the CPU when it has passed the average', () => {
  const index = indexOf('long');
  const lane = laneOf(index, 'preempt')!;
  let lost = 0;
  for (const { kind, t0, t1, open } of spansIn(lane, 'track', 0, Number.POSITIVE_INFINITY)) {
    if (open || index.kinds[kind]?.name !== 'in_job') continue;
    for (let t: number = t0; t < t1; t += 0.1e6) {
      const player = queuedAt(index, lane, t).find((one) => one.name === 'turn-player');
      if (player && !player.running && !player.eligible) lost++;
    }
  }
  expect(lost).toBeGreaterThan(100);
});
