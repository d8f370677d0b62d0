// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Describes the window in words and figures: the share of time in each state, and a table of the marks near the moment.
 */

import { firstAtLeast } from '../base/columns.ts';
import { t } from '../base/lang/t.ts';
import { formatMoment, formatNs, type Nanos, ns, plural } from '../base/units.ts';
import { laneTime } from './align.ts';
import { figure, lengthOf } from './figures.ts';
import {
  isStale,
  isWait,
  markOf,
  opsUpTo,
  type SpanRecord,
  spanRecord,
  spansIn,
  threadRows,
} from './query.ts';
import type { Frame, LaneIndex, Mark, RunIndex, Strand } from './types.ts';
import { armTitle, severalOf, shareWords, shortTitle, type Titles } from './words.ts';

export interface StateShare {
  readonly kind: number;
  readonly title: string;
  /** Time in the state as a share of the time of all threads in the window, 0 to 1. */
  readonly share: number;
  readonly ns: number;
  readonly n: number;
}

export interface LaneSummary {
  readonly arm: string;
  readonly title: string;
  readonly threads: number;
  /** Number of operations that ended in the window. */
  readonly ops: number;
  readonly shares: readonly StateShare[];
  readonly losses: number;
  readonly sentence: string;
}

/** Summarise the window for each lane, including the share of the threads' time in each state. */
export function summaryOf(index: RunIndex, frame: Frame, titles: Titles): LaneSummary[] {
  return index.lanes.map((lane) => {
    const a = laneTime(frame.offset, lane.arm, frame.start);
    const b = Math.max(a, Math.min(a + frame.span, lane.watermark));
    const rows = new Set(threadRows(lane).map((row) => row.row));
    const time = new Float64Array(index.kinds.length);
    const counts = new Uint32Array(index.kinds.length);
    for (const span of spansIn(lane, 'state', a, b)) {
      if (!rows.has(span.row)) continue;
      time[span.kind] = time[span.kind]! + Math.min(span.t1, b) - Math.max(span.t0, a);
      counts[span.kind] = counts[span.kind]! + 1;
    }
    const whole = rows.size * (b - a);
    const shares = index.kinds
      .map((kind, i) => ({
        kind: i,
        title: shortTitle(kind),
        share: whole > 0 ? time[i]! / whole : 0,
        ns: time[i]!,
        n: counts[i]!,
      }))
      .filter((s) => s.n > 0)
      .sort((x, y) => y.share - x.share);
    const title = armTitle(titles, lane);
    const ops = opsUpTo(lane, b) - opsUpTo(lane, a);
    const losses = lane.losses.filter((l) => l.t0 < b && l.t1 >= a).length;
    const parts = shares
      .slice(0, 4)
      .map((s) => `${shareWords(lane, index.kinds[s.kind]!, s.share)} ${s.title}`);
    const length = figure('window', lane.arm, 'length', b - a, formatNs(b - a));
    const { name: one, plural: many } = titles.operation;
    const done = figure('window', lane.arm, 'ops', ops, plural(ops, one, many));
    const lost = losses > 0 ? t(' Events were lost here, so the shares may be wrong.') : '';
    const sentence =
      shares.length === 0
        ? t('{title}: no data for this window.', { title })
        : t(
            "{title}, {length} of this window: {done}; shares of the {thread}' time: {list}.{lost}",
            {
              title,
              length,
              done,
              thread: severalOf(titles.thread),
              list: parts.join(', '),
              lost,
            },
          );
    return { arm: lane.arm, title, threads: rows.size, ops, shares, losses, sentence };
  });
}

export interface NearbyRow {
  readonly mark: Mark;
  /** Start of the mark, in frame time. */
  readonly t0: Nanos;
  readonly when: string;
  readonly lane: string;
  readonly row: string;
  readonly what: string;
  readonly length: string;
  readonly cpu: string;
}

const mostNearby = 50;

/** The marks nearest to the moment, at most 50, in order of time. */
export function nearbyOf(index: RunIndex, frame: Frame, titles: Titles): NearbyRow[] {
  const found: { span: SpanRecord; lane: LaneIndex; t0: number; far: number }[] = [];
  for (const lane of index.lanes) {
    const shift = frame.offset.get(lane.arm) ?? 0;
    const t = frame.moment - shift;
    // Unless the picture is nearly empty, a window around the moment contains more than 50 marks.
    for (const layer of ['state', 'function', 'track'] as const) {
      for (const span of spansIn(lane, layer, t - frame.span / 2, t + frame.span / 2)) {
        const far = Math.max(0, span.t0 - t, t - span.t1);
        found.push({ span, lane, t0: span.t0 + shift, far });
      }
    }
  }
  found.sort((a, b) => a.far - b.far || b.t0 - a.t0);
  return found
    .slice(0, mostNearby)
    .sort((a, b) => a.t0 - b.t0)
    .map(({ span, lane, t0 }) => ({
      mark: markOf(lane.arm, span),
      t0: ns(t0),
      when: formatMoment(t0, frame.span / 10),
      lane: armTitle(titles, lane),
      row: lane.rows.find((r) => r.row === span.row)?.name ?? String(span.row),
      what: index.kinds[span.kind]?.title ?? 'unknown',
      length: `${lengthOf(markOf(lane.arm, span))}${span.open ? t(', not finished yet') : ''}`,
      cpu: span.cpu < 0 ? '' : String(span.cpu),
    }));
}

// The time that a lane's threads have spent in the lesson's waits from the start to a moment.
// It is computed from prefix sums for each strand, by binary search.

export interface Waited {
  /** Total waiting time, ns. */
  readonly ns: number;
  /** Waiting time as a share of the total time of all threads, 0 to 1. */
  readonly share: number;
  /** The longest wait that has begun; null if no wait has begun. */
  readonly longest: SpanRecord | null;
}

/**
 * For each position in a strand's order: the total of the waits before it, ns, and the table index of the longest of
 * these waits (-1 without waits).
 */
interface Sums {
  readonly length: number;
  readonly ns: Float64Array;
  readonly longest: Int32Array;
}

const known = new WeakMap<Strand, Sums>();

function sumsOf(index: RunIndex, lane: LaneIndex, strand: Strand): Sums {
  const found = known.get(strand);
  if (found?.length === strand.length) return found;
  const { t0, t1, kind } = lane.spans;
  const ns = new Float64Array(strand.length + 1);
  const longest = new Int32Array(strand.length + 1).fill(-1);
  let [sum, most, at] = [0, 0, -1];
  for (let p = 0; p < strand.length; p++) {
    const i = strand.order[p]!;
    const length = t1[i]! - t0[i]!;
    if (isWait(index.kinds[kind[i]!])) {
      sum += length;
      if (length > most) [most, at] = [length, i];
    }
    ns[p + 1] = sum;
    longest[p + 1] = at;
  }
  const made = { length: strand.length, ns, longest };
  known.set(strand, made);
  return made;
}

/**
 * The lesson's waits from the start to `t` (lane time, ns). Null if they are unknown, because history was evicted,
 * events were lost, or data up to `t` have not arrived. The total includes a running wait only up to `t`, but `longest`
 * contains the complete wait.
 */
export function waitedUpTo(index: RunIndex, lane: LaneIndex, t: number): Waited | null {
  const rows = threadRows(lane);
  if (t <= 0 || t > lane.watermark || rows.length === 0 || lane.historyFrom > 0) return null;
  if (lane.losses.some((loss) => loss.t0 < t)) return null;
  let ns = 0;
  let longest: SpanRecord | null = null;
  const consider = (span: SpanRecord) => {
    if (longest === null || span.t1 - span.t0 > longest.t1 - longest.t0) longest = span;
  };
  for (const { row } of rows) {
    const strand = lane.strand(row, 'state');
    if (strand === null) continue;
    const p = firstAtLeast(strand.length, (i) => lane.spans.t0[strand.order[i]!]!, t);
    const sums = sumsOf(index, lane, strand);
    ns += sums.ns[p]!;
    const most = sums.longest[p]!;
    if (most >= 0) consider(spanRecord(lane.spans, most, false));
    const last = p > 0 ? strand.order[p - 1]! : -1;
    if (last >= 0 && isWait(index.kinds[lane.spans.kind[last]!]))
      ns -= Math.max(0, lane.spans.t1[last]! - t);
  }
  const own = new Set(rows.map(({ row }) => row));
  const { open } = lane;
  for (let i = 0; i < open.length; i++) {
    if (!own.has(open.row[i]!) || open.t0[i]! >= t || !isWait(index.kinds[open.kind[i]!])) continue;
    if (isStale(lane, 'state', i)) continue;
    ns += Math.min(open.t1[i]!, t) - open.t0[i]!;
    consider(spanRecord(open, i, true));
  }
  return { ns, share: ns / (rows.length * t), longest };
}

/** Format a share: "22 %"; "0.2 %" if an integer would be 0; "none" for 0. */
export function shareText(share: number): string {
  if (share === 0) return t('none');
  const percent = share * 100;
  return `${share >= 0.01 ? Math.round(percent) : percent.toPrecision(1)} %`;
}
