// SPDX-License-Identifier: GPL-2.0-or-later
/** The ticks of a lane; grace periods end at them, since a CPU reports at ticks that its readers have left. */

import { firstAtLeast } from '../../base/columns.ts';
import type { LaneIndex } from '../../derive/types.ts';
import type { Pen } from '../paints.ts';
import { busyAt, drawTicks, type Grid, gridOfTicks } from '../tick-marks.ts';
import type { Scene } from './draw-bands.ts';
import type { Easel } from './ink.ts';
import { type Band, xOf } from './layout.ts';
import { type Lives, never } from './lives.ts';

const known = new WeakMap<Lives, { readonly startNs: number | null; readonly grid: Grid | null }>();

/** Null: neither the guest's clock nor enough ends of grace periods tell where they lie. */
export function gridOf(
  lives: Lives,
  every: number,
  { startNs }: Pick<LaneIndex, 'startNs'>,
): Grid | null {
  const before = known.get(lives);
  if (before?.startNs === startNs) return before.grid;
  const ends = [...lives.graces.ends].filter((t) => t < never).slice(-256);
  const grid = gridOfTicks(startNs, ends, every);
  known.set(lives, { startNs, grid });
  return grid;
}

export function drawTickBand(pen: Pen, { index, layout, box }: Scene, band: Band, easel: Easel) {
  const grid = gridOf(box.lives, index.tickNs, box.lane);
  if (grid === null) return;
  const { ends } = box.lives.graces;
  const from = box.t0;
  const to = from + (layout.right - layout.left) * layout.nsPerPx;
  const first = firstAtLeast(ends.length, (i) => ends[i]!, from - grid.every);
  pen.fillStyle = easel.theme.mechanism;
  const { top, height } = band;
  const x = (t: number) => xOf(layout, box, t);
  const busy = (t: number) => busyAt(index, box.lane, t);
  const place = { from, to, x, top, height, alpha: () => 1, busy };
  drawTicks(pen, grid, ends.subarray(first), place);
}
