// SPDX-License-Identifier: GPL-2.0-or-later
/** The text alternative agrees with the picture. In the drawings, one letter is 100 µs. */

import { expect, test } from 'vitest';
import { cell, frameOver, indexOf, picture } from '../../test/fixtures/drawing.ts';
import { testLesson } from '../../test/fixtures/lesson.ts';
import { latenciesOf } from './latency.ts';
import { opsRatio } from './prediction.ts';
import { nearbyOf, summaryOf } from './summary.ts';

test('the summary shares out all of the hogs’ time', () => {
  const [, srcu] = summaryOf(picture, frameOver(0, 20, 0), testLesson);
  const shares = Object.fromEntries(srcu!.shares.map((s) => [s.title, Math.round(s.share * 60)]));
  expect(shares).toEqual({
    'waits for an SRCU grace period': 42,
    running: 16,
    'waits for an expedited RCU grace period': 2,
  });
  expect(srcu!.ops).toBe(2);
});

test('the table holds at most 50 marks, those nearest to the moment, in order', () => {
  const rows = nearbyOf(picture, frameOver(0, 20, 10), testLesson);
  expect(rows.length).toBeLessThanOrEqual(50);
  expect(rows.map((r) => r.t0)).toEqual(rows.map((r) => r.t0).toSorted((a, b) => a - b));
  expect(rows.some((r) => r.what.startsWith('check') && r.length === '100 µs')).toBe(true);
  const busy = indexOf(`rwsem\nstorm-0 ${'RL'.repeat(200)}`);
  const near = nearbyOf(busy, frameOver(0, 400, 200), testLesson);
  expect(near.length).toBe(50);
  expect(Math.abs(near[0]!.t0 / cell - 200)).toBeLessThan(27);
});

test('a prediction is answered over equal guest time', () => {
  const index = indexOf(`
    rwsem
    storm-0  R!R!R!R!R!R!R!R!R!R!R!R!
    srcu
    storm-0  RSSS!RSSS!
  `);
  const answer = opsRatio(index, testLesson.predictions['fewer']!, testLesson)!;
  expect(answer.value, 'two against five in the first ten cells').toBeCloseTo(0.4);
  expect(answer.choice).toBe(1);
  expect(answer.words).toBe(
    'In the whole run, traced, 4.0 umounts on SRCU for every ten on rwsem.',
  );
});

test('too few operations prove nothing', () => {
  const index = indexOf('rwsem\nstorm-0 R!R!\nsrcu\nstorm-0 R!RR');
  expect(opsRatio(index, testLesson.predictions['fewer']!, testLesson)).toBeNull();
});

test('latencies up to the moment: n counts all, dots are the same each time', () => {
  const lane = picture.lanes[0]!;
  const some = latenciesOf(lane, 12 * cell);
  expect([some.n, some.median, some.samples.length]).toEqual([3, 4 * cell, 3]);
  const many = indexOf(`rwsem\nstorm-0 ${'R!'.repeat(1000)}`).lanes[0]!;
  const dots = latenciesOf(many, Number.POSITIVE_INFINITY, 100);
  expect(dots.n).toBe(1000);
  expect(dots.samples.length).toBeGreaterThan(60);
  expect(dots.samples.length).toBeLessThan(140);
  expect(latenciesOf(many, Number.POSITIVE_INFINITY, 100).samples).toEqual(dots.samples);
});
