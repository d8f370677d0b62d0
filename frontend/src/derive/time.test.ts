// SPDX-License-Identifier: GPL-2.0-or-later
/** Tests windows for the oscilloscope, alignment, beats, and the moments at which a scene opens. */

import { expect, test } from 'vitest';
import { cell, indexOf } from '../../test/fixtures/drawing.ts';
import { noOffsets, offsetsOf } from './align.ts';
import { beatAfter, eventAfter, nextLongWait } from './jumps.ts';
import { newestEpisode, nextEpisode, placeOf } from './moments.ts';
import { touching } from './query.ts';

const cells = (t: number | null) => (t === null ? null : t / cell);

const looks = (moment: string, window_ms: number) => ({
  moment,
  window_ms,
  window_steps: 0,
  operation: 1,
});

test('an episode lies below the watermark of the slowest lane that still runs', () => {
  const live = indexOf(
    `
    rwsem
    storm-0  R!R!R!R!R!R!R!R!R!R!
    srcu
    storm-0  R!R!R!R!R!R!
  `,
    true,
  );
  expect(newestEpisode(live, 4 * cell, cell, noOffsets)).toEqual({
    start: 8 * cell,
    span: 4 * cell,
  });
});

test('lanes that ended hold nobody back: a recording goes to the end of the longest', () => {
  const recorded = indexOf(`
    rwsem
    storm-0  R!R!R!R!R!R!R!R!
    srcu
    storm-0  R!R!R!R!R!R!R!R!
  `);
  expect(newestEpisode(recorded, 4 * cell, cell, noOffsets)!.start).toBe(12 * cell);
});

test('a window in which a lane did nothing is passed over for one nearby', () => {
  const live = indexOf(
    `
    rwsem
    storm-0  R!R!R!R!R!R!R!R!R!R!
    srcu
    storm-0  R!R!R!R!SSSSSSSSSSSS
  `,
    true,
  );
  expect(newestEpisode(live, 4 * cell, cell, noOffsets)!.start).toBe(7 * cell);
});

test('no window is complete yet: none', () => {
  const live = indexOf('rwsem\nstorm-0 R!R!', true);
  expect(newestEpisode(live, 10 * cell, cell, noOffsets)).toBeNull();
});

test('a recording is shown window after window and begins again', () => {
  const index = indexOf('rwsem\nstorm-0 R!R!R!R!R!');
  const first = { start: 0 as never, span: 4 * cell };
  const second = nextEpisode(index, first, noOffsets);
  expect([second.start / cell, nextEpisode(index, second, noOffsets).start]).toEqual([4, 0]);
});

test('by operation, the operation that the slower lane has ended stands at one place', () => {
  const index = indexOf(`
    rwsem
    storm-0  R!R!R!R!R!R!
    srcu
    storm-0  RSSS!RSSSSS!
  `);
  const offset = offsetsOf(index, 'operation', 6 * cell);
  expect(cells(offset.get('srcu')!)).toBe(0);
  expect(cells(offset.get('rwsem')!)).toBe(3);
  expect(offsetsOf(index, 'time', 6 * cell).size).toBe(0);
});

test('beats are ends of operations on any lane, there and back', () => {
  const index = indexOf(`
    rwsem
    storm-0  RR!RR!RR!
    srcu
    storm-0  RSSS!RSSS
  `);
  const forth: (number | null)[] = [];
  let t: number | null = 0;
  while (t !== null) {
    t = beatAfter(index, noOffsets, t, 1);
    forth.push(cells(t));
  }
  expect(forth).toEqual([3, 5, 6, 9, null]);
  expect(cells(beatAfter(index, noOffsets, 6 * cell, -1))).toBe(5);
});

test('events step to the next begin of anything', () => {
  const index = indexOf('srcu\nstorm-0 RRSSSRR\ngrace-period ..AAC');
  expect(cells(eventAfter(index, noOffsets, 0, 1))).toBe(2);
  expect(cells(eventAfter(index, noOffsets, 2 * cell, 1))).toBe(4);
  expect(cells(eventAfter(index, noOffsets, 4 * cell, -1))).toBe(2);
});

test('and with as much waiting as usual', () => {
  const calm = 'RRRRRRRRRRRRRRRRRRR!';
  const usual = 'RSSSSSSSSSSSSSSSSSR!';
  const index = indexOf(`srcu\nstorm-0 ${calm.repeat(3)}${usual.repeat(12)}${calm.repeat(3)}`);
  const start = cells(placeOf(index, looks('newest', 4)).start)!;
  expect(start).toBeGreaterThanOrEqual(40);
  expect(start).toBeLessThanOrEqual(280);
});

test('a span far in the past does not make a window look crowded', () => {
  const index = indexOf(`srcu\nstorm-0 ${'S'.repeat(300)}${'RS'.repeat(50)}`);
  const lane = index.lanes[0]!;
  const { from, to } = touching(lane.spans, lane.strand(0, 'state')!, 390.5 * cell, 394 * cell);
  expect(to - from).toBe(4);
});

test('the next long wait is at least half of the longest, and never one that is not the lesson', () => {
  const index = indexOf('srcu\nstorm-0 RSSREEEEEEEERSSSSSSRSSSSR');
  const next = nextLongWait(index, noOffsets, 0)!;
  expect([cells(next.t0), cells(next.t1)]).toEqual([13, 19]);
  expect(cells(nextLongWait(index, noOffsets, 13 * cell)!.t0)).toBe(20);
  expect(cells(nextLongWait(index, noOffsets, 21 * cell)!.t0), 'from the start again').toBe(13);
});

test('the first operation is one like the others, not the cold one, and the window is fitted to it', () => {
  const index = indexOf(`
    rwsem
    storm-0  RRRRRRRRREE!REE!REE!RRRRREE!
  `);
  const place = placeOf(index, looks('first_op', 2));
  expect([place.start, place.span, place.moment].map(cells)).toEqual([11, 6, 14]);
});

test('a recording whose lanes end at different times is not shown past the last operation of any', () => {
  const index = indexOf(`
    rwsem
    storm-0  R!R!R!R!
    srcu
    storm-0  R!R!R!R!R!R!R!R!R!R!
  `);
  expect(cells(newestEpisode(index, 4 * cell, cell, noOffsets)!.start)).toBe(4);
  const last = { start: (4 * cell) as never, span: 4 * cell };
  expect(nextEpisode(index, last, noOffsets).start).toBe(0);
});

test('a recording begins with a window like most of the others', () => {
  const index = indexOf(`
    rwsem
    storm-0  R!R!R!R!RRR!RRR!RRR!RRR!RRRRRRRRRRRR!RRRRRRRRRRR
  `);
  const { start } = placeOf(index, looks('newest', 0.4));
  expect([6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]).toContain(cells(start));
});
