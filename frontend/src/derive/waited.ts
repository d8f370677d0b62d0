// SPDX-License-Identifier: GPL-2.0-or-later
/** What a lane's threads have waited so far for the lesson's sake: sums by binary search, made once for each strand. */

import { firstAtLeast } from '../base/columns.ts';
import { t } from '../base/lang/t.ts';
import { isStale, isWait, type SpanRecord, spanRecord, threadRows } from './query.ts';
import type { LaneIndex, RunIndex, Strand } from './types.ts';

export interface Waited {
  /** In all, ns. */
  readonly ns: number;
  /** Of the time of all threads, 0 to 1. */
  readonly share: number;
  /** The longest wait that has begun; null: none has. */
  readonly longest: SpanRecord | null;
}

/** Up to each place of a strand's order: the sum of the waits, ns, and which is the longest (-1: none). */
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
 * Waits of the lesson from the start to `t` (lane time, ns); null where that is not known: history was evicted, events
 * were lost, or nothing has come up to `t`. A wait that goes on counts as far as `t`; as the longest it is whole.
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

/** "22 %", "0.2 %" where whole ones would say nothing, and "none". */
export function shareText(share: number): string {
  if (share === 0) return t('none');
  const percent = share * 100;
  return `${share >= 0.01 ? Math.round(percent) : percent.toPrecision(1)} %`;
}
