// SPDX-License-Identifier: GPL-2.0-or-later
/** Tests explanations of marks that were made from the lane's own rows, points or samples. */

import { expect, test } from 'vitest';
import { counterRun, openLesson } from '../../test/fixtures/counters.ts';
import { extentLesson, fileRun } from '../../test/fixtures/extents.ts';
import { ns } from '../base/units.ts';
import { behindMark } from './behind.ts';

const shape = {
  address: 0x82000040,
  size: 8,
  fields: [['nr_files', 0, 8]],
  accesses: [[0, 8, 2]],
} as const;

test('an access of the microscope is counted, and no trace record is asked for', () => {
  const index = counterRun({ shape, ops: 4 });
  const { points: table, arm } = index.lanes[0]!;
  const mark = { arm, table: 'points', id: table.id[2]!, row: -1, kind: 0 } as const;
  const t = ns(table.t[2]!);
  const points = openLesson.points.map((one) => ({
    ...one,
    ...{ lens: 'microscope' as const, fields: ['at', 'size'] },
  }));
  const behind = behindMark(index, { ...openLesson, points }, { ...mark, t0: t, t1: t })!;
  expect(behind.trace).toBeNull();
  expect(behind.how).toContain('The microscope counted this access');
  expect(behind.rows).toMatchObject([{ t: 300, fields: expect.stringContaining('size 8') }]);
});

test('a sample of the x-ray says by which probe it was read', () => {
  const index = counterRun({ shape, ops: 4 });
  const lesson = {
    ...openLesson,
    counters: [
      { name: 'n', title: 'found', point: null, xray: 'variable', field: 'found', sum: false },
    ],
  };
  const mark = { arm: 'stock', table: 'samples', id: 0, row: -1, kind: 0 } as const;
  const behind = behindMark(index, lesson, { ...mark, t0: ns(0), t1: ns(0) })!;
  expect(behind.trace).toBeNull();
  expect(behind.how).toContain('probe variable');
  expect(behind.rows).toMatchObject([{ fields: 'found 1' }]);
});

test('a point on an axis that counts is asked for at its guest time and on its CPU', () => {
  const index = fileRun({ delayed: 4, written: 4, nr: 4, scans: 1 });
  const { points, arm } = index.lanes[0]!;
  const of = index.lanes[0]!.pointsOf('insert').order[0]!;
  const t = ns(points.t[of]!);
  const mark = {
    arm,
    table: 'points',
    id: points.id[of]!,
    row: -1,
    kind: points.kind[of]!,
  } as const;
  const behind = behindMark(index, extentLesson, { ...mark, t0: t, t1: t })!;
  expect(behind.trace).toEqual({ t: index.lanes[0]!.pointTime(of), cpu: points.cpu[of] });
  expect(behind.trace!.t).not.toBe(t);
});
