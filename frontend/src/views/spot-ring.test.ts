// SPDX-License-Identifier: GPL-2.0-or-later
import { expect, test } from 'vitest';
import { ringOf } from './spot-ring.tsx';

const lanes = [
  { arm: 'a', left: 100, top: 0, width: 500 },
  { arm: 'b', left: 100, top: 200, width: 500 },
];

test('the ring is around the mark, or around the lane where the mark is out of view', () => {
  const ring = (arm: string, point: { x: number; y: number } | null) => {
    const mark = null;
    return ringOf({ lanes }, { height: 450 }, { arm, mark }, point);
  };
  expect(ring('a', { x: 300, y: 50 })).toMatchObject({ left: 282, top: 32, width: 36, height: 36 });
  expect(ring('a', null)).toMatchObject({ left: 94, top: 0, width: 512, height: 200 });
  expect(ring('b', null)).toMatchObject({ top: 200, height: 250 });
  expect(ring('gone', null)).toBeNull();
});
