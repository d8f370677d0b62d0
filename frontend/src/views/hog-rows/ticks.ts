// SPDX-License-Identifier: GPL-2.0-or-later
/** The ticks of a lane; delays of its grace periods that lasted half a tick or more end at one. */

import { t as tr } from '../../base/lang/t.ts';
import { perVersion, spansIn } from '../../derive/query.ts';
import type { LaneIndex, RunIndex } from '../../derive/types.ts';
import type { Pen } from '../paints.ts';
import { busyAt, drawTicks, type Grid, gridOfTicks } from '../tick-marks.ts';
import { faintness } from '../timeline/easel.ts';
import type { Extra, ExtraAt } from '../timeline/score.ts';

const most = 256;
const second = 1e9;
const delays: ReadonlySet<string> = new Set(['gp_armed', 'cb_delay']);

/** A kernel of another HZ has it in its name. */
function lengthOf(index: RunIndex, lane: LaneIndex): number {
  const hz = /-hz(\d+)$/.exec(lane.arm)?.[1];
  return hz === undefined ? index.tickNs : second / Number(hz);
}

/** Ends of delays that waited for a tick and touch [a, b), the lane's own times. */
function* endsIn(index: RunIndex, lane: LaneIndex, every: number, a: number, b: number) {
  for (const { kind, open, t0, t1 } of spansIn(lane, 'track', a, b))
    if (!open && t1 - t0 >= every / 2 && delays.has(index.kinds[kind]?.name ?? '')) yield t1;
}

/** One grid for all CPUs of the lane; null: nothing tells where it lies. */
export const ticksOf = perVersion((index, lane): Grid | null => {
  const every = lengthOf(index, lane);
  const ends = [...endsIn(index, lane, every, 0, Number.POSITIVE_INFINITY)];
  return gridOfTicks(lane.startNs, ends.slice(-most), every);
});

function draw(pen: Pen, { index, lane, from, to, x, top, height, revealX, theme }: ExtraAt): void {
  const grid = ticksOf(index, lane);
  if (grid === null) return;
  const alpha = (px: number) => (px <= revealX ? 1 : faintness);
  pen.fillStyle = theme.mechanism;
  const ends = endsIn(index, lane, grid.every, from - grid.every, to);
  const busy = (t: number) => busyAt(index, lane, t);
  drawTicks(pen, grid, ends, { from, to, x, top, height, alpha, busy });
}

export const ticks: Extra = {
  part: 'ticks',
  label: tr('ticks'),
  height: 13,
  on: (index, lane) => ticksOf(index, lane) !== null,
  draw,
};
