// SPDX-License-Identifier: GPL-2.0-or-later
/** A mark in words, for its tip and for those who do not see it. */

import { firstAtLeast } from '../../base/columns.ts';
import { t as tr } from '../../base/lang/t.ts';
import { formatMoment } from '../../base/units.ts';
import { lengthOf } from '../../derive/figures.ts';
import { laneOf } from '../../derive/query.ts';
import type { LaneIndex, Mark, PointTable, RunIndex } from '../../derive/types.ts';
import { capital, fieldValue, fieldWords } from '../../derive/words.ts';
import type { Lesson, PointFacts } from '../../protocol/lesson.ts';

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
