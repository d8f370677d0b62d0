// SPDX-License-Identifier: GPL-2.0-or-later

import { describe, expect, test } from 'vitest';
import { cell, indexOf } from '../../test/fixtures/drawing.ts';
import { pointBatch } from '../../test/fixtures/extents.ts';
import { kindNames, kindOf, testLesson } from '../../test/fixtures/lesson.ts';
import { runMessage, spanBatch } from '../../test/fixtures/messages.ts';
import { Store } from '../store/store.ts';
import { PointColumns } from '../store/tables.ts';
import { PointIndex, pointRange, pointsUpTo } from './lane-index.ts';
import { opsUpTo, spanAt, spansIn, statesAt } from './query.ts';
import { indexRun } from './run-index.ts';
import type { Order, RunIndex } from './types.ts';

describe('lane index', () => {
  /** A drawing of the index: the state of each hog in each cell. */
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
    expect([...strand.order.subarray(0, strand.length)].map((i) => t0[i])).toEqual([
      10, 20, 30, 60,
    ]);
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
    const at = (t: number) =>
      statesAt(index.lanes[0]!, t * cell).map((s) => s && kindNames[s.kind]);
    expect(at(1.5)).toEqual(['running', 'wait_srcu']);
    expect(at(2.5)).toEqual(['wait_srcu', 'running']);
  });
});

// In the level-of-detail pyramid, the total time stays the same, and a short wait never has time 0.
describe('strand', () => {
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
});

// Points by name, in order of time, while the table grows and after its oldest rows were evicted.
describe('points', () => {
  const names = ['visit', 'insert'];
  type Row = readonly [string, number, ...number[]];

  function table(rows: readonly Row[]): PointColumns {
    const columns = new PointColumns();
    add(columns, rows);
    return columns;
  }

  function add(columns: PointColumns, rows: readonly Row[]): void {
    columns.append(pointBatch('r', 'a', names, rows).columns as never, rows.length);
  }

  const times = (columns: PointColumns, { order, length }: Order) =>
    Array.from(order.subarray(0, length), (i) => columns.t[i]);

  test('each name has its own, unknown names have none', () => {
    const columns = table([
      ['visit', 1],
      ['insert', 2],
      ['visit', 3],
    ]);
    const index = new PointIndex(columns, names);
    index.update();
    expect(times(columns, index.of('visit'))).toEqual([1, 3]);
    expect(times(columns, index.of('insert'))).toEqual([2]);
    expect(index.of('nothing').length).toBe(0);
  });

  test('it grows with the table', () => {
    const columns = table([['visit', 1]]);
    const index = new PointIndex(columns, names);
    index.update();
    for (let t = 2; t <= 200; t++) add(columns, [[t % 2 ? 'visit' : 'insert', t]]);
    index.update();
    expect(index.of('visit').length).toBe(100);
    expect(times(columns, index.of('insert')).slice(0, 3)).toEqual([2, 4, 6]);
  });

  test('when the oldest go it is made anew', () => {
    const columns = table([
      ['visit', 1],
      ['insert', 2],
      ['visit', 3],
      ['visit', 4],
    ]);
    const index = new PointIndex(columns, names);
    index.update();
    columns.evict(2);
    index.update();
    expect(times(columns, index.of('visit'))).toEqual([3, 4]);
    expect(index.of('insert').length).toBe(0);
  });

  test('ranges are half open, "up to" has its end in it', () => {
    const columns = table([10, 20, 20, 30].map((t): Row => ['visit', t]));
    const index = new PointIndex(columns, names);
    index.update();
    const of = index.of('visit');
    expect(pointRange(columns, of, 20, 30)).toEqual({ from: 1, to: 3 });
    expect(pointRange(columns, of, 31, 40)).toEqual({ from: 4, to: 4 });
    expect([9, 10, 20, 30, 99].map((t) => pointsUpTo(columns, of, t))).toEqual([0, 1, 3, 4, 4]);
  });
});
