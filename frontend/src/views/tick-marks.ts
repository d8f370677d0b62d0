// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Ticks of a lane as marks: tall where a recorded step ended at one, short where a CPU is known to have been busy, and
 * none where all may have been idle: who is idle stops his tick (NO_HZ_IDLE).
 */

import { spanAt } from '../derive/query.ts';
import type { Grid } from '../derive/tick-phase.ts';
import type { LaneIndex, RunIndex } from '../derive/types.ts';
import type { Pen } from './paints.ts';

export type { Grid } from '../derive/tick-phase.ts';

/** Whether some thread of the workload had a CPU at a lane time; of other threads nothing is recorded. */
export function busyAt({ kinds }: RunIndex, lane: LaneIndex, t: number): boolean {
  return lane.rows.some(({ row }) => {
    const state = spanAt(lane, row, 'state', t);
    return state !== null && kinds[state.kind]?.name === 'running';
  });
}

/** Where they are drawn, px; times are the lane's own. */
interface Place {
  readonly from: number;
  readonly to: number;
  readonly x: (t: number) => number;
  readonly top: number;
  readonly height: number;
  /** How strong one at x is. */
  readonly alpha: (x: number) => number;
  /** A CPU was busy then. */
  readonly busy: (t: number) => boolean;
}

/** Closer than this they cannot be distinguished, px. */
const apart = 6;

export function brushTick(pen: Pen, ended: boolean, x: number, top: number, height: number): void {
  const [w, h] = ended ? [3, height] : [2, height * 0.5];
  pen.fillRect(x - w / 2, top + height - h, w, h);
}

/** @param ends when steps ended that a tick ends, from a tick before the window on */
export function drawTicks(
  pen: Pen,
  { at, every }: Grid,
  ends: Iterable<number>,
  { from, to, x, top, height, alpha, busy }: Place,
): void {
  if (x(from + every) - x(from) < apart) return;
  const ended = new Set<number>();
  for (const t of ends) {
    const nth = Math.floor((t - at) / every);
    // What comes much later waited for a CPU as well: its tick may have been an earlier one.
    if (t - at - nth * every < every / 4) ended.add(nth);
  }
  const last = Math.floor((to - at) / every);
  for (let nth = Math.ceil((from - at) / every); nth <= last; nth++) {
    const t = at + nth * every;
    if (!ended.has(nth) && !busy(t)) continue;
    const px = x(t);
    pen.globalAlpha = alpha(px);
    brushTick(pen, ended.has(nth), px, top, height);
  }
  pen.globalAlpha = 1;
}
