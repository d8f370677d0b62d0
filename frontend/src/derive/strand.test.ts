// SPDX-License-Identifier: GPL-2.0-or-later
/** The level-of-detail pyramid: time is neither lost nor invented, and a short wait is never nothing. */

import { expect, test } from 'vitest';
import { kindOf, testLesson } from '../../test/fixtures/lesson.ts';
import { runMessage, spanBatch } from '../../test/fixtures/messages.ts';
import { Store } from '../store/store.ts';
import { indexRun } from './run-index.ts';

function strandOf(rows: { t0: number; t1: number; kind: string }[]) {
  const store = new Store();
  store.lesson.set(testLesson);
  store.dispatch(runMessage('r', ['a']));
  const spans = rows.map((r) => ({ ...r, row: 0, kind: kindOf(r.kind) }));
  store.dispatch(spanBatch({ runId: 'r', arm: 'a', seq: 0, watermark: 1e12 }, spans));
  return indexRun(store.shown()!, testLesson).lanes[0]!.strand(0, 'state')!;
}

function dice(seed: number) {
  let x = seed;
  return () => {
    x = (Math.imul(x, 48271) >>> 0) % 2147483647;
    return x / 2147483647;
  };
}

test('every level holds exactly the time that each kind took', () => {
  const roll = dice(7);
  const rows: { t0: number; t1: number; kind: string }[] = [];
  const total = new Map<string, number>();
  let t = 0;
  for (let i = 0; i < 3000; i++) {
    const kind = ['running', 'wait_srcu', 'runnable', 'wait_lock'][Math.floor(roll() * 4)]!;
    const length = Math.ceil(roll() ** 6 * 5e7) + 10;
    rows.push({ t0: t, t1: t + length, kind });
    total.set(kind, (total.get(kind) ?? 0) + length);
    t += length;
  }
  for (const level of strandOf(rows).levels) {
    for (const [kind, time] of total) {
      const local = [...level.kindOf].indexOf(kindOf(kind));
      let sum = 0;
      for (let b = 0; b < level.buckets; b++) sum += level.ns[b * level.kinds + local]!;
      expect(Math.abs(sum - time) / time).toBeLessThan(1e-4);
    }
  }
});

test('one wait of 50 ns in a minute of running is in every level', () => {
  const at = 31e9;
  const strand = strandOf([
    { t0: 0, t1: at, kind: 'running' },
    { t0: at, t1: at + 50, kind: 'wait_srcu' },
    { t0: at + 50, t1: 60e9, kind: 'running' },
  ]);
  for (const level of strand.levels) {
    const local = [...level.kindOf].indexOf(kindOf('wait_srcu'));
    const bucket = Math.floor(at / level.bucketNs);
    expect(level.ns[bucket * level.kinds + local]).toBeGreaterThan(0);
  }
});

test('an instant counts, and a span before the start is cut at the start', () => {
  const strand = strandOf([
    { t0: -5e6, t1: 1e6, kind: 'running' },
    { t0: 3e6, t1: 3e6, kind: 'wait_lock' },
  ]);
  const level = strand.levels[0]!;
  const local = (kind: string) => [...level.kindOf].indexOf(kindOf(kind));
  expect(level.ns[local('running')]).toBe(1e6);
  const bucket = Math.floor(3e6 / level.bucketNs);
  expect(level.ns[bucket * level.kinds + local('wait_lock')]).toBe(1);
});
