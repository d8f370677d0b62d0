// SPDX-License-Identifier: GPL-2.0-or-later
/** What is under a point of the picture, by bisection. */

import { touching } from '../../derive/query.ts';
import type { LaneIndex, Mark, Nanos, RunIndex, Strand } from '../../derive/types.ts';
import type { LaneBox, Layout } from './layout.ts';
import { openOn } from './line-of.ts';
import type { Line } from './lines.ts';
import { openEnd } from './marks.ts';
import { nearest } from './points.ts';
import type { Score } from './score.ts';
import { type Series, seriesOf, stepsOf } from './series.ts';
import { type MarkStyle, stylesFor } from './styles.ts';

const reachPx = 4;
const pointReachPx = 6;

/** What is under a point: short and important things first, within 4 px. */
export function hitTest(
  index: RunIndex,
  layout: Layout,
  score: Score,
  x: number,
  y: number,
): Mark | null {
  if (x < layout.left || x > layout.right) return null;
  const box = layout.lanes.find((lane) => y >= lane.bodyTop - 3 && y <= lane.bottom + 3);
  const line = box && lineAt(box, y);
  if (box === undefined || line === undefined) return null;
  const t = box.t0 + (x - layout.left) * layout.nsPerPx;
  if (line.what === 'counter') {
    const series = seriesOf(index.kinds, score).find(({ name }) => name === line.points[0]);
    return series === undefined
      ? null
      : hitSeries(box.lane, series, t, 3 * pointReachPx * layout.nsPerPx);
  }
  if (line.what === 'point') return hitPoint(box.lane, line, t, pointReachPx * layout.nsPerPx);
  if (line.what === 'extra') return null;
  return hitSpan(index, box.lane, line, score, t, reachPx * layout.nsPerPx);
}

/** The line at a height, of rows and their functions the nearest. */
function lineAt(box: LaneBox, y: number): Line | undefined {
  let best: { line: Line; off: number } | undefined;
  for (const line of box.lines) {
    const off = Math.max(0, line.top - y, y - line.top - line.height);
    if (off <= 3 && (best === undefined || off < best.off)) best = { line, off };
  }
  return best?.line;
}

function hitPoint(lane: LaneIndex, line: Line, t: number, reach: number): Mark | null {
  let best: Mark | null = null;
  for (const name of line.points) {
    const of = lane.pointsOf(name);
    const p = nearest(of.length, (at) => lane.points.t[of.order[at]!]!, t, reach);
    if (p < 0) continue;
    const mark = pointMark(lane, of.order[p]!);
    if (best === null || Math.abs(mark.t0 - t) < Math.abs(best.t0 - t)) best = mark;
  }
  return best;
}

/** What made a counter change, nearest to t. */
function hitSeries(lane: LaneIndex, series: Series, t: number, reach: number): Mark | null {
  const steps = stepsOf(lane, series);
  const p = nearest(steps.n, steps.t, t, reach);
  return p < 0 ? null : seriesMark(lane, series, p);
}

/** Step `p` of a series as a mark. */
export function seriesMark(lane: LaneIndex, series: Series, p: number): Mark {
  const { arm, opsByEnd } = lane;
  if (series.point !== null) return pointMark(lane, lane.pointsOf(series.point).order[p]!);
  if (series.xray === null) {
    return opMark(lane, opsByEnd.order[p]!);
  }
  const t = stepsOf(lane, series).t(p) as Nanos;
  return { arm, table: 'samples', id: p, row: -1, kind: series.at, t0: t, t1: t };
}

/** Entry `i` of the table of operations as a mark. */
export function opMark({ arm, ops }: LaneIndex, i: number): Mark {
  const [t0, t1] = [ops.t0[i]! as Nanos, ops.t1[i]! as Nanos];
  return { arm, table: 'ops', id: ops.id[i]!, row: ops.row[i]!, kind: -1, t0, t1 };
}

/** Entry `i` of the table of points as a mark; its row is that of its thread, -1 if that has none. */
export function pointMark(lane: LaneIndex, i: number): Mark {
  const { t, tid, kind, id } = lane.points;
  const row = lane.rows.find((r) => r.tid === tid[i])?.row ?? -1;
  const at = t[i]! as Nanos;
  return { arm: lane.arm, table: 'points', id: id[i]!, row, kind: kind[i]!, t0: at, t1: at };
}

/** The strands of a line that can be pointed at. */
function strandsOf(lane: LaneIndex, line: Line, score: Score): readonly Strand[] {
  if (line.strand !== null) return [line.strand];
  const own = lane.strand(line.row, line.what === 'track' ? 'track' : 'state');
  const brackets = line.what === 'row' && score.look.functions === 'brackets';
  const functions = brackets ? lane.strand(line.row, 'function') : null;
  return [own, functions].filter((strand) => strand !== null);
}

export function spanMark(lane: LaneIndex, i: number, open: boolean): Mark {
  const table = open ? lane.open : lane.spans;
  return {
    arm: lane.arm,
    table: 'spans',
    id: table.id[i]!,
    row: table.row[i]!,
    kind: table.kind[i]!,
    t0: table.t0[i]! as Nanos,
    t1: table.t1[i]! as Nanos,
    ...(open ? { open } : {}),
  };
}

function hitSpan(
  index: RunIndex,
  lane: LaneIndex,
  line: Line,
  score: Score,
  t: number,
  reach: number,
): Mark | null {
  const styles = stylesFor(index.kinds, score.look.functions);
  let best: { i: number; open: boolean; score: number } | null = null;
  const consider = (table: LaneIndex['spans'], i: number, open: boolean) => {
    const style = styles[table.kind[i]!];
    if (style === undefined || style.texture === 'bracket') return;
    const off = Math.max(0, table.t0[i]! - t, t - (open ? openEnd(lane, i) : table.t1[i]!));
    if (off > reach) return;
    const worth = worthOf(style, off, reach);
    if (best === null || worth > best.score) best = { i, open, score: worth };
  };
  for (const strand of strandsOf(lane, line, score)) {
    const { from, to } = touching(lane.spans, strand, t - reach, t + reach);
    for (let p = from; p < to; p++) consider(lane.spans, strand.order[p]!, false);
  }
  for (const i of openOn(lane, line, score)) consider(lane.open, i, true);
  const found = best as { i: number; open: boolean } | null;
  return found === null ? null : spanMark(lane, found.i, found.open);
}

/** A rank outweighs a near miss; a miss outweighs equal rank. */
function worthOf(style: MarkStyle, off: number, reach: number): number {
  return style.rank * 2 - (off / reach) * 3 - (off > 0 && style.leastPx === 1 ? 4 : 0);
}
