// SPDX-License-Identifier: GPL-2.0-or-later
/** Marks made from a lane's table entries, and descriptions of marks for tooltips and for the table of nearby marks. */

import { firstAtLeast } from '../../base/columns.ts';
import { t as tr } from '../../base/lang/t.ts';
import { formatMoment, ns } from '../../base/units.ts';
import { laneTime } from '../../derive/align.ts';
import { lengthOf } from '../../derive/figures.ts';
import { laneOf } from '../../derive/query.ts';
import { type NearbyRow, nearbyOf } from '../../derive/summary.ts';
import type { Frame, LaneIndex, Mark, Nanos, PointTable, RunIndex } from '../../derive/types.ts';
import { armTitle, capital, fieldValue, fieldWords } from '../../derive/words.ts';
import type { Lesson, PointFacts } from '../../protocol/lesson.ts';

/** Make a mark from entry `i` of the table of operations. */
export function opMark({ arm, ops }: LaneIndex, i: number): Mark {
  const [t0, t1] = [ops.t0[i]! as Nanos, ops.t1[i]! as Nanos];
  return { arm, table: 'ops', id: ops.id[i]!, row: ops.row[i]!, kind: -1, t0, t1 };
}

/**
 * Make a mark from entry `i` of the table of points. The mark's row is the row of the point's thread, or -1 if the
 * thread has no row.
 */
export function pointMark(lane: LaneIndex, i: number): Mark {
  const { t, tid, kind, id } = lane.points;
  const row = lane.rows.find((r) => r.tid === tid[i])?.row ?? -1;
  const at = t[i]! as Nanos;
  return { arm: lane.arm, table: 'points', id: id[i]!, row, kind: kind[i]!, t0: at, t1: at };
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

// Descriptions of marks for tooltips and screen readers.

type Facts = Pick<Lesson, 'arms'> & Partial<Pick<Lesson, 'points' | 'operation' | 'counters'>>;

/** Describe a mark: kind, duration, thread, time, and evidence. */
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

// Lists the spans and points nearest to the moment as table rows. Points are listed with their fields.

const most = 50;
/** Maximum number of points in the list, so that spans have room. */
const mostPoints = 25;

/** The marks nearest to the moment, at most 50, in order of time. */
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
