// SPDX-License-Identifier: GPL-2.0-or-later
/** How lanes are laid over each other: an offset per lane, added to its own time. */

import { assertNever } from '../base/assert.ts';
import { type Nanos, ns } from '../base/units.ts';
import { opsUpTo } from './query.ts';
import type { LaneIndex, RunIndex } from './types.ts';

export type Alignment = 'time' | 'operation' | 'marker' | 'begin';

export type Offsets = ReadonlyMap<string, number>;

export const noOffsets: Offsets = new Map();

/** When the n-th operation of a lane ended (n from 1); null if it did not, or is no longer kept. */
export function opEnd(lane: LaneIndex, n: number): Nanos | null {
  const at = n - 1 - lane.opsEvicted;
  if (at < 0 || at >= lane.opsByEnd.length) return null;
  return ns(lane.ops.t1[lane.opsByEnd.order[at]!]!);
}

/** When the n-th operation of a lane began (n from 1, counted by their ends); null if it is not kept. */
export function opBegin(lane: LaneIndex, n: number): Nanos | null {
  const at = n - 1 - lane.opsEvicted;
  if (at < 0 || at >= lane.opsByEnd.length) return null;
  return ns(lane.ops.t0[lane.opsByEnd.order[at]!]!);
}

/**
 * Offsets that put the lanes over each other.
 *
 * - time: since the workload's start on each lane; no offset.
 * - operation: the operation that the slowest lane ends first at or after `around` ends on every lane at once.
 * - marker: the first operation of every lane ends at once.
 * - begin: the nth operation of every lane begins at once.
 */
export function offsetsOf(index: RunIndex, alignment: Alignment, around: number, nth = 1): Offsets {
  switch (alignment) {
    case 'time':
      return noOffsets;
    case 'operation':
      return shiftTo(index, commonOperation(index, around));
    case 'marker':
      return shiftTo(index, 1);
    case 'begin':
      return latestTogether(index, (lane) => opBegin(lane, nth));
    default:
      return assertNever(alignment);
  }
}

/** The number of the operation that the lane with the fewest has ended by `around`, at least 1. */
function commonOperation(index: RunIndex, around: number): number {
  const counts = index.lanes.filter((l) => l.opsByEnd.length > 0).map((l) => opsUpTo(l, around));
  return Math.max(1, Math.min(...counts));
}

/** The lane that is last to end operation n stays where it is; the others wait for it. */
function shiftTo(index: RunIndex, n: number): Offsets {
  return latestTogether(index, (lane) => opEnd(lane, n));
}

function latestTogether(index: RunIndex, of: (lane: LaneIndex) => Nanos | null): Offsets {
  const times = index.lanes.map((lane) => [lane.arm, of(lane)] as const);
  const latest = Math.max(...times.map(([, t]) => t ?? Number.NEGATIVE_INFINITY));
  if (!Number.isFinite(latest)) return noOffsets;
  return new Map(times.flatMap(([arm, t]) => (t === null ? [] : [[arm, latest - t]])));
}

/** A moment of the frame on a lane's own axis. */
export function laneTime(offset: Offsets, arm: string, t: number): Nanos {
  return ns(t - (offset.get(arm) ?? 0));
}
