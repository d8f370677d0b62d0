// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Explains how a mark was made: the events or accesses behind it, their trace records, and the computation. A view
 * whose marks are neither rows, points nor samples provides its own `behind` (views/contract.ts). All times are guest
 * times, even on an axis that counts something else. Pure.
 */

import { t } from '../base/lang/t.ts';
import { formatNs, type Nanos, ns } from '../base/units.ts';
import type { Kind, Lesson } from '../protocol/lesson.ts';
import { laneOf } from './query.ts';
import type { LaneIndex, Mark, RunIndex } from './types.ts';
import { fieldValue, fieldWords } from './words.ts';

/** An event, an access, or a sample, as a row of the drawer. */
export interface BehindRow {
  readonly t: Nanos;
  /** CPU of the event; -1 if the event has no CPU. */
  readonly cpu: number;
  readonly what: string;
  readonly fields: string;
}

/** Says which trace records to request from the server. */
export interface TraceAsked {
  readonly t: Nanos;
  /** The row of the lane: a thread or a track. */
  readonly row?: number;
  readonly cpu?: number;
}

export interface Behind {
  readonly arm: string;
  readonly title: string;
  /** The thread, inode, block or field to which the mark belongs; empty if the mark belongs to none. */
  readonly who: string;
  readonly t0: Nanos;
  readonly t1: Nanos;
  readonly evidence: Kind['evidence'];
  /** One sentence that says how the mark was computed from the rows; empty if the mark was made from a single event. */
  readonly how: string;
  readonly rows: readonly BehindRow[];
  /** The trace records to request; null if the mark was not made from a trace event. */
  readonly trace: TraceAsked | null;
}

type Facts = Pick<Lesson, 'kinds' | 'points' | 'operation' | 'counters'>;

/** Maximum number of events in a drawer. */
export const mostRows = 12;

/** Table index of the point from which a mark was made; -1 if the point was evicted. */
export function placeOfPoint({ points }: LaneIndex, { id, t0 }: Pick<Mark, 'id' | 't0'>): number {
  for (let i = 0; i < points.length; i++) if (points.id[i] === id && points.t[i] === t0) return i;
  return -1;
}

/** A row of the drawer for a point, with the point's title from the lesson. */
export function pointRow(lane: LaneIndex, lesson: Pick<Lesson, 'points'>, i: number): BehindRow {
  const { points } = lane;
  const point = lesson.points[points.kind[i]!];
  return {
    t: lane.pointTime(i),
    cpu: points.cpu[i]!,
    what: point?.title ?? t('an event'),
    fields: point === undefined ? '' : fieldWords(points, i, point),
  };
}

/** Request for the trace records on a point's CPU around the point's time. */
export function traceOfPoint(lane: LaneIndex, i: number): TraceAsked {
  const cpu = lane.points.cpu[i]!;
  return { t: lane.pointTime(i), ...(cpu < 0 ? {} : { cpu }) };
}

interface Made {
  readonly who: string;
  readonly how?: string;
  /** Table indices of the points behind the mark, in order of time. */
  readonly places: readonly number[];
  /** Table index of the point that made the mark; by default the first of `places`. */
  readonly made?: number;
}

/** Explain a mark that a view made from trace points. The mark's kind must be declared by the lesson. */
export function madeOfPoints(lane: LaneIndex, lesson: Facts, mark: Mark, from: Made): Behind {
  const kind = lesson.kinds[mark.kind];
  const first = from.made ?? from.places[0] ?? -1;
  // On a counting axis, a moment only identifies the point before it. The mark's own event has an exact time.
  const exact = first >= 0 && mark.t0 === mark.t1 ? lane.pointTime(first) : null;
  return {
    arm: lane.arm,
    title: kind?.title ?? t('a mark'),
    who: from.who,
    t0: exact ?? lane.guestTime(mark.t0),
    t1: exact ?? lane.guestTime(mark.t1),
    evidence: kind?.evidence ?? 'counted',
    how: from.how ?? '',
    rows: from.places.map((i) => pointRow(lane, lesson, i)),
    trace: first >= 0 ? traceOfPoint(lane, first) : { t: lane.guestTime(mark.t0) },
  };
}

/** Explain a mark that was made from rows, points or samples, by using the lane's own tables. */
export function behindMark(index: RunIndex, lesson: Facts, mark: Mark): Behind | null {
  const lane = laneOf(index, mark.arm);
  if (lane === null) return null;
  if (mark.table === 'points') return behindPoint(lane, lesson, mark);
  if (mark.table === 'samples') return behindSample(lane, lesson, mark);
  const kind = lesson.kinds[mark.kind];
  const t0 = lane.guestTime(mark.t0);
  return {
    arm: lane.arm,
    title:
      mark.table === 'ops'
        ? t('one {name}', { name: lesson.operation.name })
        : (kind?.title ?? t('a mark')),
    who: rowName(lane, mark.row),
    t0,
    t1: lane.guestTime(mark.t1),
    evidence: kind?.evidence ?? 'counted',
    how: mark.open
      ? t(
          'The event that begins this mark has arrived; the event that ends this mark has not arrived yet.',
        )
      : t('This mark extends from its begin event to its end event.'),
    rows: [],
    trace: { t: t0, ...(mark.row >= 0 ? { row: mark.row } : {}) },
  };
}

function rowName(lane: LaneIndex, row: number): string {
  return lane.rows.find((one) => one.row === row)?.name ?? '';
}

function behindPoint(lane: LaneIndex, lesson: Facts, mark: Mark): Behind {
  const point = lesson.points[mark.kind];
  const at = placeOfPoint(lane, mark);
  const seen = point?.lens === 'microscope';
  const t0 = at < 0 ? lane.guestTime(mark.t0) : lane.pointTime(at);
  return {
    arm: lane.arm,
    title: point?.title ?? t('an event'),
    who: rowName(lane, mark.row),
    t0,
    t1: t0,
    evidence: 'counted',
    how: seen
      ? t(
          'The microscope counted this access in the emulated CPU; the kernel wrote no trace record for it.',
        )
      : '',
    rows: at < 0 ? [] : [pointRow(lane, lesson, at)],
    trace: seen ? null : at < 0 ? { t: t0 } : traceOfPoint(lane, at),
  };
}

function behindSample(lane: LaneIndex, lesson: Facts, mark: Mark): Behind {
  const counter = lesson.counters[mark.kind];
  const [probe, field] = [counter?.xray ?? '', counter?.field ?? ''];
  const sample = lane.samples(probe).find(({ t }) => t === mark.t0);
  const t0 = lane.guestTime(mark.t0);
  const value = sample?.facts[field];
  const rows = value === undefined ? [] : [`${field} ${fieldValue(field, value)}`];
  return {
    arm: lane.arm,
    title: counter?.title ?? t('a sample'),
    who: '',
    t0,
    t1: t0,
    evidence: 'counted',
    how: sampleWords(probe, sample?.error ?? ns(0)),
    rows: rows.map((fields) => ({
      t: t0,
      cpu: -1,
      what: t('x-ray of {probe}', { probe }),
      fields,
    })),
    trace: null,
  };
}

/** A sentence that says how a mark was computed from an x-ray sample. */
export function sampleWords(probe: string, error: Nanos): string {
  const within =
    error > 0 ? t(', at a guest time known within {error}', { error: formatNs(error) }) : '';
  return t(
    "The x-ray read these data from the guest's memory with its probe {probe}{within}. The kernel wrote no trace record of these data.",
    { probe, within },
  );
}
