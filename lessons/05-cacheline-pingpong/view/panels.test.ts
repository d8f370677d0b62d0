// SPDX-License-Identifier: GPL-2.0-or-later
/** The side text says what this run shows: a state that feeds itself, or one that is over with its cause. */

import type { LaneIndex, RunIndex } from '@page/derive/types.ts';
import { expect, test } from 'vitest';
import { moments } from './index.tsx';
import { phaseRows, stepsOf } from './panels.tsx';

const second = 1e9;

/** Counts at each look: before, during and after the listing. */
function laneWith(slowAfter: number): LaneIndex {
  const looks = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((s) => {
    const after = Math.max(0, s - 6);
    const columns = {
      ...{ get_fast: [1000 * Math.min(s, 6) + (1000 - slowAfter) * after], put_fast: [0] },
      ...{ get_slow: [slowAfter * after], put_slow: [0], retry: [0] },
    };
    return { t: s * second, columns, n: 1 };
  });
  const lane = { arm: 'stock', samples: () => looks, watermark: 9 * second, ended: true };
  return lane as unknown as LaneIndex;
}
const indexWith = (lane: LaneIndex) =>
  ({ lanes: [lane], params: { seconds: 3 }, workload: 'listing' }) as unknown as RunIndex;

test('the text follows the run', () => {
  const [stuck, over] = [laneWith(990), laneWith(5)];
  expect(stepsOf(stuck, indexWith(stuck)).at(-1)).toContain('there is always an earlier operation');
  expect(stepsOf(over, indexWith(over)).at(-1)).toContain(
    'while the lock is free can use compare-and-swap',
  );
});

test('a phase has no figures of its own until all of it is read', () => {
  const lane = { ...laneWith(990), ended: false, watermark: 5 * second } as unknown as LaneIndex;
  const rows = phaseRows(lane, indexWith(lane));
  expect(rows.map(({ slow }) => slow === 'still being read')).toEqual([false, true, true]);
});

test('a storm is there when its step begins to play', () => {
  const lane = laneWith(5);
  const place = moments['phases']!(indexWith(lane), { moment: 'phases', window_ms: 0 } as never);
  expect(place).toMatchObject({ start: 0, begin: 3 * second, span: 9 * second });
});
