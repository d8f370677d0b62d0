// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Draws the scheduler ticks of a lane. A tall mark means that a recorded step ended at the tick, and a short mark means
 * that a CPU was known to be busy. If all CPUs may have been idle, no mark is drawn, since an idle CPU stops its tick
 * (NO_HZ_IDLE).
 */

import { type Nanos, ns } from '../base/units.ts';
import { spanAt } from '../derive/query.ts';
import type { LaneIndex, RunIndex } from '../derive/types.ts';
import type { Pen } from './paints.ts';

// Ticks are not traced, but the interval between ticks is known (HZ), so only their phase must be found.
// Linux places ticks at multiples of this interval on the monotonic clock.
// The kernel's code for this is tick_init_jiffy_update() in kernel/time/tick-sched.c (6.1.192 and 7.3.4).
// All CPUs have the same phase unless skew_tick is set (tick_setup_sched_timer()), which no guest does.
// For other kernels the phase is estimated from recorded steps that only a tick can start.
// A timer never fires before its tick, and on a busy host it often fires late.
// The phase is therefore the early edge of the cluster of steps.

/** Minimum number of times from which the phase is estimated, because fewer times could agree by chance. */
const least = 12;
/** Minimum share of the times that must lie within a tenth of a tick. For random times, this share is about a tenth. */
const agreeing = 0.5;

/**
 * Wrap the times around a circle of length `tick`, and find the tenth of the circle that contains the most times.
 * Return the early edge of this tenth; null if the times disagree.
 */
export function phaseOf(times: readonly number[], tick: number): Nanos | null {
  const n = times.length;
  if (n < least) return null;
  const sorted = times.map((t) => ((t % tick) + tick) % tick).sort((a, b) => a - b);
  const at = (i: number) => sorted[i % n]! + (i >= n ? tick : 0);
  let best = { from: 0, n: 0 };
  let end = 0;
  for (let from = 0; from < n; from++) {
    while (end < from + n && at(end) - at(from) <= tick / 10) end += 1;
    if (end - from > best.n) best = { from, n: end - from };
  }
  if (best.n / n < agreeing) return null;
  return ns(at(best.from + Math.floor(best.n * 0.1)) % tick);
}

/** The ticks of a lane: the time of one tick, and the distance between ticks, ns. */
export interface Grid {
  readonly at: number;
  readonly every: number;
}

/**
 * Tolerance, in ticks, for steps that a tick starts. A step can seem to begin slightly before its tick, because the two
 * clocks are not read at the same time. A step can also begin some time after its tick.
 */
const [early, late] = [0.01, 0.15];

/**
 * The ticks of all CPUs of a lane; null if neither the lane's clock nor the recorded steps determine them.
 *
 * @param startNs the guest's monotonic clock at the lane's time 0
 * @param ends lane times of steps that ticks start
 */
export function gridOfTicks(
  startNs: number | null,
  ends: readonly number[],
  every: number,
): Grid | null {
  const seen = phaseOf(ends, every);
  if (startNs === null) return seen === null ? null : { at: seen, every };
  const at = (every - (startNs % every)) % every;
  const behind = seen === null ? 0 : ((((seen - at) / every) % 1) + 1) % 1;
  return seen !== null && behind > late && behind < 1 - early ? { at: seen, every } : { at, every };
}

/** Tell whether a workload thread was running at this lane time. Other threads are not recorded. */
export function busyAt({ kinds }: RunIndex, lane: LaneIndex, t: number): boolean {
  return lane.rows.some(({ row }) => {
    const state = spanAt(lane, row, 'state', t);
    return state !== null && kinds[state.kind]?.name === 'running';
  });
}

/** The range of lane time in which ticks are drawn, and their position on the canvas, px. */
interface Place {
  readonly from: number;
  readonly to: number;
  readonly x: (t: number) => number;
  readonly top: number;
  readonly height: number;
  /** Opacity at x. */
  readonly alpha: (x: number) => number;
  /** Whether a CPU was busy at a lane time. */
  readonly busy: (t: number) => boolean;
}

/** Ticks that are closer than this, px, cannot be distinguished, so they are not drawn. */
const apart = 6;

export function brushTick(pen: Pen, ended: boolean, x: number, top: number, height: number): void {
  const [w, h] = ended ? [3, height] : [2, height * 0.5];
  pen.fillRect(x - w / 2, top + height - h, w, h);
}

/** @param ends end times of steps that end at a tick, starting one tick before the window */
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
    // If a step ends much later than a tick, the thread also waited for a CPU. An earlier tick may have ended the step.
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
