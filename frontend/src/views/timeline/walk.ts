// SPDX-License-Identifier: GPL-2.0-or-later
/** Keys: left and right along a line, up and down between lines and lanes, at the same moment. */

import { firstAbove, firstAtLeast } from '../../base/columns.ts';
import { laneTime } from '../../derive/align.ts';
import { pointRange } from '../../derive/lane-index.ts';
import { touching } from '../../derive/query.ts';
import type { LaneIndex, Mark } from '../../derive/types.ts';
import type { ArrowKey, Drawing } from '../contract.ts';
import { pointMark, seriesMark, spanMark } from './hit.ts';
import type { LaneBox, Layout } from './layout.ts';
import { lineOf, openOn, placeIn } from './line-of.ts';
import type { Line } from './lines.ts';
import type { Score } from './score.ts';
import { seriesOf, stepsOf } from './series.ts';

/** Marks of a line in order of time; made one by one, since there may be many. */
interface Sequence {
  readonly n: number;
  readonly at: (p: number) => Mark;
  /** Where a mark stands; -1: it is not among them. */
  readonly placeOf: (mark: Mark) => number;
}

const empty: Sequence = { n: 0, at: () => null as never, placeOf: () => -1 };

/** The next mark in a direction; from nowhere the first that stands at the moment. */
export function walk(
  layout: Layout,
  score: Score,
  drawing: Drawing,
  from: Mark | null,
  key: ArrowKey,
): Mark | null {
  const { frame } = drawing;
  const places = layout.lanes.flatMap((box) => box.lines.map((line) => ({ box, line })));
  const moment = (box: LaneBox) => laneTime(frame.offset, box.arm, frame.moment);
  const box = layout.lanes.find((one) => one.arm === from?.arm);
  const line = from === null || box === undefined ? null : lineOf(box, from, score);
  if (from === null || box === undefined || line === null) {
    const found = places.map((place) => at(place.box.lane, place.line, score, moment(place.box)));
    return found.find((mark) => mark !== null) ?? null;
  }
  if (key === 'ArrowUp' || key === 'ArrowDown') {
    const by = key === 'ArrowDown' ? 1 : -1;
    const here = places.findIndex((place) => place.box === box && place.line === line);
    for (let i = here + by; i >= 0 && i < places.length; i += by) {
      const place = places[i]!;
      const mark = at(place.box.lane, place.line, score, moment(place.box));
      if (mark !== null) return mark;
    }
    return null;
  }
  const start = laneTime(frame.offset, box.arm, frame.start);
  const marks = along(box.lane, line, score, start, start + frame.span);
  if (marks.n === 0) return null;
  if (key === 'Home') return marks.at(0);
  if (key === 'End') return marks.at(marks.n - 1);
  const next = marks.placeOf(from) + (key === 'ArrowRight' ? 1 : -1);
  return next >= 0 && next < marks.n ? marks.at(next) : null;
}

/** How far back a mark is looked for where the moment has none, ns. */
const backNs = 1e8;

/** The mark of a line that covers t, else the last before it. */
function at(lane: LaneIndex, line: Line, score: Score, t: number): Mark | null {
  const marks = along(lane, line, score, t - backNs, t + 1);
  for (let p = marks.n - 1; p >= 0 && p >= marks.n - 2; p--) {
    const mark = marks.at(p);
    if (mark.t0 <= t && (mark.t1 > t || mark.open)) return mark;
  }
  return marks.n === 0 ? null : marks.at(marks.n - 1);
}

/** The marks of a line in [a, b). */
function along(lane: LaneIndex, line: Line, score: Score, a: number, b: number): Sequence {
  if (line.what === 'point') return alongPoints(lane, line, a, b);
  if (line.what === 'extra') return empty;
  if (line.what === 'counter') return alongSeries(lane, line, score, a, b);
  const layer = line.what === 'track' ? 'track' : 'state';
  const strand = line.strand ?? lane.strand(line.row, layer);
  const open = openOn(lane, line, score).filter((i) => lane.open.t0[i]! < b);
  const { from, to } = strand === null ? { from: 0, to: 0 } : touching(lane.spans, strand, a, b);
  if (to - from + open.length === 0) return empty;
  return {
    n: to - from + open.length,
    at: (p) =>
      p < to - from
        ? spanMark(lane, strand!.order[from + p]!, false)
        : spanMark(lane, open[p - (to - from)]!, true),
    placeOf: (mark) => {
      if (mark.open) return to - from + open.findIndex((i) => lane.open.id[i] === mark.id);
      const p = strand === null ? -1 : placeIn(lane, strand, mark);
      return p < 0 ? -1 : p - from;
    },
  };
}

function alongPoints(lane: LaneIndex, line: Line, a: number, b: number): Sequence {
  const places = line.points.flatMap((name) => {
    const of = lane.pointsOf(name);
    const { from, to } = pointRange(lane.points, of, a, b);
    return Array.from(of.order.subarray(from, to));
  });
  // Several kinds on one line: the table is in order of time, so its places are, too.
  if (line.points.length > 1) places.sort((x, y) => x - y);
  return {
    n: places.length,
    at: (p) => pointMark(lane, places[p]!),
    placeOf: (mark) => {
      const p = firstAbove(places.length, (i) => lane.points.t[places[i]!]!, mark.t0) - 1;
      for (let q = p; q >= 0 && lane.points.t[places[q]!] === mark.t0; q--) {
        if (lane.points.id[places[q]!] === mark.id) return q;
      }
      return -1;
    },
  };
}

/** What makes a counter change. */
function alongSeries(lane: LaneIndex, line: Line, score: Score, a: number, b: number): Sequence {
  const series = seriesOf([], score).find(({ name }) => name === line.points[0]);
  if (series === undefined) return empty;
  const steps = stepsOf(lane, series);
  const from = firstAtLeast(steps.n, steps.t, a);
  const n = firstAtLeast(steps.n, steps.t, b) - from;
  return {
    n,
    at: (p) => seriesMark(lane, series, from + p),
    placeOf: (mark) => {
      const p = firstAtLeast(steps.n, steps.t, mark.t1);
      for (let q = p; q < steps.n && steps.t(q) === mark.t1; q++) {
        if (seriesMark(lane, series, q).id === mark.id) return q - from;
      }
      return -1;
    },
  };
}
