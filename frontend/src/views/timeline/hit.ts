// SPDX-License-Identifier: GPL-2.0-or-later
/** What is under a point of the picture, by bisection. */

import { firstAbove, firstAtLeast } from '../../base/columns.ts';
import { t as tr } from '../../base/lang/t.ts';
import { formatMoment, ns } from '../../base/units.ts';
import { laneTime } from '../../derive/align.ts';
import { lengthOf } from '../../derive/figures.ts';
import { pointRange } from '../../derive/lane-index.ts';
import { laneOf, touching } from '../../derive/query.ts';
import { type NearbyRow, nearbyOf } from '../../derive/summary.ts';
import type {
  Frame,
  LaneIndex,
  Mark,
  Nanos,
  PointTable,
  RunIndex,
  Strand,
} from '../../derive/types.ts';
import { armTitle, capital, fieldValue, fieldWords } from '../../derive/words.ts';
import type { Lesson, PointFacts } from '../../protocol/lesson.ts';
import type { ArrowKey, Drawing } from '../contract.ts';
import { type LaneBox, type Layout, lineOf, openOn, placeIn } from './layout.ts';
import { type Line, type Series, seriesOf, stepsOf } from './lines.ts';
import { nearest, openEnd } from './marks.ts';
import { type MarkStyle, type Score, stylesFor } from './score.ts';

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
function seriesMark(lane: LaneIndex, series: Series, p: number): Mark {
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
function pointMark(lane: LaneIndex, i: number): Mark {
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

// Keys: left and right along a line, up and down between lines and lanes, at the same moment.

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

// A mark in words, for its tip and for those who do not see it.

type Facts = Pick<Lesson, 'arms'> & Partial<Pick<Lesson, 'points' | 'operation' | 'counters'>>;

/** A mark in words: what, how long, whose, when, and what it proves. */
export function describeMark(index: RunIndex, mark: Mark, lesson: Facts): string {
  const lane = laneOf(index, mark.arm);
  const arm = lesson.arms.find((a) => a.name === mark.arm)?.title ?? mark.arm;
  if (mark.table === 'points') {
    const point = lesson.points?.[mark.kind];
    return lane === null || point === undefined ? '' : describePoint(lane, mark, point, arm);
  }
  const when = formatMoment(mark.t0, 1e6);
  if (mark.table === 'samples') {
    const counter = lesson.counters?.[mark.kind];
    const samples = lane?.samples(counter?.xray ?? '') ?? [];
    const seen = samples.find((sample) => sample.t === mark.t0);
    const value = seen?.facts[counter?.field ?? ''];
    return tr('{title}: {value}. {arm}, read by the x-ray at {when}.', {
      title: counter?.title ?? 'sample',
      value: value === undefined ? tr('not read') : fieldValue(counter!.field!, value),
      arm,
      when,
    });
  }
  const kind = index.kinds[mark.kind];
  const row =
    lane?.rows.find((r) => r.row === mark.row)?.name ?? tr('row {row}', { row: mark.row });
  const long = lengthOf(mark);
  if (mark.table === 'ops') {
    return tr('{what}: {long}. {arm}, {row}, from {when}.{aside}', {
      what: capital(lesson.operation?.name ?? 'operation'),
      long,
      arm,
      row,
      when,
      aside: '',
    });
  }
  const length = mark.open ? tr('{long} so far', { long }) : long;
  const aside = kind?.lesson === false ? tr(' Not the lesson.') : '';
  return tr('{what}: {long}. {arm}, {row}, from {when}.{aside}', {
    what: kind?.title ?? tr('unknown'),
    long: length,
    arm,
    row,
    when,
    aside,
  });
}

function describePoint(lane: LaneIndex, mark: Mark, point: PointFacts, arm: string): string {
  const { points } = lane;
  const of = lane.pointsOf(point.name);
  const i = placeOfPoint(points, of.order, of.length, mark);
  const fields = i < 0 ? '' : fieldWords(points, i, point);
  const who = lane.rows.find((r) => r.row === mark.row)?.name ?? threadOf(points, i);
  const cpu = i >= 0 && points.cpu[i]! >= 0 ? tr(' on CPU {cpu}', { cpu: points.cpu[i] }) : '';
  const when = formatMoment(mark.t0, 1e6);
  return tr('{title}{fields}. {arm}, {who}{cpu}, at {when}.', {
    title: point.title,
    fields: fields === '' ? '' : `: ${fields}`,
    arm,
    who,
    cpu,
    when,
  });
}

function threadOf(points: PointTable, i: number): string {
  return i < 0 || points.tid[i]! <= 0
    ? tr('no thread of the workload')
    : tr('thread {tid}', { tid: points.tid[i] });
}

function placeOfPoint(points: PointTable, order: Uint32Array, n: number, mark: Mark): number {
  let p = firstAtLeast(n, (at) => points.t[order[at]!]!, mark.t0);
  for (; p < n && points.t[order[p]!] === mark.t0; p++) {
    if (points.id[order[p]!] === mark.id) return order[p]!;
  }
  return -1;
}

// The marks nearest to the moment as rows of a table: spans, and points with their fields.

const most = 50;
/** Points get at most so many rows, so that they never drive out all spans. */
const mostPoints = 25;

/** At most 50 marks nearest to the moment, in order of time. */
export function nearbyMarks(index: RunIndex, frame: Frame, lesson: Lesson): NearbyRow[] {
  const points = index.lanes.flatMap((lane) => pointsNear(lane, frame, lesson));
  points.sort((a, b) => Math.abs(a.t0 - frame.moment) - Math.abs(b.t0 - frame.moment));
  const kept = points.slice(0, mostPoints);
  const far = (row: NearbyRow) =>
    Math.max(0, row.t0 - frame.moment, frame.moment - (row.t0 + row.mark.t1 - row.mark.t0));
  return [...nearbyOf(index, frame, lesson), ...kept]
    .sort((a, b) => far(a) - far(b))
    .slice(0, most)
    .sort((a, b) => a.t0 - b.t0);
}

function pointsNear(lane: LaneIndex, frame: Frame, lesson: Lesson): NearbyRow[] {
  const { points } = lane;
  const t = laneTime(frame.offset, lane.arm, frame.moment);
  const shift = frame.moment - t;
  const middle = firstAtLeast(points.length, (i) => points.t[i]!, t);
  const rows: NearbyRow[] = [];
  const from = Math.max(0, middle - mostPoints);
  for (let i = from; i < Math.min(points.length, middle + mostPoints); i++) {
    if (Math.abs(points.t[i]! - t) > frame.span / 2) continue;
    const point = lesson.points[points.kind[i]!];
    if (point === undefined) continue;
    const mark = pointMark(lane, i);
    const fields = fieldWords(points, i, point);
    rows.push({
      mark,
      t0: ns(mark.t0 + shift),
      when: formatMoment(mark.t0 + shift, frame.span / 10),
      lane: armTitle(lesson, lane),
      row: lane.rows.find((r) => r.row === mark.row)?.name ?? '',
      what: fields === '' ? point.title : `${point.title}: ${fields}`,
      length: '',
      cpu: points.cpu[i]! < 0 ? '' : String(points.cpu[i]),
    });
  }
  return rows;
}
