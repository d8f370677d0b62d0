// SPDX-License-Identifier: GPL-2.0-or-later
/** The map of the address space on the lesson's recordings. */

import { laneOf, spansIn } from '@page/derive/query.ts';
import { indexRun } from '@page/derive/run-index.ts';
import type { LaneIndex, RunIndex } from '@page/derive/types.ts';
import { recordedLessons } from '@test/fixtures/recordings.ts';
import { expect, test } from 'vitest';
import { heldAt, spaceOf } from './regions.ts';

const [recorded] = recordedLessons('06-mmap-lock');

function indexOf(name: string): RunIndex {
  const [, store] = [...recorded!.runs].find(([id]) => id.endsWith(name))!;
  return indexRun(store.shown()!, recorded!.lesson);
}

/** Moments in the middle of the stretches in which mmap_lock is held for writing. */
function* writing(index: RunIndex, lane: LaneIndex): Generator<number> {
  for (const { kind, t0, t1 } of spansIn(lane, 'track', 0, Number.POSITIVE_INFINITY))
    if (index.kinds[kind]?.name === 'write_held') yield (t0 + t1) / 2;
}

test('threads have regions of their own, or lie in the changed region', () => {
  for (const [name, changed] of [
    ['own', false],
    ['same', true],
    ['new', false],
  ] as const) {
    const index = indexOf(name);
    for (const lane of index.lanes) {
      const space = spaceOf(index, lane);
      expect(space.regions.map((one) => one.name)).toEqual(['mm-fault-0', 'mm-fault-1']);
      expect(space.regions.map((one) => one.changed)).toEqual([changed, changed]);
      expect(space.writer).not.toBeNull();
    }
  }
});

test('without a writer no region changes', () => {
  const index = indexOf('readers');
  expect(spaceOf(index, index.lanes[0]!).writer).toBeNull();
});

test('with one lock no fault is under a VMA lock, and threads wait for the writer', () => {
  const index = indexOf('own');
  const lane = laneOf(index, 'one-lock')!;
  const held = [...writing(index, lane)].map((t) => heldAt(index, lane, t));
  expect(held.length).toBeGreaterThan(3);
  expect(held.every((one) => one.mmap === 'writing')).toBe(true);
  const threads = held.flatMap((one) => [...one.threads.values()]);
  expect(threads).not.toContain('vma');
  expect(threads).toContain('waits');
});

test('with VMA locks faults go on while the changed VMA is locked', () => {
  const index = indexOf('own');
  const lane = laneOf(index, 'vma-lock')!;
  const held = [...writing(index, lane)].map((t) => heldAt(index, lane, t));
  expect(held.some((one) => one.changed === 'locked')).toBe(true);
  const threads = held.flatMap((one) => [...one.threads.values()]);
  expect(threads).not.toContain('waits');
  expect(threads).toContain('vma');
});
