// SPDX-License-Identifier: GPL-2.0-or-later
/** The ticks of a lane, from the ends of its grace periods: a CPU reports at ticks that its readers have left. */

import { firstAtLeast } from '../../base/search.ts';
import { phaseOf } from '../../derive/tick-phase.ts';
import type { Pen } from '../paints.ts';
import { drawTicks, type Grid } from '../tick-marks.ts';
import type { Scene } from './draw-bands.ts';
import type { Easel } from './ink.ts';
import { type Band, xOf } from './layout.ts';
import { type Lives, never } from './lives.ts';

const known = new WeakMap<Lives, Grid | null>();

/** Null: too few grace periods ended, or their ends do not agree. */
export function gridOf(lives: Lives, every: number): Grid | null {
  let grid = known.get(lives);
  if (grid === undefined) {
    const at = phaseOf([...lives.graces.ends].filter((t) => t < never).slice(-256), every);
    grid = at === null ? null : { at, every };
    known.set(lives, grid);
  }
  return grid;
}

export function drawTickBand(pen: Pen, { index, layout, box }: Scene, band: Band, easel: Easel) {
  const grid = gridOf(box.lives, index.tickNs);
  if (grid === null) return;
  const { ends } = box.lives.graces;
  const from = box.t0;
  const to = from + (layout.right - layout.left) * layout.nsPerPx;
  const first = firstAtLeast(ends.length, (i) => ends[i]!, from - grid.every);
  pen.fillStyle = easel.theme.mechanism;
  const { top, height } = band;
  const x = (t: number) => xOf(layout, box, t);
  drawTicks(pen, grid, ends.subarray(first), { from, to, x, top, height, alpha: () => 1 });
}
