// SPDX-License-Identifier: GPL-2.0-or-later
import { expect, test } from 'vitest';
import { cell, indexOf } from '../../test/fixtures/drawing.ts';
import { kindNames, kindOf, testLesson } from '../../test/fixtures/lesson.ts';
import { runMessage, spanBatch } from '../../test/fixtures/messages.ts';
import { Store } from '../store/store.ts';
import { opsUpTo, spanAt, spansIn, statesAt } from './query.ts';
import { indexRun } from './run-index.ts';
import type { RunIndex } from './types.ts';

/** The state of each hog per cell, as a drawing. */
function redraw(index: RunIndex, cells: number): string[] {
  const lane = index.lanes[0]!;
  const short: Record<string, string> = {
    running: 'R',
    runnable: 'r',
    wait_lock: 'L',
    wait_srcu: 'S',
    wait_exp: 'E',
  };
  return lane.rows.map((_, row) =>
    Array.from({ length: cells }, (_c, i) => {
      const span = spanAt(lane, row, 'state', (i + 0.5) * cell);
      return span === null ? '.' : (short[kindNames[span.kind]!] ?? '?');
    }).join(''),
  );
}

test('what was drawn is what the index finds, cell by cell', () => {
  const index = indexOf(`
    srcu
    storm-0  RRRRSSSSSSRR
    storm-1  ..RRRREESSSS
    storm-2  rrrrR...RRLL
  `);
  expect(redraw(index, 12)).toEqual(['RRRRSSSSSSRR', '..RRRREESSSS', 'rrrrR...RRLL']);
});

test('a span that is still open is found up to the watermark and not beyond', () => {
  const index = indexOf(
    `
    srcu
    storm-0  RRRSS____
  `,
    true,
  );
  expect(redraw(index, 12)).toEqual(['RRRSSSSSS...']);
  expect(spanAt(index.lanes[0]!, 0, 'state', 4.5 * cell)!.open).toBe(true);
});

function laneOf(
  rows: { t0: number; t1: number; row?: number; kind?: string }[],
  store = new Store(),
) {
  store.lesson.set(testLesson);
  store.dispatch(runMessage('r', ['a'], 'running', 'live'));
  const spans = rows.map((r) => ({
    t0: r.t0,
    t1: r.t1,
    row: r.row ?? 0,
    kind: kindOf(r.kind ?? 'running'),
  }));
  store.dispatch(spanBatch({ runId: 'r', arm: 'a', seq: 0, watermark: 1e9 }, spans));
  return { store, index: () => indexRun(store.shown()!, testLesson) };
}

test('function spans come in order of their end and are kept in order of their begin', () => {
  const { index } = laneOf([
    { t0: 30, t1: 40, kind: 'srcu_call' },
    { t0: 20, t1: 50, kind: 'unregister' },
    { t0: 60, t1: 65, kind: 'srcu_call' },
    { t0: 10, t1: 90, kind: 'reader' },
  ]);
  const strand = index().lanes[0]!.strand(0, 'function')!;
  const { t0 } = index().lanes[0]!.spans;
  expect([...strand.order.subarray(0, strand.length)].map((i) => t0[i])).toEqual([10, 20, 30, 60]);
  const seen = [...spansIn(index().lanes[0]!, 'function', 80, 85)].map((s) => kindNames[s.kind]);
  expect(seen).toEqual(['reader']);
});

test('the index grows with the store and reads nothing twice', () => {
  const { store, index } = laneOf([{ t0: 0, t1: 10 }]);
  const first = index();
  expect(index()).toBe(first);
  const more = [{ t0: 10, t1: 20, row: 0, kind: 0 }];
  store.dispatch(spanBatch({ runId: 'r', arm: 'a', seq: 1, watermark: 1e9 }, more));
  const second = index();
  expect(second).not.toBe(first);
  expect(second.lanes[0]).toBe(first.lanes[0]);
  expect(second.lanes[0]!.strand(0, 'state')!.length).toBe(2);
});

test('eviction leaves an index that still finds what is kept, and the pyramid its history', () => {
  const store = new Store({ spans: 100, lines: 5 });
  const { index } = laneOf([], store);
  for (let seq = 1; seq < 60; seq++) {
    const spans = Array.from({ length: 10 }, (_, i) => {
      const t0 = ((seq - 1) * 10 + i) * 1e6;
      return { t0, t1: t0 + 1e6, row: i % 2, kind: kindOf('running') };
    });
    store.dispatch(spanBatch({ runId: 'r', arm: 'a', seq, watermark: spans[9]!.t1 }, spans));
    const lane = index().lanes[0]!;
    const last = spans[9]!;
    expect(spanAt(lane, 1, 'state', last.t0 + 5)!.t0).toBe(last.t0);
  }
  const lane = index().lanes[0]!;
  const kept = lane.strands.reduce((sum, s) => sum + s.length, 0);
  expect(kept).toBe(lane.spans.length);
  expect(spanAt(lane, 0, 'state', 5)).toBeNull();
  expect(lane.strand(0, 'state')!.levels[0]!.ns[0]).toBeGreaterThan(0);
});

test('a table that is sent anew is indexed anew', () => {
  const { store, index } = laneOf([
    { t0: 0, t1: 10, kind: 'wait_srcu' },
    { t0: 10, t1: 12 },
  ]);
  expect(index().lanes[0]!.longestWait).toBe(10);
  const again = [{ t0: 0, t1: 4, row: 0, kind: kindOf('wait_srcu') }];
  store.dispatch(spanBatch({ runId: 'r', arm: 'a', seq: 0, watermark: 1e9 }, again));
  expect(index().lanes[0]!.longestWait).toBe(4);
  expect(index().lanes[0]!.strand(0, 'state')!.length).toBe(1);
});

test('operations so far are counted at their end', () => {
  const index = indexOf(`
    rwsem
    storm-0  RR!RRR!RR!
    storm-1  RRRR!RRRR!
  `);
  const counts = [0, 2.9, 3, 5, 7, 9.9, 10].map((t) => opsUpTo(index.lanes[0]!, t * cell));
  expect(counts).toEqual([0, 0, 1, 2, 3, 3, 5]);
});

test('states at a moment, in order of hogs', () => {
  const index = indexOf(`
    srcu
    storm-0  RRSS
    storm-1  SSRR
    grace-period AAAC
  `);
  const at = (t: number) => statesAt(index.lanes[0]!, t * cell).map((s) => s && kindNames[s.kind]);
  expect(at(1.5)).toEqual(['running', 'wait_srcu']);
  expect(at(2.5)).toEqual(['wait_srcu', 'running']);
});
