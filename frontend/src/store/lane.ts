// SPDX-License-Identifier: GPL-2.0-or-later
/** One lane as it came: columns, rows, watermark, what was lost on the way. */

import { type Nanos, ns } from '../base/units.ts';
import type {
  BatchMessage,
  GapMessage,
  LaneMessage,
  LensMessage,
  LineMessage,
  LossMessage,
  MetricsMessage,
  RowsMessage,
  SampleMessage,
} from '../protocol/messages.ts';
import { Gaps } from './gaps.ts';
import { type LaneSample, Samples } from './samples.ts';
import { LinkColumns, OpColumns, PointColumns, SpanColumns } from './tables.ts';

export interface Row {
  readonly row: number;
  readonly tid: number;
  readonly name: string;
  readonly role: 'thread' | 'other' | 'track';
}

export interface Loss {
  readonly t0: Nanos;
  readonly t1: Nanos;
  /** null: it is not known how many. */
  readonly events: number | null;
  readonly where: string;
}

/** How much of a lane is kept; beyond it the oldest goes, a quarter at a time. */
export interface Limits {
  readonly spans: number;
  readonly lines: number;
}

export const defaultLimits: Limits = { spans: 1_500_000, lines: 200 };

const endPhases: ReadonlySet<LaneMessage['phase']> = new Set(['done', 'stopped', 'failed']);

type Growing = 'spans' | 'ops' | 'links' | 'points';
type TableName = Growing | 'open';

const tableNames: ReadonlySet<string> = new Set(['spans', 'ops', 'links', 'points', 'open']);

function isTable(name: string): name is TableName {
  return tableNames.has(name);
}

export class LaneStore {
  readonly arm: string;
  readonly spans = new SpanColumns();
  readonly ops = new OpColumns();
  readonly links = new LinkColumns();
  readonly points = new PointColumns();
  /** Spans still open at the watermark; replaced as a whole. */
  readonly open = new SpanColumns();
  rows: readonly Row[] = [];
  watermark: Nanos = ns(0);
  /** Entries before this were evicted; earlier times are history that is gone, not idle. */
  historyFrom: Nanos = ns(0);
  losses: readonly Loss[] = [];
  lines: readonly LineMessage[] = [];
  state: LaneMessage | null = null;
  metrics: MetricsMessage | null = null;
  /** How each lens is; one that is not here was not wanted in this run. */
  readonly lenses = new Map<LensMessage['lens'], LensMessage>();
  /** Samples since the workload's start. */
  looks = 0;
  /** More of a recording is still to come. */
  coming = false;
  readonly #samples = new Samples();
  /** Rises with every change of rows or columns. */
  version = 0;
  #limits: Limits;
  readonly #gaps = new Gaps();

  constructor(arm: string, limits: Limits) {
    this.arm = arm;
    this.#limits = limits;
  }

  get gaps(): readonly GapMessage[] {
    return this.#gaps.list;
  }

  /** All that this lane will ever hold has come. */
  get ended(): boolean {
    return !this.coming && this.state !== null && endPhases.has(this.state.phase);
  }

  takeRows(message: RowsMessage): void {
    this.rows = [...message.rows].sort((a, b) => a.row - b.row);
    this.version += 1;
  }

  takeBatch(batch: BatchMessage): void {
    if (!isTable(batch.table)) return;
    if (batch.table === 'open') {
      // Replaced as a whole: no batch of it is missed.
      this.open.clear();
      this.open.append(batch.columns, batch.n);
    } else {
      const order = this.#gaps.order(batch);
      if (order === 'old') return;
      if (order === 'again') this.#restart(batch.table);
      if (batch.n > 0) this.#append(batch.table, batch);
    }
    if (batch.watermark_ns > this.watermark) this.watermark = ns(batch.watermark_ns);
    this.version += 1;
  }

  #append(table: Growing, batch: BatchMessage): void {
    if (table !== 'links') this.#closeGap(table, batch);
    this[table].append(batch.columns, batch.n);
    if (table === 'spans' && this.spans.length > this.#limits.spans) this.#evict();
    if (table === 'points' && this.points.length > this.#limits.spans) this.#evictPoints();
  }

  #restart(table: Growing): void {
    this[table].clear();
    this.#gaps.forget(table);
    if (table === 'spans') {
      this.losses = [];
      this.lines = [];
      this.historyFrom = ns(0);
    }
  }

  takeGap(gap: GapMessage): void {
    if (isTable(gap.table) && gap.table !== 'open' && this.#gaps.skip(gap))
      this.#restart(gap.table);
    this.#gaps.add(gap);
    this.version += 1;
  }

  /** What this browser was not sent lies between what it has and what comes now: lost here, not idle. */
  #closeGap(table: 'spans' | 'ops' | 'points', batch: BatchMessage): void {
    const rows = this.#gaps.close(table);
    if (rows === undefined) return;
    const { length } = this[table];
    const ends = table === 'points' ? this.points.t : this[table].t1;
    const from = length > 0 ? ends[length - 1]! : 0;
    const next = batch.columns[table === 'points' ? 't_ns' : 't1_ns'];
    const to = Math.max(from, next?.[0] ?? from);
    const events = rows > 0 ? rows : null;
    this.losses = [
      ...this.losses.slice(-999),
      { t0: ns(from), t1: ns(to), events, where: 'browser' },
    ];
  }

  takeLoss(loss: LossMessage): void {
    const { t0_ns, t1_ns, events, where } = loss;
    this.losses = [...this.losses.slice(-999), { t0: ns(t0_ns), t1: ns(t1_ns), events, where }];
    this.version += 1;
  }

  takeLine(line: LineMessage): void {
    this.lines = [...this.lines.slice(1 - this.#limits.lines), line];
  }

  /** What the x-ray saw of one structure, in order of time. Empty: it has not looked. */
  samples(probe: string): readonly LaneSample[] {
    return this.#samples.of(probe);
  }

  takeSample(message: SampleMessage): void {
    this.#samples.take(message);
    if (message.t_ns >= 0) this.looks += 1;
    this.version += 1;
  }

  takeLens(message: LensMessage): void {
    this.lenses.set(message.lens, message);
    this.version += 1;
  }

  takeMetrics(metrics: MetricsMessage): void {
    this.metrics = metrics;
    if (metrics.watermark_ns > this.watermark) {
      this.watermark = ns(metrics.watermark_ns);
      this.version += 1;
    }
  }

  #evictPoints(): void {
    this.points.evict(Math.floor(this.#limits.spans * 0.75));
    this.historyFrom = ns(Math.max(this.historyFrom, this.points.t[0] ?? 0));
  }

  #evict(): void {
    this.spans.evict(Math.floor(this.#limits.spans * 0.75));
    this.ops.evict(this.#limits.spans);
    this.links.evict(this.#limits.spans);
    this.historyFrom = ns(Math.max(this.historyFrom, this.spans.t1[0] ?? 0));
  }
}
