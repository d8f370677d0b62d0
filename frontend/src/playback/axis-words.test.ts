// SPDX-License-Identifier: GPL-2.0-or-later
import { expect, test } from 'vitest';
import { cell, indexOf } from '../../test/fixtures/drawing.ts';
import { axisWords, operationsOfAll } from '../derive/align.ts';
import { frameOf, initialPlayback, type PlaybackState, reduce, type World } from './machine.ts';

const index = indexOf(`
  rwsem
  storm-0  R!R!R!R!R!R!R!R!R!R!
  srcu
  storm-0  RSSS!RSSS!RSSS!RSSS!
`);
const world: World = { index, reduced: false };
const still: PlaybackState = { ...initialPlayback, mode: 'paused', span: 4 * cell };
const lesson = {
  operation: { name: 'umount', plural: 'umounts' },
  arms: [
    { name: 'rwsem', title: 'rwsem' },
    { name: 'srcu', title: 'SRCU' },
  ],
} as never;

const said = (state: PlaybackState) => axisWords(index, frameOf(state), lesson);
const aligned = (alignment: PlaybackState['alignment'], nth?: number) =>
  reduce(still, { type: 'align', alignment, ...(nth === undefined ? {} : { nth }) }, world);

test('by time, the axis is every lane’s own', () => {
  expect(said(still)).toEqual({ title: "guest time since the workload's start", flag: null });
});

test('the third umount ends on every lane at once, and the axis is that of the last', () => {
  const state = aligned('operation', 3);
  expect(state.operation).toBe(3);
  expect(state.offset.get('srcu')).toBe(0);
  const { title, flag } = said(state);
  expect(title).toBe('guest time of SRCU; umount 3 ends at the same moment on every lane');
  expect(flag).toEqual({ t: index.lanes[1]!.ops.t1[2], words: 'umount 3' });
  const rwsem = index.lanes[0]!;
  expect(rwsem.ops.t1[2]! + state.offset.get('rwsem')!).toBe(flag?.t);
});

test('a lane that has not so many operations is named, and not moved', () => {
  const state = aligned('operation', 9);
  expect(said(state).title).toBe(
    'guest time of rwsem; umount 9 ends at the same moment on every lane; SRCU has no such operation',
  );
  expect(state.offset.has('srcu')).toBe(false);
  expect(said(aligned('operation', 99)).title).toContain('no lane has umount 99 yet');
  expect(operationsOfAll(index)).toBe(4);
});

test('by marker it is the first, and begin says begins', () => {
  expect(said(aligned('marker')).title).toContain('umount 1 ends');
  expect(said(aligned('begin', 2)).title).toContain(
    'umount 2 begins at the same moment on every lane',
  );
});
