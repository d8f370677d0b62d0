// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Items on a lane's lines for pointer and arrow keys: spans, points, and changes of counters. They are found by
 * bisection.
 */

import { firstAtLeast } from '../../base/columns.ts';
import { pointRange } from '../../derive/lane-index.ts';
import { touching } from '../../derive/query.ts';
import type { LaneIndex, Mark, Nanos, RunIndex, Strand } from '../../derive/types.ts';
import type { Item, Row } from '../contract.ts';
import { opMark, pointMark, spanMark } from './describe.ts';
import { type LaneBox, type Layout, openOn } from './layout.ts';
import { type Line, type Series, seriesOf, stepsOf } from './lines.ts';
import { openEnd } from './marks.ts';
import { type Score, stylesFor } from './score.ts';

/** Horizontal tolerance of the pointer for each kind of line, px. */
const slops = { row: 4, function: 4, track: 4, point: 6, counter: 18 } as const;

export function rowsOf(index: RunIndex, layout: Layout, score: Score): readonly Row[] {
  const { left, right, nsPerPx, playheadX } = layout;
  // The up and down arrow keys enter each row at the current moment.
  const entry = playheadX === null ? {} : { entry: playheadX };
  return layout.lanes.flatMap((box) =>
    box.lines.flatMap((line): Row[] => {
      if (line.what === 'extra') return [];
      const { arm, t0: from } = box;
      const put = (mark: Mark, t0: number, t1: number): Item => {
        const x = left + (t0 - from) / nsPerPx;
        return { mark, box: { x, y: line.top, w: (t1 - t0) / nsPerPx, h: line.height } };
      };
      const at: At = { index, box, line, score, put };
      const time = (x: number) => from + (x - left) * nsPerPx;
      return [
        {
          arm,
          area: { x: left, y: line.top, w: right - left, h: line.height },
          items: (x0, x1) => itemsIn(at, time(x0), time(x1)),
          slop: slops[line.what],
          ...entry,
        },
      ];
    }),
  );
}

interface At {
  readonly index: RunIndex;
  readonly box: LaneBox;
  readonly line: Line;
  readonly score: Score;
  readonly put: (mark: Mark, t0: number, t1: number) => Item;
}

function itemsIn(at: At, a: number, b: number): readonly Item[] {
  if (at.line.what === 'point') return pointsIn(at, a, b);
  return at.line.what === 'counter' ? changesIn(at, a, b) : spansIn(at, a, b);
}

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i);
}

/**
 * The strands of a line. The first strand has marks that the arrow keys visit; further strands have marks that only the
 * pointer selects.
 */
function strandsOf(lane: LaneIndex, line: Line, score: Score): readonly (Strand | null)[] {
  if (line.strand !== null) return [line.strand];
  const own = lane.strand(line.row, line.what === 'track' ? 'track' : 'state');
  const brackets = line.what === 'row' && score.look.functions === 'brackets';
  return brackets ? [own, lane.strand(line.row, 'function')] : [own];
}

function spansIn({ index, box, line, score, put }: At, a: number, b: number): readonly Item[] {
  const { lane } = box;
  const styles = stylesFor(index.kinds, score.look.functions);
  const item = (i: number, open: boolean, pointerOnly = false): readonly Item[] => {
    const mark = spanMark(lane, i, open);
    const style = styles[mark.kind];
    if (style === undefined || style.texture === 'bracket') return [];
    const t1 = open ? openEnd(lane, i) : mark.t1;
    if (t1 < a || mark.t0 > b) return [];
    return [{ ...put(mark, mark.t0, t1), rank: style.rank, brief: style.leastPx > 1, pointerOnly }];
  };
  const ended = strandsOf(lane, line, score).flatMap((strand, nth) => {
    if (strand === null) return [];
    const { from, to } = touching(lane.spans, strand, a, b);
    return range(from, to).flatMap((p) => item(strand.order[p]!, false, nth > 0));
  });
  return [...ended, ...openOn(lane, line, score).flatMap((i) => item(i, true))];
}

function pointsIn({ box: { lane }, line, put }: At, a: number, b: number): readonly Item[] {
  const places = line.points.flatMap((name) => {
    const of = lane.pointsOf(name);
    const { from, to } = pointRange(lane.points, of, a, b);
    return Array.from(of.order.subarray(from, to));
  });
  // If several names share a line, sorting the table indices restores the order by time.
  if (line.points.length > 1) places.sort((x, y) => x - y);
  return places.map((i) => {
    const mark = pointMark(lane, i);
    return put(mark, mark.t0, mark.t0);
  });
}

/** Items for the events that change a counter. */
function changesIn({ index, box, line, score, put }: At, a: number, b: number): readonly Item[] {
  const { lane } = box;
  const series = seriesOf(index.kinds, score).find(({ name }) => name === line.points[0]);
  if (series === undefined) return [];
  const steps = stepsOf(lane, series);
  const [from, to] = [a, b].map((t) => firstAtLeast(steps.n, steps.t, t)) as [number, number];
  return range(from, to).map((p) => put(changeMark(lane, series, p), steps.t(p), steps.t(p)));
}

/** Make a mark from change `p` of a series. */
function changeMark(lane: LaneIndex, series: Series, p: number): Mark {
  const { arm, opsByEnd } = lane;
  if (series.point !== null) return pointMark(lane, lane.pointsOf(series.point).order[p]!);
  if (series.xray === null) return opMark(lane, opsByEnd.order[p]!);
  const t = stepsOf(lane, series).t(p) as Nanos;
  return { arm, table: 'samples', id: p, row: -1, kind: series.at, t0: t, t1: t };
}
