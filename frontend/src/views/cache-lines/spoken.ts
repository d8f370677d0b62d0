// SPDX-License-Identifier: GPL-2.0-or-later
/** What sentences speak of among cache lines: an access, the bytes that everybody writes, a phase of the second act. */

import { laneTime } from '../../derive/align.ts';
import type { Drawing } from '../contract.ts';
import type { Pen } from '../paints.ts';
import { sidesOf, strokeRegion } from '../region.ts';
import type { Box } from './brush.ts';
import { runsOf } from './byte-runs.ts';
import { stepX } from './draw-order.ts';
import type { Easel } from './easel.ts';
import { byteBoxes } from './layout.ts';
import { phasesOf } from './lock.ts';
import type { LockLane } from './lock-layout.ts';
import { type Access, accessAt, type LaneNow } from './now.ts';

/** The access that is under way, or the last one that is over. */
export function current(shown: LaneNow): Access | null {
  if (shown.under !== null) return shown.under;
  if (shown.done === 0 || shown.model === null) return null;
  return accessAt(shown.lane, shown.model, shown.done - 1);
}

/** Boxes of what a sentence names. */
export function placesOf({ layout, laid, shown, drawing }: Easel, name: string): readonly Box[] {
  const { struct } = shown;
  if (name === 'hot') {
    const at = struct?.hot?.at ?? -1;
    const run =
      struct &&
      runsOf(struct)
        .flat()
        .find((one) => at >= one.at && at < one.at + one.size);
    return run ? byteBoxes(layout, laid, run.at, run.size) : [];
  }
  const access = name === 'access' ? current(shown) : null;
  if (access === null) return [];
  const bytes = struct === null ? [] : byteBoxes(layout, laid, access.at, access.size);
  const copy = laid.cards[access.cpu]?.slots[access.line];
  const x = stepX({ drawing, laid }, access.k);
  const { order } = laid;
  const inside = x >= order.x - 1 && x <= order.x + order.w;
  const h = order.h / (shown.model?.trace.log.cpus ?? 1);
  const w = Math.max(4, stepX({ drawing, laid }, access.k + 1) - x);
  const step = inside ? [{ x, y: order.y + access.cpu * h, w, h }] : [];
  return [...bytes, ...(copy === undefined ? [] : [copy]), ...step];
}

export function drawSpoken(easel: Easel): void {
  const { frame, theme } = easel.drawing;
  const mine = frame.regions?.filter(({ arm }) => arm === easel.laid.arm) ?? [];
  for (const { name } of mine)
    strokeRegion(
      easel.pen,
      theme,
      placesOf(easel, name).flatMap((box) => sidesOf(box)),
    );
}

/** The phase that the moment is in, up to the moment. */
export function drawPhase(
  pen: Pen,
  { arm, share }: LockLane,
  { frame, theme, index }: Drawing,
  x: (t: number) => number,
): void {
  if (!frame.regions?.some((one) => one.arm === arm && one.name === 'phase')) return;
  const now = laneTime(frame.offset, arm, frame.moment);
  const phase = phasesOf(index).findLast(({ t0 }) => t0 <= now);
  if (phase === undefined) return;
  const left = Math.max(share.x, x(phase.t0));
  const right = Math.min(share.x + share.w, x(Math.min(now, phase.t1)));
  if (right - left < 2) return;
  strokeRegion(pen, theme, sidesOf({ x: left, y: share.y, w: right - left, h: share.h }, 1));
}
