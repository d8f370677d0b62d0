// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Moments to which the page can jump, and the first divergence of lanes. For each jump, a sentence describes the
 * destination, or says why the jump is unavailable. Pure.
 */

import { firstAbove, firstAtLeast } from '../base/columns.ts';
import { locale, t } from '../base/lang/t.ts';
import { formatNs, momentMs, type Nanos, ns } from '../base/units.ts';
import type { Lesson } from '../protocol/lesson.ts';
import { type Offsets, operationsOfAll, together, unaligned } from './align.ts';
import { isWait, laneOf } from './query.ts';
import { momentWords, stepNs } from './retime.ts';
import type { Frame, LaneIndex, RunIndex } from './types.ts';
import { armTitle, capital, fieldValue, list, shortTitle } from './words.ts';

// Moments to which the page can step, in frame time, which is the lane's time plus the lane's offset.

export type Direction = 1 | -1;

/** Find a moment on each lane, and return the nearest of these moments in the given direction. */
function nearest(
  index: RunIndex,
  offset: Offsets,
  direction: Direction,
  of: (lane: LaneIndex, shift: number) => number | null,
): Nanos | null {
  let best: number | null = null;
  for (const lane of index.lanes) {
    const shift = offset.get(lane.arm) ?? 0;
    const at = of(lane, shift);
    if (at === null) continue;
    const framed = at + shift;
    if (best === null || (direction > 0 ? framed < best : framed > best)) best = framed;
  }
  return best === null ? null : ns(best);
}

/** Return the first value after t in a sorted sequence, or the last value before t. */
function neighbour(
  length: number,
  at: (i: number) => number,
  t: number,
  direction: Direction,
): number | null {
  const i = direction > 0 ? firstAbove(length, at, t) : firstAtLeast(length, at, t) - 1;
  return i >= 0 && i < length ? at(i) : null;
}

/**
 * The next or previous beat on any lane. A beat is the end of an operation, unless the lesson declares a point as its
 * beat.
 */
export function beatAfter(
  index: RunIndex,
  offset: Offsets,
  t: number,
  direction: Direction,
): Nanos | null {
  return nearest(index, offset, direction, (lane, shift) => {
    if (index.beat !== null) {
      const of = lane.pointsOf(index.beat);
      return neighbour(of.length, (i) => lane.points.t[of.order[i]!]!, t - shift, direction);
    }
    const { order, length } = lane.opsByEnd;
    return neighbour(length, (i) => lane.ops.t1[order[i]!]!, t - shift, direction);
  });
}

/** The next or previous event on any lane. An event is the start of a span, or a point. */
export function eventAfter(
  index: RunIndex,
  offset: Offsets,
  t: number,
  direction: Direction,
): Nanos | null {
  return nearest(index, offset, direction, (lane, shift) => {
    const { points } = lane;
    let best = neighbour(points.length, (i) => points.t[i]!, t - shift, direction);
    for (const strand of lane.strands) {
      const at = neighbour(
        strand.length,
        (i) => lane.spans.t0[strand.order[i]!]!,
        t - shift,
        direction,
      );
      if (at !== null && (best === null || (direction > 0 ? at < best : at > best))) best = at;
    }
    return best;
  });
}

/** The first loss of events after t on any lane. After the last loss, the search continues from the start. */
export function nextLoss(index: RunIndex, offset: Offsets, t: number): Nanos | null {
  const after = (from: number) =>
    nearest(index, offset, 1, (lane, shift) => {
      const later = lane.losses.map((loss) => loss.t0).filter((t0) => t0 + shift > from);
      return later.length === 0 ? null : Math.min(...later);
    });
  return after(t) ?? after(Number.NEGATIVE_INFINITY);
}

export interface LongWait {
  readonly arm: string;
  readonly row: number;
  readonly kind: number;
  readonly t0: Nanos;
  readonly t1: Nanos;
}

/** Minimum duration of a long wait, ns: half of the longest wait on the visible lanes. */
function longFrom(index: RunIndex): number {
  return Math.max(...index.lanes.map((lane) => lane.longestWait), 0) / 2;
}

/**
 * The first long wait that begins after t (frame time). After the last long wait, the search continues from the start.
 */
export function nextLongWait(index: RunIndex, offset: Offsets, t: number): LongWait | null {
  const least = longFrom(index);
  if (least <= 0) return null;
  let best: LongWait | null = null;
  for (const lane of index.lanes) {
    const shift = offset.get(lane.arm) ?? 0;
    for (const strand of lane.strands) {
      if (strand.layer !== 'state') continue;
      const begin = firstAbove(strand.length, (i) => lane.spans.t0[strand.order[i]!]!, t - shift);
      for (let p = begin; p < strand.length; p++) {
        const i = strand.order[p]!;
        const t0 = lane.spans.t0[i]! + shift;
        if (best !== null && t0 >= best.t0) break;
        const t1 = lane.spans.t1[i]! + shift;
        if (t1 - t0 < least || !isWait(index.kinds[lane.spans.kind[i]!])) continue;
        best = {
          arm: lane.arm,
          row: strand.row,
          kind: lane.spans.kind[i]!,
          t0: ns(t0),
          t1: ns(t1),
        };
        break;
      }
    }
  }
  if (best === null && t > Number.NEGATIVE_INFINITY) {
    return nextLongWait(index, offset, Number.NEGATIVE_INFINITY);
  }
  return best;
}

/**
 * The lesson's longest waits on any lane, in descending order of duration. Waits longer than `longest` ns are ignored.
 */
export function longestWaits(
  index: RunIndex,
  offset: Offsets,
  most: number,
  longest = Number.POSITIVE_INFINITY,
): LongWait[] {
  const found: LongWait[] = [];
  let least = 1;
  for (const lane of index.lanes) {
    const shift = offset.get(lane.arm) ?? 0;
    const { spans } = lane;
    for (let i = 0; i < spans.length; i++) {
      const length = spans.t1[i]! - spans.t0[i]!;
      if (spans.t0[i]! < 0 || length < least || length > longest) continue;
      if (!isWait(index.kinds[spans.kind[i]!])) continue;
      const t0 = ns(spans.t0[i]! + shift);
      const [row, kind] = [spans.row[i]!, spans.kind[i]!];
      found.push({ arm: lane.arm, row, kind, t0, t1: ns(spans.t1[i]! + shift) });
      if (found.length < most * 4) continue;
      trimToLongest(found, most);
      least = found.at(-1)!.t1 - found.at(-1)!.t0;
    }
  }
  trimToLongest(found, most);
  return found;
}

function trimToLongest(waits: LongWait[], most: number): void {
  waits.sort((a, b) => b.t1 - b.t0 - (a.t1 - a.t0) || a.t0 - b.t0);
  waits.length = Math.min(waits.length, most);
}

// The first divergence of lanes, or the reason that lanes do not diverge. Pure. All times are in a lane's own time.
// Lanes with the longest and the shortest mean duration of operations are compared.
// Lanes diverge at the first operation that took at least twice as long on the slower lane.
// On a counting axis, lanes diverge at the first entry that differs between them.

/** Reasons that lanes cannot be compared or do not diverge. */
type NoParting =
  | 'alone'
  | 'host_order'
  | 'no_operations'
  | 'none_yet'
  | 'alike'
  | 'never_twice'
  | 'same_entries';

interface Parting {
  readonly by: 'operation' | 'entry';
  /** Number of the operation or entry at which lanes diverge, from 1. */
  readonly n: number;
  /** For each lane: the end of the operation or entry, and its index in the table of operations or points. */
  readonly lanes: readonly { readonly arm: string; readonly t: number; readonly place: number }[];
}

/** Minimum ratio of the two durations of an operation at which lanes diverge. */
const apart = 2;
/** Lanes whose mean durations differ by less than this factor do not diverge, because single operations always vary. */
const alike = 1.25;

const known = new WeakMap<RunIndex, { readonly version: number; readonly found: Found }>();
type Found = Parting | NoParting;

function partingOf(index: RunIndex): Found {
  const before = known.get(index);
  if (before?.version === index.version) return before.found;
  const found = find(index);
  known.set(index, { version: index.version, found });
  return found;
}

function find(index: RunIndex): Found {
  const { axis, lanes } = index;
  if (lanes.length < 2) return 'alone';
  if (index.hostOrder) return 'host_order';
  if (axis !== null) return byEntry(lanes, axis.point);
  const ended = lanes.filter((lane) => lane.opsByEnd.length > 0);
  if (ended.length < 2) return lanes.some((lane) => lane.ended) ? 'no_operations' : 'none_yet';
  return byOperation(ended);
}

function byOperation(lanes: readonly LaneIndex[]): Found {
  const first = Math.max(...lanes.map((lane) => lane.opsEvicted));
  const last = Math.min(...lanes.map((lane) => lane.opsEvicted + lane.opsByEnd.length));
  const means = lanes.map(meanOf);
  const slow = lanes[means.indexOf(Math.max(...means))]!;
  const fast = lanes[means.indexOf(Math.min(...means))]!;
  if (meanOf(slow) < alike * meanOf(fast)) return 'alike';
  for (let at = first; at < last; at++) {
    if (lengthOf(slow, at) < apart * lengthOf(fast, at)) continue;
    const ends = lanes.map((lane) => {
      const place = placeOf(lane, at);
      return { arm: lane.arm, t: lane.ops.t1[place]!, place };
    });
    return { by: 'operation', n: at + 1, lanes: ends };
  }
  return 'never_twice';
}

/** Mean duration of a lane's operations, ns; 0 without operations. */
function meanOf({ ops, opsByEnd: { order, length } }: LaneIndex): number {
  let sum = 0;
  for (let i = 0; i < length; i++) sum += ops.t1[order[i]!]! - ops.t0[order[i]!]!;
  return length === 0 ? 0 : sum / length;
}

/** Index in the table for operation `at`, which is counted from 0 since the workload's start. */
function placeOf(lane: LaneIndex, at: number): number {
  return lane.opsByEnd.order[at - lane.opsEvicted]!;
}

function lengthOf(lane: LaneIndex, at: number): number {
  const place = placeOf(lane, at);
  return lane.ops.t1[place]! - lane.ops.t0[place]!;
}

const pointColumns = ['a', 'b', 'c', 'd', 'e', 'f'] as const;

function byEntry(lanes: readonly LaneIndex[], point: string): Found {
  const orders = lanes.map((lane) => lane.pointsOf(point));
  const shortest = Math.min(...orders.map((order) => order.length));
  if (shortest === 0) return lanes.some((lane) => lane.ended) ? 'no_operations' : 'none_yet';
  const value = (i: number, k: number, column: (typeof pointColumns)[number]) =>
    lanes[i]!.points[column][orders[i]!.order[k]!]!;
  for (let k = 0; k < shortest; k++) {
    const differs = (column: (typeof pointColumns)[number]) =>
      lanes.some((_, i) => value(i, k, column) !== value(0, k, column));
    if (!pointColumns.some(differs)) continue;
    const t = (k + 1) * stepNs;
    const places = lanes.map(({ arm }, i) => ({ arm, t, place: orders[i]!.order[k]! }));
    return { by: 'entry', n: k + 1, lanes: places };
  }
  return 'same_entries';
}

/** The frame time at which every lane has ended the operation or entry at which they diverge. */
export function firstDivergence(index: RunIndex, offset: Offsets): Nanos | null {
  const found = partingOf(index);
  if (typeof found === 'string') return null;
  return ns(Math.max(...found.lanes.map(({ arm, t }) => t + (offset.get(arm) ?? 0))));
}

/** Jumps whose destination depends on the data. */
export type Jump = 'divergence' | 'long_wait' | 'loss' | 'align';

/** Describes a point of the axis in the view's words. `place` is the point's index in the lane's table. */
export type EntryWords = (lane: LaneIndex, place: number) => string;

type Names = Pick<Lesson, 'arms' | 'operation' | 'points' | 'axis' | 'thread'>;

/** The reason that lanes have no first divergence; empty if they have one. */
export function noDivergence(index: RunIndex, lesson: Names): string {
  const found = partingOf(index);
  return typeof found === 'string' ? whyNot(found, index, lesson) : '';
}

function whyNot(why: NoParting, index: RunIndex, lesson: Names): string {
  const { name, plural } = lesson.operation;
  const unit = index.axis ?? lesson.axis;
  switch (why) {
    case 'alone':
      return t('There is only one lane; a divergence needs two.');
    case 'host_order':
      return t(
        '{plural} are in the order in which the host ran the vCPUs, so comparing equal numbers on two lanes says nothing.',
        { plural: capital(unit?.plural ?? 'accesses') },
      );
    case 'no_operations':
      return index.axis !== null
        ? t('A lane has no {unit} to compare.', { unit: index.axis.unit })
        : `${capital(unaligned(lesson) ?? t('a lane has no {name} to compare', { name }))}.`;
    case 'none_yet':
      return t('Not every lane has ended a {name} yet.', { name });
    case 'alike':
    case 'never_twice': {
      const means = index.lanes.map((l) =>
        t('{l} on {lesson}', { l: formatNs(meanOf(l)), lesson: armTitle(lesson, l) }),
      );
      const also =
        why === 'alike'
          ? ''
          : t(', and no {name} takes twice as long on the slowest lane', { name });
      return t('The {plural} take about equally long on all lanes: {means} on average{also}.', {
        plural,
        means: list(means),
        also,
      });
    }
    case 'same_entries':
      return t('All lanes have the same {plural}, up to the end of the shortest lane.', {
        plural: unit?.plural ?? t('entries'),
      });
  }
}

/** The reason that no long wait exists; empty if one exists. */
export function noLongWait(index: RunIndex): string {
  if (longFrom(index) > 0) return '';
  const lanes = index.lanes.length === 1 ? t('On this lane') : t('On these lanes');
  return t('{lanes}, no task waits for what the lesson is about.', { lanes });
}

/** The reason that lanes cannot be aligned by their first operation; empty if they can. */
export function noMarker(index: RunIndex, { operation }: Names): string {
  if (index.lanes.length < 2)
    return t('There is only one lane, so there is nothing to align it with.');
  return operationsOfAll(index) > 0
    ? ''
    : t('No lane has ended a {name} yet.', { name: operation.name });
}

/** Describe the destination of a jump. `from` is the moment before the jump. */
export function jumpWords(
  what: Jump,
  from: number,
  index: RunIndex,
  frame: Frame,
  lesson: Names,
  entryWords?: EntryWords,
): string {
  switch (what) {
    case 'divergence': {
      const found = partingOf(index);
      return typeof found === 'string'
        ? whyNot(found, index, lesson)
        : partingWords(found, index, lesson, entryWords);
    }
    case 'long_wait':
      return waitWords(from, index, frame, lesson);
    case 'loss':
      return lossWords(index, frame, lesson);
    case 'align':
      return alignWords(index, frame, lesson);
  }
}

function partingWords(
  found: Parting,
  index: RunIndex,
  lesson: Names,
  entryWords?: EntryWords,
): string {
  const lanes = found.lanes.flatMap(({ arm, place }) => {
    const lane = laneOf(index, arm);
    return lane === null ? [] : [{ lane, place }];
  });
  const of = (lane: LaneIndex) => t('on {lesson}', { lesson: armTitle(lesson, lane) });
  if (found.by === 'operation') {
    const each = lanes.map(({ lane, place }) => {
      const { t0, t1 } = lane.ops;
      return `${formatNs(t1[place]! - t0[place]!)} ${of(lane)}`;
    });
    const why = t(
      'the first operation that took twice as long on the slowest kernel as on the fastest',
    );
    return t('The kernels first differ at {name} {count}: {each}. This is {why}.', {
      name: lesson.operation.name,
      count: found.n.toLocaleString(locale()),
      each: list(each),
      why,
    });
  }
  const say = entryWords ?? differingFields(lanes, index, lesson);
  const each = lanes.map(({ lane, place }) => `${say(lane, place)} ${of(lane)}`);
  return t('The kernels first differ at {unit} {count}: {list}.', {
    unit: index.axis?.unit ?? t('entry'),
    count: found.n.toLocaleString(locale()),
    list: each.join('; '),
  });
}

/** Describe the fields in which the lanes' points differ, such as "lblk 0, fate 2". */
function differingFields(
  all: readonly { readonly lane: LaneIndex; readonly place: number }[],
  index: RunIndex,
  lesson: Names,
): EntryWords {
  const fields = lesson.points.find((p) => p.name === index.axis?.point)?.fields ?? [];
  const value = (lane: LaneIndex, place: number, k: number) =>
    lane.points[pointColumns[k]!]![place]!;
  const differing = fields.flatMap((field, k) =>
    new Set(all.map(({ lane, place }) => value(lane, place, k))).size > 1 ? [{ field, k }] : [],
  );
  return (lane, place) =>
    differing
      .map(({ field, k }) => `${field} ${fieldValue(field, value(lane, place, k))}`)
      .join(', ');
}

function waitWords(from: number, index: RunIndex, frame: Frame, lesson: Names): string {
  const wait = nextLongWait(index, frame.offset, from);
  const lane = wait && laneOf(index, wait.arm);
  if (!wait || !lane) return noLongWait(index);
  const who =
    lane.rows.find(({ row }) => row === wait.row)?.name ??
    t('a {thread}', { thread: lesson.thread });
  const kind = index.kinds[wait.kind];
  const again =
    wait.t0 <= from
      ? t(' There is no later wait in the run, so this is the first wait again.')
      : '';
  const what = kind === undefined ? t('waits') : shortTitle(kind);
  return t(
    'Here, {who} on {lesson} {what}, for {t1}. "Long" means at least half of the longest wait ({index}).{again}',
    {
      who,
      lesson: armTitle(lesson, lane),
      what,
      t1: formatNs(wait.t1 - wait.t0),
      index: formatNs(longFrom(index)),
      again,
    },
  );
}

function lossWords(index: RunIndex, { offset, moment }: Frame, lesson: Names): string {
  const lost = index.lanes.filter((lane) =>
    lane.losses.some(({ t0 }) => Math.abs(t0 + (offset.get(lane.arm) ?? 0) - moment) < 1),
  );
  if (lost.length === 0) return t('No events were lost on these lanes.');
  return t('Here, events of {arms} were lost.', {
    arms: list(lost.map((lane) => armTitle(lesson, lane))),
  });
}

function alignWords(index: RunIndex, { aligned, offset }: Frame, lesson: Names): string {
  const { by, n } = aligned ?? { by: 'time', n: 1 };
  if (by === 'time') return t("Each lane has its own time since the workload's start.");
  const { at, last } = together(index, by, n);
  const what = `${lesson.operation.name} ${n.toLocaleString(locale())}`;
  if (at === null || last === null)
    return t('No lane has ended {what} yet, so no lane was moved.', { what });
  const { axis } = index;
  const words = (t: number) => (axis === null ? momentMs(t) : momentWords(axis, t));
  const length = (t: number) => (axis === null ? formatNs(t) : momentWords(axis, t));
  const shifts = index.lanes.flatMap((lane) => {
    const by = offset.get(lane.arm) ?? 0;
    return by > 0
      ? [t('{lesson} by {by}', { lesson: armTitle(lesson, lane), by: length(by) })]
      : [];
  });
  const moved =
    shifts.length === 0
      ? t('no lane had to be moved')
      : t('moved to align: {shifts}', { shifts: list(shifts) });
  const verb = by === 'begin' ? t('begins') : t('ends');
  return t('{what} {verb} at the same moment on every lane, at {at}; {moved}.', {
    what: capital(what),
    verb,
    at: words(at),
    moved,
  });
}
