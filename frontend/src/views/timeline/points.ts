// SPDX-License-Identifier: GPL-2.0-or-later
/** Points on their lines: one by one while they can be distinguished, else how many there are in each column. */

import { firstAtLeast } from '../../base/columns.ts';
import { pointRange } from '../../derive/lane-index.ts';
import type { KindFacts, RunIndex } from '../../derive/types.ts';
import type { LaneBox, Layout } from './layout.ts';
import type { Line } from './lines.ts';
import { pointColour } from './series.ts';

export interface PointMarks {
  readonly line: Line;
  /** The colour of the lesson's kind of the same name; 'work' without one. */
  readonly colour: KindFacts['colour'];
  readonly kind: string;
  /** x of each; empty in a crowd. */
  readonly xs: Float32Array;
  /** In a crowd: points in each column of `columnPx`, of which the fullest has `most`. */
  readonly columns: Uint32Array | null;
  readonly most: number;
  readonly n: number;
}

export const densityPx = 3;
/** Closer than this they cannot be distinguished, px. */
const apartPx = 2;
/** Of the points of a line so many may stand too close before they are counted in columns. */
const crowdedShare = 0.25;

interface Found {
  readonly box: LaneBox;
  readonly line: Line;
  readonly name: string;
  readonly xs: Float32Array;
}

/** Points of the window by arm, line by line. All lanes count in columns if one must, on one scale. */
export function pointMarksOf(
  index: RunIndex,
  layout: Layout,
): ReadonlyMap<string, readonly PointMarks[]> {
  const found = layout.lanes.flatMap((box) =>
    box.lines
      .filter((line) => line.what === 'point')
      .flatMap((line) => line.points.map((name) => ({ box, line, name })))
      .map((one): Found => ({ ...one, xs: xsOf(layout, one.box, one.name) })),
  );
  const crowded = new Set(found.filter(({ xs }) => isCrowded(xs)).map(({ name }) => name));
  const most = new Map<string, number>();
  const counted = found.map((one) => {
    const columns = crowded.has(one.name) ? columnsOf(layout, one.xs) : null;
    const peak = columns?.reduce((max, n) => Math.max(max, n), 0) ?? 1;
    most.set(one.name, Math.max(most.get(one.name) ?? 1, peak));
    return { ...one, columns };
  });
  const marks = new Map<string, PointMarks[]>(layout.lanes.map(({ arm }) => [arm, []]));
  for (const { box, line, name, xs, columns } of counted) {
    const colour = pointColour(index.kinds, name);
    const of = { line, colour, kind: name, columns, most: most.get(name)!, n: xs.length };
    marks.get(box.arm)!.push({ ...of, xs: columns === null ? xs : new Float32Array(0) });
  }
  return marks;
}

function xsOf(layout: Layout, { lane, t0 }: LaneBox, name: string): Float32Array {
  const of = lane.pointsOf(name);
  const end = t0 + (layout.right - layout.left) * layout.nsPerPx;
  const { from, to } = pointRange(lane.points, of, t0, end);
  const xs = new Float32Array(to - from);
  for (let p = from; p < to; p++) {
    xs[p - from] = layout.left + (lane.points.t[of.order[p]!]! - t0) / layout.nsPerPx;
  }
  return xs;
}

function isCrowded(xs: Float32Array): boolean {
  let close = 0;
  for (let i = 1; i < xs.length; i++) if (xs[i]! - xs[i - 1]! < apartPx) close += 1;
  return xs.length > 8 && close > xs.length * crowdedShare;
}

function columnsOf(layout: Layout, xs: Float32Array): Uint32Array {
  const columns = new Uint32Array(Math.ceil((layout.right - layout.left) / densityPx));
  for (const x of xs) {
    const column = Math.min(columns.length - 1, Math.floor((x - layout.left) / densityPx));
    columns[column] = columns[column]! + 1;
  }
  return columns;
}

/** Of n times in order the place of the one nearest to t, at most `reach` away; -1: there is none. */
export function nearest(n: number, at: (p: number) => number, t: number, reach: number): number {
  const after = firstAtLeast(n, at, t);
  let best = -1;
  for (const p of [after - 1, after]) {
    if (p < 0 || p >= n || Math.abs(at(p) - t) > reach) continue;
    if (best < 0 || Math.abs(at(p) - t) < Math.abs(at(best) - t)) best = p;
  }
  return best;
}
