// SPDX-License-Identifier: GPL-2.0-or-later
/** Ticks of a lane as marks: tall where a recorded step ended at one, short where only the clock's period puts it. */

import type { Pen } from './paints.ts';

/** Ticks of a lane: the time of one of them, and how far apart they are, ns. */
export interface Grid {
  readonly at: number;
  readonly every: number;
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
  { from, to, x, top, height, alpha }: Place,
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
    const px = x(at + nth * every);
    pen.globalAlpha = alpha(px);
    brushTick(pen, ended.has(nth), px, top, height);
  }
  pen.globalAlpha = 1;
}
