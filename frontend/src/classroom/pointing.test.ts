// SPDX-License-Identifier: GPL-2.0-or-later
import { expect, test } from 'vitest';
import type { Lesson } from '../protocol/lesson.ts';
import { heatOf, partsOf, pointId, pointOf, pointsOf } from './pointing.ts';

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
