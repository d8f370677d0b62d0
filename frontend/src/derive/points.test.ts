// SPDX-License-Identifier: GPL-2.0-or-later
/** Points by name, in order of time, while the table grows and when its oldest entries go. */

import { expect, test } from 'vitest';
import { pointBatch } from '../../test/fixtures/extents.ts';
import { PointColumns } from '../store/tables.ts';
import { PointIndex, pointRange, pointsUpTo } from './points.ts';
import type { Order } from './types.ts';

const names = ['visit', 'insert'];
type Row = readonly [string, number, ...number[]];

function table(rows: readonly Row[]): PointColumns {
  const columns = new PointColumns();
  add(columns, rows);
  return columns;
}

function add(columns: PointColumns, rows: readonly Row[]): void {
  columns.append(pointBatch('r', 'a', names, rows).columns as never, rows.length);
}

const times = (columns: PointColumns, { order, length }: Order) =>
  Array.from(order.subarray(0, length), (i) => columns.t[i]);

test('each name has its own, unknown names have none', () => {
  const columns = table([
    ['visit', 1],
    ['insert', 2],
    ['visit', 3],
  ]);
  const index = new PointIndex(columns, names);
  index.update();
  expect(times(columns, index.of('visit'))).toEqual([1, 3]);
  expect(times(columns, index.of('insert'))).toEqual([2]);
  expect(index.of('nothing').length).toBe(0);
});

test('it grows with the table', () => {
  const columns = table([['visit', 1]]);
  const index = new PointIndex(columns, names);
  index.update();
  for (let t = 2; t <= 200; t++) add(columns, [[t % 2 ? 'visit' : 'insert', t]]);
  index.update();
  expect(index.of('visit').length).toBe(100);
  expect(times(columns, index.of('insert')).slice(0, 3)).toEqual([2, 4, 6]);
});

test('when the oldest go it is made anew', () => {
  const columns = table([
    ['visit', 1],
    ['insert', 2],
    ['visit', 3],
    ['visit', 4],
  ]);
  const index = new PointIndex(columns, names);
  index.update();
  columns.evict(2);
  index.update();
  expect(times(columns, index.of('visit'))).toEqual([3, 4]);
  expect(index.of('insert').length).toBe(0);
});

test('ranges are half open, "up to" has its end in it', () => {
  const columns = table([10, 20, 20, 30].map((t): Row => ['visit', t]));
  const index = new PointIndex(columns, names);
  index.update();
  const of = index.of('visit');
  expect(pointRange(columns, of, 20, 30)).toEqual({ from: 1, to: 3 });
  expect(pointRange(columns, of, 31, 40)).toEqual({ from: 4, to: 4 });
  expect([9, 10, 20, 30, 99].map((t) => pointsUpTo(columns, of, t))).toEqual([0, 1, 3, 4, 4]);
});
