// SPDX-License-Identifier: GPL-2.0-or-later
/** Where a step that tells of waits begins to look. */

import { placeOf } from '@page/derive/moments.ts';
import { cell, indexOf } from '@test/fixtures/drawing.ts';
import { expect, test } from 'vitest';
import { waitMoments } from './index.tsx';

const cells = (t: number | null) => (t === null ? null : t / cell);

const looks = (moment: string, window_ms: number) => ({
  moment,
  window_ms,
  window_steps: 0,
  operation: 1,
});

test('scenes find their moments', () => {
  const index = indexOf(`
    srcu
    storm-0  RR!RSSSSSSRR!RSSRR
    storm-1  RRRRSSRR!RRRRRSSRR
    storm-reclaim ......OO..OOOO....
    grace-period ....AAAAACX.......
  `);
  const place = (moment: 'first_op' | 'start' | 'longest_wait' | 'reader') => {
    const { moment: t, start } = placeOf(index, looks(moment, 1), waitMoments);
    return [cells(start)!.toFixed(1), cells(t)!.toFixed(1)];
  };
  expect(place('start')).toEqual(['0.0', '0.0']);
  expect(place('longest_wait')).toEqual(['3.8', '10.0']);
  expect(place('reader')).toEqual(['6.5', '10.5']);
});
