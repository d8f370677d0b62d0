// SPDX-License-Identifier: GPL-2.0-or-later
/** Queries on a lane's index by binary search. All times are in the lane's own time. */

import { firstAbove, firstAtLeast } from '../base/columns.ts';
import { type Nanos, ns } from '../base/units.ts';
import type { KindFacts, LaneIndex, Layer, Mark, RunIndex, SpanTable, Strand } from './types.ts';

/**
 * A span as an object, whose values are copied from the table's columns. Code that writes texts or selects marks uses
 * such objects. Drawing does not use them, because creating them is slow.
 */
export interface SpanRecord {
  readonly t0: Nanos;
  readonly t1: Nanos;
  readonly row: number;
  readonly kind: number;
  readonly cpu: number;
  readonly arg: number;
  readonly id: number;
  readonly open: boolean;
}

export function spanRecord(spans: SpanTable, i: number, open: boolean): SpanRecord {
  return {
    t0: ns(spans.t0[i]!),
    t1: ns(spans.t1[i]!),
    row: spans.row[i]!,
    kind: spans.kind[i]!,
    cpu: spans.cpu[i]!,
    arg: spans.arg[i]!,
    id: spans.id[i]!,
    open,
  };
}

/** The positions [from, to) in the strand's order of the spans that may overlap [a, b). */
export function touching(
  spans: SpanTable,
  strand: Strand,
  a: number,
  b: number,
): { readonly from: number; readonly to: number } {
  const at = (i: number) => spans.t0[strand.order[i]!]!;
  const to = firstAtLeast(strand.length, at, b);
  if (strand.layer === 'function') {
    return { from: firstAtLeast(strand.length, at, a - strand.longest), to };
  }
  // States and phases do not overlap, so only the last span that begins before `a` can extend beyond `a`.
  let from = firstAtLeast(strand.length, at, a);
  while (from > 0 && spans.t1[strand.order[from - 1]!]! > a) from -= 1;
  return { from, to };
}

/**
 * Whether the end of an open span has already arrived. The open span is then stale until the next `open` table arrives.
 */
export function isStale(lane: LaneIndex, layer: Layer, i: number): boolean {
  const strand = lane.strand(lane.open.row[i]!, layer);
  if (strand === null || strand.length === 0) return false;
  const at = (p: number) => lane.spans.t0[strand.order[p]!]!;
  const t0 = lane.open.t0[i]!;
  if (layer !== 'function') return at(strand.length - 1) >= t0;
  // A call that is still open may contain calls that have ended, but these begin later.
  // Thus only an ended span with the same start and kind shows that the open call has ended.
  for (let p = firstAtLeast(strand.length, at, t0); p < strand.length && at(p) === t0; p++) {
    if (lane.spans.kind[strand.order[p]!] === lane.open.kind[i]) return true;
  }
  return false;
}

/** All spans of a layer that overlap [a, b), row by row in order of t0, followed by open spans. */
export function* spansIn(
  lane: LaneIndex,
  layer: Layer,
  a: number,
  b: number,
): Generator<SpanRecord> {
  const { spans, open } = lane;
  for (const strand of lane.strands) {
    if (strand.layer !== layer) continue;
    const { from, to } = touching(spans, strand, a, b);
    for (let p = from; p < to; p++) {
      const i = strand.order[p]!;
      if (spans.t1[i]! > a || spans.t0[i]! >= a) yield spanRecord(spans, i, false);
    }
  }
  for (let i = 0; i < open.length; i++) {
    if (lane.layerOf(open.kind[i]!) !== layer || isStale(lane, layer, i)) continue;
    if (open.t0[i]! < b && open.t1[i]! > a) yield spanRecord(open, i, true);
  }
}

/**
 * The span of this row and layer at time t. If several spans contain t, the result is the span that began last. Null
 * if the row is idle or its state is unknown.
 */
export function spanAt(lane: LaneIndex, row: number, layer: Layer, t: number): SpanRecord | null {
  const strand = lane.strand(row, layer);
  const { spans, open } = lane;
  if (strand !== null) {
    let p = firstAbove(strand.length, (i) => spans.t0[strand.order[i]!]!, t) - 1;
    for (; p >= 0; p--) {
      const i = strand.order[p]!;
      if (spans.t1[i]! > t) return spanRecord(spans, i, false);
      if (spans.t0[i]! < t - strand.longest) break;
    }
  }
  for (let i = 0; i < open.length; i++) {
    if (open.row[i] !== row || open.t0[i]! > t || open.t1[i]! <= t) continue;
    if (lane.layerOf(open.kind[i]!) !== layer || isStale(lane, layer, i)) continue;
    return spanRecord(open, i, true);
  }
  return null;
}

/** The state of each workload thread at t, by row; null if the thread is idle or its state is unknown. */
export function statesAt(lane: LaneIndex, t: number): (SpanRecord | null)[] {
  return threadRows(lane).map((row) => spanAt(lane, row.row, 'state', t));
}

export function threadRows(lane: LaneIndex) {
  return lane.rows.filter((row) => row.role === 'thread');
}

/** The number of operations that ended from the start to t, inclusive. */
export function opsUpTo(lane: LaneIndex, t: number): number {
  const { order, length } = lane.opsByEnd;
  return lane.opsEvicted + firstAbove(length, (i) => lane.ops.t1[order[i]!]!, t);
}

/** Whether events were lost on this lane in [from, to). If so, counts in this interval are lower bounds. */
export function lostIn(lane: LaneIndex, from: number, to: number): boolean {
  return lane.losses.some((loss) => loss.t0 < to && loss.t1 >= from);
}

/** Whether a kind is one of the lesson's waits, which are states with the colour `wait`. */
export function isWait(kind: KindFacts | undefined): boolean {
  return kind?.layer === 'state' && kind.colour === 'wait' && kind.lesson;
}

export function markOf(arm: string, span: SpanRecord): Mark {
  const { id, row, kind, t0, t1, open } = span;
  return { arm, table: 'spans', id, row, kind, t0, t1, ...(open ? { open } : {}) };
}

export function laneOf(index: RunIndex, arm: string): LaneIndex | null {
  return index.lanes.find((lane) => lane.arm === arm) ?? null;
}

/**
 * The time up to which the data of all running lanes have arrived. Once all lanes have ended, the result is the highest
 * watermark.
 */
export function commonWatermark(index: RunIndex): Nanos {
  let lowest = Number.POSITIVE_INFINITY;
  let highest = 0;
  for (const lane of index.lanes) {
    if (lane.failed && lane.spans.length === 0) continue;
    highest = Math.max(highest, lane.watermark);
    if (!lane.ended) lowest = Math.min(lowest, lane.watermark);
  }
  return ns(Number.isFinite(lowest) ? lowest : highest);
}

// Results that are cached for each lane until the index has a new version.

type Of<T> = (index: RunIndex, lane: LaneIndex) => T;

/**
 * Cache the results of `find` by lane and version. The table's length cannot be the key, because the table can be ahead
 * of the index.
 */
export function perVersion<T>(find: Of<T>): Of<T> {
  const known = new WeakMap<LaneIndex, { readonly version: number; readonly found: T }>();
  return (index, lane) => {
    const before = known.get(lane);
    if (before !== undefined && before.version === index.version) return before.found;
    const found = find(index, lane);
    known.set(lane, { version: index.version, found });
    return found;
  };
}

// The kinds of spans that occur in a run, for legends.

const ofLane = perVersion((_index, { spans, open }: LaneIndex): ReadonlySet<number> => {
  const found = new Set<number>();
  for (let i = 0; i < spans.length; i++) found.add(spans.kind[i]!);
  for (let i = 0; i < open.length; i++) found.add(open.kind[i]!);
  return found;
});

/** The names of the kinds that have a span on any lane. */
export function kindsIn(index: RunIndex): ReadonlySet<string> {
  const names = index.lanes.flatMap((lane) =>
    [...ofLane(index, lane)].flatMap((kind) => index.kinds[kind]?.name ?? []),
  );
  return new Set(names);
}
