// SPDX-License-Identifier: GPL-2.0-or-later
import { expect, test } from 'vitest';
import { indexOf } from '../../test/fixtures/drawing.ts';
import { ns } from '../base/units.ts';
import { markAt, spotOf } from './spot.ts';

const index = indexOf(`
  rwsem
  storm-0  R!R!R!R!R!
  srcu
  storm-0  RSSS!RSSS!
`);

test('a mark is found again by its lane, row and begin; anything else is the whole lane', () => {
  const lane = index.lanes[1]!;
  const { spans } = lane;
  const at = (i: number) => ({ row: spans.row[i]!, t0: ns(spans.t0[i]!), t1: ns(spans.t1[i]!) });
  const mark = {
    arm: lane.arm,
    table: 'spans',
    id: spans.id[1]!,
    kind: spans.kind[1]!,
    ...at(1),
  } as const;
  expect(markAt(index, spotOf(mark))).toEqual(mark);
  expect(markAt(index, { arm: lane.arm, row: null, t_ns: null })).toBeNull();
  expect(markAt(index, { ...spotOf(mark), t_ns: -5 })).toBeNull();
  expect(markAt(index, { ...spotOf(mark), arm: 'gone' })).toBeNull();
});
