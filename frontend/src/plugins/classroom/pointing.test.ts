// SPDX-License-Identifier: GPL-2.0-or-later

import { describe, expect, test } from 'vitest';
import { indexOf } from '../../../test/fixtures/drawing.ts';
import { ns } from '../../base/units.ts';
import type { Lesson } from '../../protocol/lesson.ts';
import { heatOf, markAt, partsOf, pointId, pointOf, pointsOf, spotOf } from './pointing.tsx';

describe('pointing', () => {
  const lesson = {
    questions: [{ step: 'a' }, { step: 'b' }, { step: 'a' }],
  } as unknown as Pick<Lesson, 'questions'>;

  test('a question has an id that leads back to it, and others lead nowhere', () => {
    expect(pointOf(lesson, pointId(2))).toBe(2);
    for (const id of ['point-0', 'point-4', 'point-', 'poll-1', 'three-hogs'])
      expect(pointOf(lesson, id)).toBeNull();
    expect(pointsOf(lesson, 'a')).toEqual([0, 2]);
  });

  test('a click is a part of the picture, and stays inside', () => {
    const box = { left: 100, top: 50, width: 400, height: 200 };
    expect(partsOf(box, { x: 200, y: 150 })).toEqual({ x: 0.25, y: 0.5 });
    expect(partsOf(box, { x: 0, y: 999 })).toEqual({ x: 0, y: 1 });
    expect(partsOf({ ...box, width: 0 }, { x: 3, y: 50 }).x).toBe(0.5);
  });

  test('those who pointed at one place are counted together', () => {
    const cells = heatOf([
      { x: 0.5, y: 0.5 },
      { x: 0.502, y: 0.5 },
      { x: 0.1, y: 1 },
    ]);
    expect(cells.map(({ count }) => count)).toEqual([1, 2]);
    expect(cells[1]!.x).toBeCloseTo(0.501);
  });
});

describe('spot', () => {
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
});
