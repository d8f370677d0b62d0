// SPDX-License-Identifier: GPL-2.0-or-later
/** All that a drawing or a sentence asks about a lane at a moment. */

import { firstAbove } from '../../base/columns.ts';
import type { Frame, LaneIndex, RunIndex } from '../../derive/types.ts';
import { type Boxes, blocksOf, replayOf } from './block-replay.ts';
import { type Facts, factsOf, type Now, nowOf } from './scans.ts';

export interface LaneNow {
  readonly lane: LaneIndex;
  readonly facts: Facts;
  readonly now: Now;
  /** First block of each box. */
  readonly blocks: Float64Array;
  readonly boxes: Boxes;
  /** How many points of the lane have happened. */
  readonly points: number;
}

/** `hold`: of the one operation that the frame holds at, whether it does or not. */
export function laneNow(
  { index, frame }: { readonly index: RunIndex; readonly frame: Frame },
  lane: LaneIndex,
  hold?: boolean,
): LaneNow {
  const blocks = blocksOf(index);
  const now = nowOf(lane, frame, hold);
  const points = firstAbove(lane.points.length, (i) => lane.points.t[i]!, now.t);
  const boxes = replayOf(lane, blocks).after(points);
  return { lane, facts: factsOf(lane), now, blocks, boxes, points };
}
