// SPDX-License-Identifier: GPL-2.0-or-later
/** Time that threads have spent in the lesson's waits, up to any moment. In the drawings, one letter is 100 µs. */

import { expect, test } from 'vitest';
import { cell, indexOf } from '../../test/fixtures/drawing.ts';
import { shareText, waitedUpTo } from './summary.ts';
import type { LaneIndex } from './types.ts';

const index = indexOf(`
  srcu
  storm-0  RRSSSSRRRRLR
  storm-1  RRRRRREERRRR
`);
const lane = index.lanes[0]!;

test('sums up to the moment, of waits of the lesson alone', () => {
  const at = (n: number) => waitedUpTo(index, lane, n * cell)!;
  expect(at(2)).toMatchObject({ ns: 0, share: 0, longest: null });
  expect(at(4).ns).toBe(2 * cell);
  // The expedited wait of storm-1 is not one of the lesson's waits.
  expect(at(8).ns).toBe(4 * cell);
  expect(at(12)).toMatchObject({ ns: 5 * cell, share: 5 / 24 });
});

test('the longest is whole, also where it still goes on', () => {
  const { longest } = waitedUpTo(index, lane, 3 * cell)!;
  expect([longest!.t0, longest!.t1]).toEqual([2 * cell, 6 * cell]);
});

test('nothing is said of what is not known', () => {
  expect(waitedUpTo(index, lane, 13 * cell)).toBeNull();
  const { arm, rows, spans, open, watermark, losses } = lane;
  const evicted = { arm, rows, spans, open, watermark, losses, historyFrom: 1 };
  expect(waitedUpTo(index, evicted as unknown as LaneIndex, 5 * cell)).toBeNull();
});

test('a small share has a digit', () => {
  expect([0, 0.0016, 0.22].map(shareText)).toEqual(['none', '0.2 %', '22 %']);
});
