// SPDX-License-Identifier: GPL-2.0-or-later
/** Alignment of lanes. Each lane has an offset that is added to the lane's own time. */

import { assertNever } from '../base/assert.ts';
import { firstAtLeast } from '../base/columns.ts';
import { locale, t } from '../base/lang/t.ts';
import { type Nanos, ns } from '../base/units.ts';
import type { Axis, Lesson } from '../protocol/lesson.ts';
import { opsUpTo } from './query.ts';
import type { Alignment, Frame, LaneIndex, RunIndex } from './types.ts';
import { list } from './words.ts';

export type Offsets = ReadonlyMap<string, number>;

export const noOffsets: Offsets = new Map();

/** The end of a lane's n-th operation, counted from 1; null if this operation has not ended or was evicted. */
export function opEnd(lane: LaneIndex, n: number): Nanos | null {
  const at = n - 1 - lane.opsEvicted;
  if (at < 0 || at >= lane.opsByEnd.length) return null;
  return ns(lane.ops.t1[lane.opsByEnd.order[at]!]!);
}

/**
 * The start of a lane's n-th operation. Operations are counted from 1 in the order in which they end. Null if the
 * operation has not ended or was evicted.
 */
export function opBegin(lane: LaneIndex, n: number): Nanos | null {
  const at = n - 1 - lane.opsEvicted;
  if (at < 0 || at >= lane.opsByEnd.length) return null;
  return ns(lane.ops.t0[lane.opsByEnd.order[at]!]!);
}

/**
 * Return the offset of each lane for an alignment:
 * - `time`: lanes start together, so all offsets are 0.
 * - `operation`: operation n ends at the same frame time on every lane. If `nth` is null, operation n is the last
 *   operation that even the slowest lane has ended up to the time `around`.
 * - `marker`: the first operation ends at the same frame time on every lane.
 * - `begin`: operation n begins at the same frame time on every lane.
 */
export function offsetsOf(
  index: RunIndex,
  alignment: Alignment,
  around: number,
  nth: number | null = null,
): Offsets {
  return together(index, alignment, operationOf(index, alignment, around, nth)).offsets;
}

/** The number of the operation at which lanes are aligned, counted from 1. */
export function operationOf(
  index: RunIndex,
  alignment: Alignment,
  around: number,
  nth: number | null,
): number {
  if (alignment === 'marker') return 1;
  if (alignment === 'operation') return nth ?? commonOperation(index, around);
  return nth ?? 1;
}

/** The reason that a lesson's lanes cannot be aligned by operations; null if they can. */
export function unaligned({ operation }: Pick<Lesson, 'operation'>): string | null {
  if (operation.open !== null) return null;
  return t('no event tells when a {name} begins or ends, so lanes cannot be aligned by a {name}', {
    name: operation.name,
  });
}

export interface Together {
  readonly offsets: Offsets;
  /** Frame time of the aligned operation; null if lanes are not shifted, or if no lane has the operation. */
  readonly at: Nanos | null;
  /** The lane that reaches the operation last. This lane is not shifted, so the axis shows the lane's own time. */
  readonly last: string | null;
  /** Lanes that are not shifted, because the operation has not ended there or was evicted. */
  readonly lacking: readonly string[];
}

const apart: Together = { offsets: noOffsets, at: null, last: null, lacking: [] };

/** Offsets of the lanes if they are aligned at operation n. */
export function together(index: RunIndex, alignment: Alignment, n: number): Together {
  switch (alignment) {
    case 'time':
      return apart;
    case 'operation':
    case 'marker':
      return latestTogether(index, (lane) => opEnd(lane, n));
    case 'begin':
      return latestTogether(index, (lane) => opBegin(lane, n));
    default:
      return assertNever(alignment);
  }
}

/**
 * The highest operation at which lanes can be aligned, which is the number of operations that every lane has ended.
 * Lanes without operations are ignored.
 */
export function operationsOfAll(index: RunIndex): number {
  const counts = index.lanes
    .filter((l) => l.opsByEnd.length > 0)
    .map((l) => l.opsByEnd.length + l.opsEvicted);
  return counts.length === 0 ? 0 : Math.min(...counts);
}

/** The number of operations that even the slowest lane has ended up to the time `around`; at least 1. */
function commonOperation(index: RunIndex, around: number): number {
  const counts = index.lanes.filter((l) => l.opsByEnd.length > 0).map((l) => opsUpTo(l, around));
  return counts.length === 0 ? 1 : Math.max(1, Math.min(...counts));
}

/**
 * Shift the lanes so that the times `of(lane)` become equal in frame time. The latest of these times stays unshifted.
 */
function latestTogether(index: RunIndex, of: (lane: LaneIndex) => Nanos | null): Together {
  const times = index.lanes.map((lane) => [lane.arm, of(lane)] as const);
  const latest = Math.max(...times.map(([, t]) => t ?? Number.NEGATIVE_INFINITY));
  const lacking = times.flatMap(([arm, t]) => (t === null ? [arm] : []));
  if (!Number.isFinite(latest)) return { ...apart, lacking };
  return {
    offsets: new Map(times.flatMap(([arm, t]) => (t === null ? [] : [[arm, latest - t]]))),
    at: ns(latest),
    last: times.find(([, t]) => t === latest)?.[0] ?? null,
    lacking,
  };
}

/** Convert frame time to the lane's own time. */
export function laneTime(offset: Offsets, arm: string, t: number): Nanos {
  return ns(t - (offset.get(arm) ?? 0));
}

// With `hold`, each lane stops after one operation, so that this operation can be compared on all lanes.

/**
 * Tolerance for the start of an operation, ns: half a step of a counting axis. It covers rounding errors in offsets,
 * which are sums.
 */
const slack = 500;

/** Index in `opsByEnd` of the first operation that begins at or after the window's start; -1 if there is none. */
export function heldOp(lane: LaneIndex, frame: Pick<Frame, 'start' | 'offset'>): number {
  const { order, length } = lane.opsByEnd;
  const start = laneTime(frame.offset, lane.arm, frame.start);
  const p = firstAtLeast(length, (i) => lane.ops.t0[order[i]!]!, start - slack);
  return p < length ? p : -1;
}

/**
 * The frame's moment in the lane's own time. If the lane stops after an operation, the moment is at most the end of
 * that operation.
 */
export function heldTime(lane: LaneIndex, frame: Frame): Nanos {
  const t = laneTime(frame.offset, lane.arm, frame.moment);
  const p = frame.hold === true ? heldOp(lane, frame) : -1;
  return p < 0 ? t : ns(Math.min(t, lane.ops.t1[lane.opsByEnd.order[p]!]!));
}

/** Number of operations that have ended on a lane up to the moment, for the lane's header. */
export function opsNow(lane: LaneIndex, frame: Frame): number {
  return opsUpTo(lane, heldTime(lane, frame));
}

// Describes in words what the common axis counts and where lanes are aligned.

type Names = Pick<Lesson, 'operation' | 'arms'>;

export interface AxisWords {
  /** What the axis counts, such as "guest time since the workload's start". */
  readonly title: string;
  /** The aligned moment with its name, such as "umount 100"; null if lanes start together. */
  readonly flag: { readonly t: Nanos; readonly words: string } | null;
}

function counted(axis: Axis | null): string {
  return axis === null ? t('guest time') : axis.plural;
}

/** The aligned moment with its name; null if lanes are not shifted. */
export function axisFlag(index: RunIndex, frame: Frame, operation: string): AxisWords['flag'] {
  const { by, n, at = together(index, by, n).at } = frame.aligned ?? { by: 'time', n: 1 };
  return at === null ? null : { t: at, words: nthWords(operation, n) };
}

function nthWords(operation: string, n: number): string {
  return `${operation} ${n.toLocaleString(locale())}`;
}

/** Describe in words what the axis of a frame counts and where lanes are aligned. */
export function axisWords(index: RunIndex, frame: Frame, lesson: Names): AxisWords {
  const { by, n } = frame.aligned ?? { by: 'time', n: 1 };
  const since = t("{axis} since the workload's start", { axis: counted(index.axis) });
  if (by === 'time') return { title: since, flag: null };
  const { at, last, lacking } = together(index, by, n);
  const what = nthWords(lesson.operation.name, n);
  if (at === null || last === null)
    return { title: t('{since}; no lane has {what} yet', { since, what }), flag: null };
  const title = (arm: string) => lesson.arms.find((a) => a.name === arm)?.title ?? arm;
  const happens = by === 'begin' ? t('begins') : t('ends');
  const own = index.lanes.length > 1 ? t(' of {last}', { last: title(last) }) : '';
  const not = list(lacking.map(title));
  const left =
    lacking.length === 0
      ? ''
      : t('; {not} {lacking} no such operation', {
          not,
          lacking: lacking.length === 1 ? t('has') : t('have'),
        });
  return {
    title: t('{axis}{own}; {what} {happens} at the same moment on every lane{left}', {
      axis: counted(index.axis),
      own,
      what,
      happens,
      left,
    }),
    flag: { t: at, words: what },
  };
}
