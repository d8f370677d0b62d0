// SPDX-License-Identifier: GPL-2.0-or-later
/** Tests two runs on one axis: the names of lanes, their alignment, and the frame of each run. */

import { expect, test } from 'vitest';
import { fileRun } from '../../test/fixtures/extents.ts';
import { axisFlag, offsetsOf, opEnd, together } from '../derive/align.ts';
import { framesOfSide, laneKey, offsetOfSide, pairIndex } from '../derive/pair.ts';
import { laneOf } from '../derive/query.ts';
import { pickLanes } from '../derive/run-index.ts';
import type { Frame, Mark } from '../derive/types.ts';
import { frameOf, initialPlayback, reduce } from './machine.ts';

const one = fileRun({ delayed: 8, written: 8, nr: 4, scans: 4 });
const other = fileRun({ delayed: 2, written: 20, nr: 4, scans: 6 });
const arms = one.lanes.map((lane) => lane.arm);
const [arm = ''] = arms;
const both = pairIndex(one, other, arms);

test('of each arm the first run stands before the second, and both are asked the same', () => {
  expect(both.lanes.map((lane) => lane.arm)).toEqual(
    arms.flatMap((name) => [`first:${name}`, `second:${name}`]),
  );
  const lane = laneOf(both, laneKey('second', arm))!;
  const own = laneOf(other, arm)!;
  expect(lane.opsByEnd.length).toBe(own.opsByEnd.length);
  expect(lane.opsByEnd.length).not.toBe(laneOf(one, arm)!.opsByEnd.length);
  expect(lane.pointsOf('visit')).toEqual(own.pointsOf('visit'));
});

test('it is the same object until a run changes, and has the arms that are asked for', () => {
  expect(pairIndex(one, other, arms)).toBe(both);
  const grown = { ...other, version: other.version + 1 };
  expect(pairIndex(one, grown, arms)).not.toBe(both);
  const few = pairIndex(one, other, [arm]);
  expect(few.lanes.map((lane) => lane.arm)).toEqual([`first:${arm}`, `second:${arm}`]);
});

test('it is whole when both runs are', () => {
  const of = (left: 'whole' | 'coming' | 'unknown', right: typeof left) =>
    pairIndex({ ...one, reading: left }, { ...other, reading: right }, arms).reading;
  expect(of('whole', 'whole')).toBe('whole');
  expect(of('whole', 'coming')).toBe('coming');
  expect(of('unknown', 'coming')).toBe('coming');
  expect(of('whole', 'unknown')).toBe('unknown');
});

test('the third operation of every lane of both ends at once', () => {
  const offsets = offsetsOf(both, 'operation', 0, 3);
  const ends = both.lanes.map((lane) => opEnd(lane, 3)! + offsets.get(lane.arm)!);
  expect(new Set(ends).size).toBe(1);
  expect(offsetOfSide(offsets, 'second').get(arm)).toBe(offsets.get(laneKey('second', arm)));
  expect([...offsetOfSide(offsets, 'first').keys()]).toEqual(arms);
});

test('each side draws its own arms, and the flag where the lanes of both meet', () => {
  const world = { index: both, reduced: false };
  const state = reduce(initialPlayback, { type: 'align', alignment: 'operation', nth: 3 }, world);
  const key = laneKey('second', arm);
  const mark = { arm: key, table: 'ops', id: 1, row: 0, kind: 0, t0: 0, t1: 1 } as unknown as Mark;
  let frame: Frame = frameOf(reduce(state, { type: 'select', mark }, world));
  const source = { get: () => frame, subscribe: () => () => {} };
  const { at } = together(both, 'operation', 3);
  for (const [side, index] of [
    ['first', one],
    ['second', other],
  ] as const) {
    const frames = framesOfSide(source, side, () => both);
    const own = frames.get();
    expect(frames.get()).toBe(own);
    expect(own.selection?.arm).toBe(side === 'second' ? arm : undefined);
    for (const name of arms) {
      const lane = pickLanes(index, [name]);
      expect(opEnd(lane.lanes[0]!, 3)! + own.offset.get(name)!).toBe(at);
      expect(axisFlag(lane, own, 'scan')?.t).toBe(at);
    }
    frame = { ...frame, moment: at! };
    expect(frames.get()).not.toBe(own);
    expect(frames.get().offset).toBe(own.offset);
  }
});
