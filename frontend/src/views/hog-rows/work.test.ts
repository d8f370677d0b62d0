// SPDX-License-Identifier: GPL-2.0-or-later
/** The worker's checks and wakes, up to the moment. */

import { expect, test } from 'vitest';
import { cell, indexOf } from '../../../test/fixtures/drawing.ts';
import { work, workAt, workWords } from './work.ts';

const index = indexOf(`
  srcu
  storm-0  SSSSSSSSSSSR!
  grace-period .AAACXXCC....
  callbacks .........DW..
`);
const lane = index.lanes[0]!;
const say = (t: number, ops: number) =>
  workWords('srcu', workAt(index, lane, t * cell), ops, 'umount');

test('it has checks, wakes and their time; waiting between looks is no work', () => {
  expect(say(4, 0)).toBe('0 checks and 0 wakes so far|, 0 of work');
  expect(say(5, 0)).toBe('1 check and 0 wakes so far|, 100 µs of work');
  expect(say(13, 2)).toBe('2 checks and 1 wake so far|, 400 µs of work: 200 µs for each umount');
});

test('a lane whose kernel has no such worker has no line', () => {
  const other = indexOf('rwsem\nstorm-0 RRRR');
  expect(work.on(other, other.lanes[0]!)).toBe(false);
  expect(work.on(index, lane)).toBe(true);
});

test('what was found in an earlier version of the index does not stay', () => {
  // The lane's table may be whole before the index knows all of it: here the earlier one knows no kinds.
  const fresh = indexOf('srcu\nstorm-0 SSSSR!\ngrace-period .AACX');
  const one = fresh.lanes[0]!;
  const earlier = { ...fresh, kinds: [], version: fresh.version - 1 };
  expect(work.on(earlier, one)).toBe(false);
  expect(work.on(fresh, one)).toBe(true);
});
