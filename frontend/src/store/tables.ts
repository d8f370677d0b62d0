// SPDX-License-Identifier: GPL-2.0-or-later
/** Tables as structures of arrays. Appending is cheap, and rows move only when the oldest rows are evicted. */

import { type Column, growColumn } from '../base/columns.ts';
import { type Nanos, ns } from '../base/units.ts';
import type { BatchMessage, TypedColumn } from '../protocol/messages.ts';

/** Spans as a structure of arrays, in order of arrival. The first `length` rows are valid; the arrays can be longer. */
export interface SpanTable {
  readonly length: number;
  readonly t0: Float64Array;
  readonly t1: Float64Array;
  readonly row: Int32Array;
  readonly kind: Uint8Array;
  readonly cpu: Int16Array;
  readonly arg: Float64Array;
  readonly id: Uint32Array;
}

export interface OpTable {
  readonly length: number;
  readonly t0: Float64Array;
  readonly t1: Float64Array;
  readonly row: Int32Array;
  readonly ok: Uint8Array;
  readonly id: Uint32Array;
}

export interface LinkTable {
  readonly length: number;
  readonly t: Float64Array;
  readonly from: Int32Array;
  readonly to: Int32Array;
  readonly kind: Uint8Array;
  readonly id: Uint32Array;
}

/** Single events with their fields, as a structure of arrays in order of time. */
export interface PointTable {
  readonly length: number;
  readonly t: Float64Array;
  /** Index of each event's point in the lesson's list of points. */
  readonly kind: Uint8Array;
  readonly cpu: Int16Array;
  readonly tid: Int32Array;
  readonly a: Float64Array;
  readonly b: Float64Array;
  readonly c: Float64Array;
  readonly d: Float64Array;
  readonly e: Float64Array;
  readonly f: Float64Array;
  readonly id: Uint32Array;
}

/** Thrown if a batch lacks a column that its table needs. */
export class ColumnMissing extends Error {
  override readonly name = 'ColumnMissing';
}

type Columns = Readonly<Record<string, TypedColumn>>;

/** A growing table. `wire` maps each column to its name in a batch. */
abstract class GrowingTable {
  length = 0;
  /** Number of rows that were evicted since the start, because memory is limited. */
  evicted = 0;
  /** A number that changes when rows have moved. Readers must then read all rows again. */
  epoch = 0;
  protected abstract readonly wire: Readonly<Record<string, string>>;

  #column(name: string): Column {
    return (this as unknown as Record<string, Column>)[name]!;
  }

  append(columns: Columns, n: number): void {
    const names = Object.entries(this.wire);
    for (const [, wire] of names) {
      if (columns[wire] === undefined) throw new ColumnMissing(`a batch lacks the column ${wire}`);
    }
    for (const [name, wire] of names) {
      const target = growColumn(this.#column(name), this.length, this.length + n);
      target.set(columns[wire]!.subarray(0, n) as never, this.length);
      (this as unknown as Record<string, Column>)[name] = target;
    }
    this.length += n;
  }

  clear(): void {
    this.length = 0;
    this.evicted = 0;
    this.epoch += 1;
  }

  /** Evict the oldest rows until at most `keep` rows remain. */
  evict(keep: number): void {
    const drop = this.length - keep;
    if (drop <= 0) return;
    for (const name of Object.keys(this.wire)) this.#column(name).copyWithin(0, drop, this.length);
    this.length = keep;
    this.evicted += drop;
    this.epoch += 1;
  }
}

export class SpanColumns extends GrowingTable implements SpanTable {
  protected readonly wire = {
    t0: 't0_ns',
    t1: 't1_ns',
    row: 'row',
    kind: 'kind',
    cpu: 'cpu',
    arg: 'arg',
    id: 'id',
  };
  t0 = new Float64Array(0);
  t1 = new Float64Array(0);
  row = new Int32Array(0);
  kind = new Uint8Array(0);
  cpu = new Int16Array(0);
  arg = new Float64Array(0);
  id = new Uint32Array(0);
}

export class OpColumns extends GrowingTable implements OpTable {
  protected readonly wire = { t0: 't0_ns', t1: 't1_ns', row: 'row', ok: 'ok', id: 'id' };
  t0 = new Float64Array(0);
  t1 = new Float64Array(0);
  row = new Int32Array(0);
  ok = new Uint8Array(0);
  id = new Uint32Array(0);
}

export class LinkColumns extends GrowingTable implements LinkTable {
  protected readonly wire = { t: 't_ns', from: 'from_row', to: 'to_row', kind: 'kind', id: 'id' };
  t = new Float64Array(0);
  from = new Int32Array(0);
  to = new Int32Array(0);
  kind = new Uint8Array(0);
  id = new Uint32Array(0);
}

export class PointColumns extends GrowingTable implements PointTable {
  protected readonly wire = {
    t: 't_ns',
    kind: 'kind',
    cpu: 'cpu',
    tid: 'tid',
    a: 'a',
    b: 'b',
    c: 'c',
    d: 'd',
    e: 'e',
    f: 'f',
    id: 'id',
  };
  t = new Float64Array(0);
  kind = new Uint8Array(0);
  cpu = new Int16Array(0);
  tid = new Int32Array(0);
  a = new Float64Array(0);
  b = new Float64Array(0);
  c = new Float64Array(0);
  d = new Float64Array(0);
  e = new Float64Array(0);
  f = new Float64Array(0);
  id = new Uint32Array(0);
}

// The tables of a lane, up to a maximum size. If they grow larger, the oldest rows are evicted.

/** Maximum number of rows per table. If a table has more rows, its oldest quarter is evicted. */
export interface Limits {
  readonly spans: number;
  readonly lines: number;
}

export const defaultLimits: Limits = { spans: 1_500_000, lines: 200 };

export type Growing = 'spans' | 'ops' | 'links' | 'points';
type TableName = Growing | 'open';

const tableNames: ReadonlySet<string> = new Set(['spans', 'ops', 'links', 'points', 'open']);

export function isTable(name: string): name is TableName {
  return tableNames.has(name);
}

export class LaneTables {
  readonly spans = new SpanColumns();
  readonly ops = new OpColumns();
  readonly links = new LinkColumns();
  readonly points = new PointColumns();
  /** Spans that are still open at the watermark. Each batch replaces the complete table. */
  readonly open = new SpanColumns();
  /** Start of the lane's known history, because earlier rows were evicted. Time before it is unknown, not idle. */
  historyFrom: Nanos = ns(0);
  protected readonly limits: Limits;

  constructor(limits: Limits) {
    this.limits = limits;
  }

  protected append(table: Growing, columns: BatchMessage['columns'], n: number): void {
    this[table].append(columns, n);
    if (table === 'spans' && this.spans.length > this.limits.spans) this.#evict();
    if (table === 'points' && this.points.length > this.limits.spans) this.#evictPoints();
  }

  /** Reset a table. Resetting the table of spans also resets the start of the history. */
  protected beginAnew(table: Growing): void {
    this[table].clear();
    if (table === 'spans') this.historyFrom = ns(0);
  }

  #evictPoints(): void {
    this.points.evict(Math.floor(this.limits.spans * 0.75));
    this.historyFrom = ns(Math.max(this.historyFrom, this.points.t[0] ?? 0));
  }

  #evict(): void {
    this.spans.evict(Math.floor(this.limits.spans * 0.75));
    this.ops.evict(this.limits.spans);
    this.links.evict(this.limits.spans);
    this.historyFrom = ns(Math.max(this.historyFrom, this.spans.t1[0] ?? 0));
  }
}
