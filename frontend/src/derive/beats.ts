// SPDX-License-Identifier: GPL-2.0-or-later
/** Moments to step to. All times are of the frame: lane time plus the lane's offset. */

import { firstAbove, firstAtLeast } from '../base/columns.ts';
import { type Nanos, ns } from '../base/units.ts';
import type { Offsets } from './align.ts';
import { isWait } from './query.ts';
import type { LaneIndex, RunIndex } from './types.ts';

export type Direction = 1 | -1;

/** The nearest of the lanes' answers, forward or backward. */
function nearest(
  index: RunIndex,
  offset: Offsets,
  direction: Direction,
  of: (lane: LaneIndex, shift: number) => number | null,
): Nanos | null {
  let best: number | null = null;
  for (const lane of index.lanes) {
    const shift = offset.get(lane.arm) ?? 0;
    const at = of(lane, shift);
    if (at === null) continue;
    const framed = at + shift;
    if (best === null || (direction > 0 ? framed < best : framed > best)) best = framed;
  }
  return best === null ? null : ns(best);
}

/** In a sorted sequence: the first value after t, or the last before it. */
function neighbour(
  length: number,
  at: (i: number) => number,
  t: number,
  direction: Direction,
): number | null {
  const i = direction > 0 ? firstAbove(length, at, t) : firstAtLeast(length, at, t) - 1;
  return i >= 0 && i < length ? at(i) : null;
}

/** The next or previous point that the lesson calls a beat, or end of an operation, on any lane. */
export function beatAfter(
  index: RunIndex,
  offset: Offsets,
  t: number,
  direction: Direction,
): Nanos | null {
  return nearest(index, offset, direction, (lane, shift) => {
    if (index.beat !== null) {
      const of = lane.pointsOf(index.beat);
      return neighbour(of.length, (i) => lane.points.t[of.order[i]!]!, t - shift, direction);
    }
    const { order, length } = lane.opsByEnd;
    return neighbour(length, (i) => lane.ops.t1[order[i]!]!, t - shift, direction);
  });
}

/** The next or previous begin of any span, or point, on any lane. */
export function eventAfter(
  index: RunIndex,
  offset: Offsets,
  t: number,
  direction: Direction,
): Nanos | null {
  return nearest(index, offset, direction, (lane, shift) => {
    const { points } = lane;
    let best = neighbour(points.length, (i) => points.t[i]!, t - shift, direction);
    for (const strand of lane.strands) {
      const at = neighbour(
        strand.length,
        (i) => lane.spans.t0[strand.order[i]!]!,
        t - shift,
        direction,
      );
      if (at !== null && (best === null || (direction > 0 ? at < best : at > best))) best = at;
    }
    return best;
  });
}

/** The first loss that begins after t on any lane; from the start again if there is none. */
export function nextLoss(index: RunIndex, offset: Offsets, t: number): Nanos | null {
  const after = (from: number) =>
    nearest(index, offset, 1, (lane, shift) => {
      const later = lane.losses.map((loss) => loss.t0).filter((t0) => t0 + shift > from);
      return later.length === 0 ? null : Math.min(...later);
    });
  return after(t) ?? after(Number.NEGATIVE_INFINITY);
}

export interface LongWait {
  readonly arm: string;
  readonly row: number;
  readonly kind: number;
  readonly t0: Nanos;
  readonly t1: Nanos;
}

/** A wait is long from half of the longest on any lane shown. */
export function longFrom(index: RunIndex): number {
  return Math.max(...index.lanes.map((lane) => lane.longestWait), 0) / 2;
}

/** The first long wait that begins after t (frame time); from the start again if there is none. */
export function nextLongWait(index: RunIndex, offset: Offsets, t: number): LongWait | null {
  const least = longFrom(index);
  if (least <= 0) return null;
  let best: LongWait | null = null;
  for (const lane of index.lanes) {
    const shift = offset.get(lane.arm) ?? 0;
    for (const strand of lane.strands) {
      if (strand.layer !== 'state') continue;
      const begin = firstAbove(strand.length, (i) => lane.spans.t0[strand.order[i]!]!, t - shift);
      for (let p = begin; p < strand.length; p++) {
        const i = strand.order[p]!;
        const t0 = lane.spans.t0[i]! + shift;
        if (best !== null && t0 >= best.t0) break;
        const t1 = lane.spans.t1[i]! + shift;
        if (t1 - t0 < least || !isWait(index.kinds[lane.spans.kind[i]!])) continue;
        best = {
          arm: lane.arm,
          row: strand.row,
          kind: lane.spans.kind[i]!,
          t0: ns(t0),
          t1: ns(t1),
        };
        break;
      }
    }
  }
  if (best === null && t > Number.NEGATIVE_INFINITY) {
    return nextLongWait(index, offset, Number.NEGATIVE_INFINITY);
  }
  return best;
}

/** The longest waits of the lesson on any lane that last at most `longest`, longest first. */
export function longestWaits(
  index: RunIndex,
  offset: Offsets,
  most: number,
  longest = Number.POSITIVE_INFINITY,
): LongWait[] {
  const found: LongWait[] = [];
  let least = 1;
  for (const lane of index.lanes) {
    const shift = offset.get(lane.arm) ?? 0;
    const { spans } = lane;
    for (let i = 0; i < spans.length; i++) {
      const length = spans.t1[i]! - spans.t0[i]!;
      if (spans.t0[i]! < 0 || length < least || length > longest) continue;
      if (!isWait(index.kinds[spans.kind[i]!])) continue;
      const t0 = ns(spans.t0[i]! + shift);
      const [row, kind] = [spans.row[i]!, spans.kind[i]!];
      found.push({ arm: lane.arm, row, kind, t0, t1: ns(spans.t1[i]! + shift) });
      if (found.length < most * 4) continue;
      trimToLongest(found, most);
      least = found.at(-1)!.t1 - found.at(-1)!.t0;
    }
  }
  trimToLongest(found, most);
  return found;
}

function trimToLongest(waits: LongWait[], most: number): void {
  waits.sort((a, b) => b.t1 - b.t0 - (a.t1 - a.t0) || a.t0 - b.t0);
  waits.length = Math.min(waits.length, most);
}
