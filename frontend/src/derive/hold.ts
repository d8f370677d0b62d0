// SPDX-License-Identifier: GPL-2.0-or-later
/** A lane that stands still after one operation, so that the same operation can be compared on all of them. */

import { firstAtLeast } from '../base/columns.ts';
import { type Nanos, ns } from '../base/units.ts';
import { laneTime } from './align.ts';
import { opsUpTo } from './query.ts';
import type { Frame, LaneIndex } from './types.ts';

/** Half a step of a counting axis: begins are compared after a sum of offsets. */
const slack = 500;

/** Place in `opsByEnd` of the first operation that begins in the window; -1: there is none. */
export function heldOp(lane: LaneIndex, frame: Pick<Frame, 'start' | 'offset'>): number {
  const { order, length } = lane.opsByEnd;
  const start = laneTime(frame.offset, lane.arm, frame.start);
  const p = firstAtLeast(length, (i) => lane.ops.t0[order[i]!]!, start - slack);
  return p < length ? p : -1;
}

/** The moment on a lane's own axis, at most the end of the operation that it is held at. */
export function heldTime(lane: LaneIndex, frame: Frame): Nanos {
  const t = laneTime(frame.offset, lane.arm, frame.moment);
  const p = frame.hold === true ? heldOp(lane, frame) : -1;
  return p < 0 ? t : ns(Math.min(t, lane.ops.t1[lane.opsByEnd.order[p]!]!));
}

/** Operations of a lane up to the moment, for the header over it. */
export function opsNow(lane: LaneIndex, frame: Frame): number {
  return opsUpTo(lane, heldTime(lane, frame));
}
