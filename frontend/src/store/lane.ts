// SPDX-License-Identifier: GPL-2.0-or-later
/** One lane as this browser received it: its tables, rows, watermark, and losses. */

import { firstAbove } from '../base/columns.ts';
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
  TypedColumn,
} from '../protocol/messages.ts';
import { type Growing, isTable, LaneTables, type Limits } from './tables.ts';

// Follows the sequence numbers of a table's batches.
// A jump in the numbers, or an explicit message, shows which batches the server did not send to this browser.

/** Maximum number of gaps in a lane's list. */
const mostGaps = 100;

class Gaps {
  list: readonly GapMessage[] = [];
  readonly #lastSeq = new Map<string, number>();
  /** For each table with a gap, the number of missing rows. A gap's end is unknown until the next batch arrives. */
  readonly #open = new Map<string, number>();

  /**
   * Tell whether a batch continues its table. `again` means that the numbers restart at 0, because the server resends
   * the complete table after a reconnect. `old` means that the batch was already received.
   */
  order({ run_id, arm, table, seq }: BatchMessage): 'next' | 'again' | 'old' {
    const last = this.#lastSeq.get(table) ?? -1;
    const again = seq <= last;
    if (again && seq !== 0) return 'old';
    if (seq > last + 1)
      this.add({ type: 'gap', run_id, arm, table, from_seq: last + 1, to_seq: seq - 1, rows: 0 });
    this.#lastSeq.set(table, seq);
    return again ? 'again' : 'next';
  }

  /**
   * Record that the server skipped these batches. Returns true if this browser had already received some of them, so
   * that the table must be reset.
   */
  skip({ table, from_seq, to_seq }: GapMessage): boolean {
    const again = from_seq <= (this.#lastSeq.get(table) ?? -1);
    this.#lastSeq.set(table, to_seq);
    return again;
  }

  add(gap: GapMessage): void {
    this.list = [...this.list.slice(1 - mostGaps), gap];
    this.#open.set(gap.table, (this.#open.get(gap.table) ?? 0) + gap.rows);
  }

  /**
   * Return the number of rows that are missing before the next batch: 0 if the number is unknown, undefined if no row
   * is missing.
   */
  close(table: string): number | undefined {
    const rows = this.#open.get(table);
    this.#open.delete(table);
    return rows;
  }

  forget(table: string): void {
    this.#open.delete(table);
    this.list = this.list.filter((gap) => gap.table !== table);
  }
}

// A loss in a lane: events that were dropped before they reached this browser, or rows that the server did not send.

export interface Loss {
  readonly t0: Nanos;
  readonly t1: Nanos;
  /** Number of lost events; null if the number is unknown. */
  readonly events: number | null;
  readonly where: string;
}

/** Maximum number of losses in a lane's list. If there are more, the oldest loss is removed. */
const mostLosses = 1000;

class Losses {
  list: readonly Loss[] = [];

  take({ t0_ns, t1_ns, events, where }: LossMessage): void {
    this.#add({ t0: ns(t0_ns), t1: ns(t1_ns), events, where });
  }

  /**
   * Record that the server did not send the rows between the last received row and the next batch. Events in this
   * interval were lost, so the lane was not idle.
   *
   * @param next_ns undefined if no row follows
   * @param rows 0 if the number of rows is unknown
   */
  notSent(last_ns: number, next_ns: number | undefined, rows: number): void {
    const to = Math.max(last_ns, next_ns ?? last_ns);
    const events = rows > 0 ? rows : null;
    this.#add({ t0: ns(last_ns), t1: ns(to), events, where: 'browser' });
  }

  clear(): void {
    this.list = [];
  }

  #add(loss: Loss): void {
    this.list = [...this.list.slice(1 - mostLosses), loss];
  }
}

// X-ray samples by probe, in order of time. Their total size is limited, and the oldest samples are evicted.

/** One sample of a structure in the running kernel. Its columns, facts and texts depend on the probe. */
export interface LaneSample {
  readonly seq: number;
  /** Time since the workload's start; negative before the start. */
  readonly t: Nanos;
  /** Maximum error of `t`. */
  readonly error: Nanos;
  readonly clock: 'host' | 'guest';
  readonly took_ns: number;
  readonly n: number;
  readonly columns: Readonly<Record<string, TypedColumn>>;
  readonly facts: Readonly<Record<string, number>>;
  readonly texts: readonly string[];
  /** Number of torn reads of this lens so far. `failed` is the number of failed reads. */
  readonly torn: number;
  readonly failed: number;
}

export const sampleLimits = { bytes: 96 << 20, samples: 20_000 };

const bytesOf = (sample: LaneSample) =>
  Object.values(sample.columns).reduce((sum, column) => sum + column.byteLength, 512);

export class Samples {
  readonly #byProbe = new Map<string, LaneSample[]>();
  readonly #newest = new Map<string, number>();
  readonly #limits: typeof sampleLimits;
  #bytes = 0;

  constructor(limits = sampleLimits) {
    this.#limits = limits;
  }

  of(probe: string): readonly LaneSample[] {
    return this.#byProbe.get(probe) ?? none;
  }

  /** The probes that have samples, in order of their first samples. */
  probes(): readonly string[] {
    return [...this.#byProbe.keys()];
  }

  take(message: SampleMessage): void {
    const { seq, clock, took_ns, n, columns, facts, texts, torn, failed } = message;
    const times = { t: ns(message.t_ns), error: ns(message.error_ns) };
    const sample = { seq, ...times, clock, took_ns, n, columns, facts, texts, torn, failed };
    const list = this.#list(message.probe, seq);
    if (list === null) return;
    list.push(sample);
    // Samples can arrive in the wrong order if their guest times differ by less than their errors.
    for (let at = list.length - 1; at > 0 && list[at - 1]!.t > list[at]!.t; at -= 1) {
      [list[at - 1], list[at]] = [list[at]!, list[at - 1]!];
    }
    this.#bytes += bytesOf(sample);
    this.#evict(list);
  }

  /**
   * A repeated sequence number marks a duplicate sample. The exception is 0, which means that the server resends all
   * samples after a reconnect.
   */
  #list(probe: string, seq: number): LaneSample[] | null {
    const list = this.#byProbe.get(probe);
    const newest = this.#newest.get(probe) ?? -1;
    if (list !== undefined && seq <= newest && seq !== 0) return null;
    this.#newest.set(probe, seq);
    if (list !== undefined && seq > newest) return list;
    for (const old of list ?? []) this.#bytes -= bytesOf(old);
    const fresh: LaneSample[] = [];
    this.#byProbe.set(probe, fresh);
    return fresh;
  }

  #evict(list: LaneSample[]): void {
    while (
      list.length > 1 &&
      (list.length > this.#limits.samples || this.#bytes > this.#limits.bytes)
    ) {
      this.#bytes -= bytesOf(list.shift()!);
    }
  }
}

const none: readonly LaneSample[] = [];

/** The newest sample at or before a moment; null if there is none. */
export function sampleAt(samples: readonly LaneSample[], moment: Nanos): LaneSample | null {
  const after = firstAbove(samples.length, (i) => samples[i]!.t, moment);
  return samples[after - 1] ?? null;
}

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
  /** The state of each lens that this run requested. */
  readonly lenses = new Map<LensMessage['lens'], LensMessage>();
  /** Number of samples taken since the workload's start. */
  looks = 0;
  /** Whether more data of a recording will arrive. */
  coming = false;
  readonly #samples = new Samples();
  /** A number that increases whenever rows or columns change. */
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

  /** Whether the lane has ended and all its data have arrived. */
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
      // Each batch contains the complete table of open spans, so no gap can remain.
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

  /** If the server did not send the rows before this batch, record a loss. */
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

  /** A repeated line means that the server resends lines from this line on, possibly before it resends the tables. */
  takeLine(line: LineMessage): void {
    const at = this.lines.findIndex((one) => one.t_ns === line.t_ns && one.text === line.text);
    const before = at < 0 ? this.lines.slice(1 - this.limits.lines) : this.lines.slice(0, at);
    this.lines = [...before, line];
  }

  /** The x-ray samples of a probe, in order of time; empty if the probe has none. */
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
