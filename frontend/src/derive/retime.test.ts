// SPDX-License-Identifier: GPL-2.0-or-later
/** On a counting axis, everything between two points belongs to the step of the first point. */

import { expect, test } from 'vitest';
import { fileRun, frameAfter, indexOfRows, ino, Kernel } from '../../test/fixtures/extents.ts';
import { heldOp, heldTime, offsetsOf, opBegin, opEnd } from './align.ts';
import { axisSpeedWords, momentWords, retimed, stepNs } from './retime.ts';
import { axisOf } from './run-index.ts';
import type { LaneIndex } from './types.ts';

const run = fileRun({ delayed: 8, written: 8, nr: 4, scans: 4 });
const [old, stock] = run.lanes as [LaneIndex, LaneIndex, LaneIndex];
const axis = {
  point: 'visit',
  title: 'entries visited',
  unit: 'entry',
  plural: 'entries',
  workloads: [] as string[],
};

test('the n-th visit stands at step n', () => {
  const visits = stock.pointsOf('visit');
  const at = Array.from(visits.order.subarray(0, visits.length), (i) => stock.points.t[i]);
  expect(at).toEqual(at.map((_, n) => (n + 1) * stepNs));
});

test('what happens between two visits stands at the former, what happens before all at 0', () => {
  const times = (name: string) => {
    const { order, length } = stock.pointsOf(name);
    return Array.from(order.subarray(0, length), (i) => stock.points.t[i]! / stepNs);
  };
  expect(new Set([...times('insert'), ...times('found')])).toEqual(new Set([0]));
  expect(times('scanned')).toEqual([4, 8, 12, 16]);
});

test('points keep their order, and operations their visits', () => {
  const { t, length } = stock.points;
  for (let i = 1; i < length; i++) expect(t[i]).toBeGreaterThanOrEqual(t[i - 1]!);
  const ends = [1, 2, 3].map((n) => [opBegin(stock, n), opEnd(stock, n)]);
  expect(ends.map(([a, b]) => [a! / stepNs, b! / stepNs])).toEqual([
    [0, 4],
    [4, 8],
    [8, 12],
  ]);
  expect(opEnd(old, 1)! / stepNs).toBe(12);
});

test('the way back to guest time is that of the last visit made', () => {
  const kernel = new Kernel('stock', { delayed: 8, written: 8, nr: 4, scans: 4 });
  const visits = kernel.points.filter(([name]) => name === 'visit');
  expect(stock.guestTime(3 * stepNs)).toBe(visits[2]![1]);
  expect(stock.guestTime(3 * stepNs + 999)).toBe(visits[2]![1]);
  expect(stock.guestTime(0)).toBe(visits[0]![1]);
  expect(stock.guestTime(1e9)).toBe(visits.at(-1)![1]);
});

test('the watermark counts the visits it covers', () => {
  expect(stock.watermark).toBe(16 * stepNs);
});

test('a lane without any visit has an axis of length 0', () => {
  const index = indexOfRows({ stock: { points: [['insert', 5, ino, 0, 1, 1]], ops: [] } });
  const [lane] = index.lanes;
  expect([lane!.watermark, lane!.points.t[0], lane!.guestTime(5)]).toEqual([0, 0, 0]);
});

test('the same state of a lane is re-timed once', () => {
  expect(retimed(stock, 'visit')).toBe(retimed(stock, 'visit'));
});

test('a moment and a speed in words of the axis', () => {
  expect(momentWords(axis, 0)).toBe('0 entries');
  expect(momentWords(axis, 1 * stepNs)).toBe('1 entry');
  expect(momentWords(axis, 288 * stepNs + 999)).toBe('288 entries');
  expect(momentWords(null, 1_234_567)).toBe('1.235 ms');
  expect(axisSpeedWords(axis, (32 * stepNs) / 1e9)).toBe('1 s here = 32 entries');
});

test('a lane that is held stands at the end of the operation its window begins with', () => {
  expect(heldOp(stock, frameAfter(0))).toBe(0);
  expect(heldTime(stock, frameAfter(9, { hold: true }))).toBe(4 * stepNs);
  expect(heldTime(stock, frameAfter(3, { hold: true }))).toBe(3 * stepNs);
  expect(heldTime(stock, frameAfter(9))).toBe(9 * stepNs);
});

test('held and aligned: the third operation of each lane, from its own begin', () => {
  const offset = offsetsOf(run, 'begin', 0, 3);
  const start = Math.max(...run.lanes.map((lane) => opBegin(lane, 3)!));
  const frame = frameAfter(start / stepNs + 100, { start: start as never, offset, hold: true });
  expect(run.lanes.map((lane) => heldOp(lane, frame))).toEqual([2, 2, 2]);
  expect(heldTime(stock, frame)).toBe(12 * stepNs);
});

test('an axis may count in the runs of some workloads alone', () => {
  const some = { axis: { ...axis, workloads: ['one-file'] } };
  expect(axisOf(some, 'one-file')).toBe(some.axis);
  expect(axisOf(some, 'fio')).toBeNull();
  expect(axisOf({ axis: null }, 'fio')).toBeNull();
  expect(axisOf({ axis: { ...axis, workloads: [] } }, 'fio')?.point).toBe('visit');
});
