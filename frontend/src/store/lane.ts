// SPDX-License-Identifier: GPL-2.0-or-later
/** One lane as it came: tables, rows, watermark, what was lost on the way. */

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
import { type Growing, isTable, LaneTables, type Limits } from './lane-tables.ts';
import { type Loss, Losses } from './losses.ts';
import { type LaneSample, Samples } from './samples.ts';

export interface Row {
  readonly row: number;
  readonly tid: number;
  readonly name: string;
  readonly role: 'thread' | 'other' | 'track';
}

const endPhases: ReadonlySet<LaneMessage['phase']> = new Set(['done', 'stopped', 'failed']);

export class LaneStore extends LaneTables {
  readonly arm: string;
  rows: readonly Row[] = [];
  watermark: Nanos = ns(0);
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
  readonly #gaps = new Gaps();
  readonly #losses = new Losses();

  constructor(arm: string, limits: Limits) {
    super(limits);
    this.arm = arm;
  }

  get gaps(): readonly GapMessage[] {
    return this.#gaps.list;
  }

  get losses(): readonly Loss[] {
    return this.#losses.list;
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
      if (batch.n > 0) this.#takeRowsOf(batch.table, batch);
    }
    if (batch.watermark_ns > this.watermark) this.watermark = ns(batch.watermark_ns);
    this.version += 1;
  }

  #takeRowsOf(table: Growing, batch: BatchMessage): void {
    if (table !== 'links') this.#closeGap(table, batch);
    this.append(table, batch.columns, batch.n);
  }

  #restart(table: Growing): void {
    this.beginAnew(table);
    this.#gaps.forget(table);
    if (table === 'spans') this.#losses.clear();
  }

  takeGap(gap: GapMessage): void {
    if (isTable(gap.table) && gap.table !== 'open' && this.#gaps.skip(gap))
      this.#restart(gap.table);
    this.#gaps.add(gap);
    this.version += 1;
  }

  /** What this browser was not sent before this batch is lost. */
  #closeGap(table: 'spans' | 'ops' | 'points', batch: BatchMessage): void {
    const rows = this.#gaps.close(table);
    if (rows === undefined) return;
    const { length } = this[table];
    const ends = table === 'points' ? this.points.t : this[table].t1;
    const from = length > 0 ? ends[length - 1]! : 0;
    const next = batch.columns[table === 'points' ? 't_ns' : 't1_ns'];
    this.#losses.notSent(from, next?.[0], rows);
  }

  takeLoss(loss: LossMessage): void {
    this.#losses.take(loss);
    this.version += 1;
  }

  /** A line that is there already is sent again, and so are those after it; it may come before the tables begin anew. */
  takeLine(line: LineMessage): void {
    const at = this.lines.findIndex((one) => one.t_ns === line.t_ns && one.text === line.text);
    const before = at < 0 ? this.lines.slice(1 - this.limits.lines) : this.lines.slice(0, at);
    this.lines = [...before, line];
  }

  /** What the x-ray saw of one structure, in order of time. Empty: it has not looked. */
  samples(probe: string): readonly LaneSample[] {
    return this.#samples.of(probe);
  }

  probes(): readonly string[] {
    return this.#samples.probes();
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
    const started = this.metrics?.start_ns !== metrics.start_ns;
    this.metrics = metrics;
    const farther = metrics.watermark_ns > this.watermark;
    if (farther) this.watermark = ns(metrics.watermark_ns);
    if (farther || started) this.version += 1;
  }
}
