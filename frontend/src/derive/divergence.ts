// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Where lanes part: the first operation that took at least twice as long on the lane that is slower in all as on the one
 * that is faster; where the axis counts entries, the first entry that is not the same on every lane. Or why nothing of
 * the kind can be named. Pure, and in each lane's own time.
 */

import { ns } from '../base/units.ts';
import type { Offsets } from './align.ts';
import { stepNs } from './retime.ts';
import type { LaneIndex, Nanos, RunIndex } from './types.ts';

/** Why lanes cannot be compared, or do not part. */
export type NoParting =
  | 'alone'
  | 'host_order'
  | 'no_operations'
  | 'none_yet'
  | 'alike'
  | 'never_twice'
  | 'same_entries';

export interface Parting {
  readonly by: 'operation' | 'entry';
  /** From 1. */
  readonly n: number;
  /** Of each lane: when it is over there, and its place in the table of operations, or of points. */
  readonly lanes: readonly { readonly arm: string; readonly t: number; readonly place: number }[];
}

/** At least so many times as long. */
const apart = 2;
/** Lanes whose operations take as long on average, up to this factor, do not part: single ones always differ. */
const alike = 1.25;

const known = new WeakMap<RunIndex, { readonly version: number; readonly found: Found }>();
type Found = Parting | NoParting;

export function partingOf(index: RunIndex): Found {
  const before = known.get(index);
  if (before?.version === index.version) return before.found;
  const found = find(index);
  known.set(index, { version: index.version, found });
  return found;
}

function find(index: RunIndex): Found {
  const { axis, lanes } = index;
  if (lanes.length < 2) return 'alone';
  if (index.hostOrder) return 'host_order';
  if (axis !== null) return byEntry(lanes, axis.point);
  const ended = lanes.filter((lane) => lane.opsByEnd.length > 0);
  if (ended.length < 2) return lanes.some((lane) => lane.ended) ? 'no_operations' : 'none_yet';
  return byOperation(ended);
}

function byOperation(lanes: readonly LaneIndex[]): Found {
  const first = Math.max(...lanes.map((lane) => lane.opsEvicted));
  const last = Math.min(...lanes.map((lane) => lane.opsEvicted + lane.opsByEnd.length));
  const means = lanes.map(meanOf);
  const slow = lanes[means.indexOf(Math.max(...means))]!;
  const fast = lanes[means.indexOf(Math.min(...means))]!;
  if (meanOf(slow) < alike * meanOf(fast)) return 'alike';
  for (let at = first; at < last; at++) {
    if (lengthOf(slow, at) < apart * lengthOf(fast, at)) continue;
    const ends = lanes.map((lane) => {
      const place = placeOf(lane, at);
      return { arm: lane.arm, t: lane.ops.t1[place]!, place };
    });
    return { by: 'operation', n: at + 1, lanes: ends };
  }
  return 'never_twice';
}

/** Mean length of a lane's operations, ns; 0: it has none. */
export function meanOf({ ops, opsByEnd: { order, length } }: LaneIndex): number {
  let sum = 0;
  for (let i = 0; i < length; i++) sum += ops.t1[order[i]!]! - ops.t0[order[i]!]!;
  return length === 0 ? 0 : sum / length;
}

/** Where the operation stands in the table; `at` counts from 0, from the start of the workload. */
function placeOf(lane: LaneIndex, at: number): number {
  return lane.opsByEnd.order[at - lane.opsEvicted]!;
}

function lengthOf(lane: LaneIndex, at: number): number {
  const place = placeOf(lane, at);
  return lane.ops.t1[place]! - lane.ops.t0[place]!;
}

export const pointColumns = ['a', 'b', 'c', 'd', 'e', 'f'] as const;

function byEntry(lanes: readonly LaneIndex[], point: string): Found {
  const orders = lanes.map((lane) => lane.pointsOf(point));
  const shortest = Math.min(...orders.map((order) => order.length));
  if (shortest === 0) return lanes.some((lane) => lane.ended) ? 'no_operations' : 'none_yet';
  const value = (i: number, k: number, column: (typeof pointColumns)[number]) =>
    lanes[i]!.points[column][orders[i]!.order[k]!]!;
  for (let k = 0; k < shortest; k++) {
    const differs = (column: (typeof pointColumns)[number]) =>
      lanes.some((_, i) => value(i, k, column) !== value(0, k, column));
    if (!pointColumns.some(differs)) continue;
    const t = (k + 1) * stepNs;
    const places = lanes.map(({ arm }, i) => ({ arm, t, place: orders[i]!.order[k]! }));
    return { by: 'entry', n: k + 1, lanes: places };
  }
  return 'same_entries';
}

/** The moment of the frame at which every lane is over with that in which they part, and all of it can be seen. */
export function firstDivergence(index: RunIndex, offset: Offsets): Nanos | null {
  const found = partingOf(index);
  if (typeof found === 'string') return null;
  return ns(Math.max(...found.lanes.map(({ arm, t }) => t + (offset.get(arm) ?? 0))));
}
