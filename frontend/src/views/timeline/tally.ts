// SPDX-License-Identifier: GPL-2.0-or-later
/** Sums over a part of a lane: time by kind, calls, points. What every sentence and panel is made of. */

import { pointRange } from '../../derive/lane-index.ts';
import { opsUpTo, spansIn, threadRows } from '../../derive/query.ts';
import type { KindFacts, LaneIndex, Layer, RunIndex } from '../../derive/types.ts';

/** One kind in [a, b), over the rows asked for. */
export interface KindTally {
  readonly kind: number;
  readonly facts: KindFacts;
  /** Time inside [a, b), ns. */
  readonly ns: number;
  readonly n: number;
  /** The longest of them, also beyond [a, b), ns. */
  readonly longest: number;
}

/** Each kind of a layer that touches [a, b), the most time first. States: of the workload's threads alone. */
export function tallyKinds(
  index: RunIndex,
  lane: LaneIndex,
  layer: Layer,
  a: number,
  b: number,
  row: number | null = null,
): KindTally[] {
  const threads = new Set(threadRows(lane).map((r) => r.row));
  const ns = new Float64Array(index.kinds.length);
  const n = new Uint32Array(index.kinds.length);
  const longest = new Float64Array(index.kinds.length);
  for (const span of spansIn(lane, layer, a, b)) {
    if (row !== null ? span.row !== row : layer === 'state' && !threads.has(span.row)) continue;
    const k = span.kind;
    ns[k] = ns[k]! + Math.min(span.t1, b) - Math.max(span.t0, a);
    n[k] = n[k]! + 1;
    longest[k] = Math.max(longest[k]!, span.t1 - span.t0);
  }
  return index.kinds
    .map((facts, kind) => {
      return { kind, facts, ns: ns[kind]!, n: n[kind]!, longest: longest[kind]! };
    })
    .filter((tally) => tally.n > 0)
    .sort((x, y) => y.ns - x.ns || x.kind - y.kind);
}

/** Operations that ended in [a, b). */
export function opsIn(lane: LaneIndex, a: number, b: number): number {
  return opsUpTo(lane, b) - opsUpTo(lane, a);
}

/** Points of a name in [a, b). */
export function pointsIn(lane: LaneIndex, name: string, a: number, b: number): number {
  const { from, to } = pointRange(lane.points, lane.pointsOf(name), a, b);
  return to - from;
}
