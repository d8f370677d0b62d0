// SPDX-License-Identifier: GPL-2.0-or-later
/** Cells as marks, and descriptions of cells in words. */

import { t as tr } from '@page/base/lang/t.ts';
import { formatCount, formatNs, millisecond, momentMs, ns } from '@page/base/units.ts';
import { heldTime } from '@page/derive/align.ts';
import { type Behind, madeOfPoints, mostRows } from '@page/derive/behind.ts';
import { figure, type Scope } from '@page/derive/figures.ts';
import type { Finder } from '@page/derive/moments.ts';
import { laneOf } from '@page/derive/query.ts';
import type { Frame, LaneIndex, Mark, Nanos, RunIndex } from '@page/derive/types.ts';
import { armTitle, capital } from '@page/derive/words.ts';
import type { Lesson } from '@page/protocol/lesson.ts';
import { clearingOfCell, clearingWords } from './clearings.ts';
import { type Face, faceOf, facesOf } from './paint.ts';
import {
  Bit,
  type Cells,
  Count,
  type EventReplay,
  memcgName,
  rootRow,
  shrinkerName,
  type Wall,
  wallOf,
} from './wall.ts';

/** Number of ids that each row has. The id of a mark is its row times `columns` plus its column. */
const columns = 65_536;

export function cellOf(mark: Pick<Mark, 'id'>): { readonly row: number; readonly col: number } {
  return { row: Math.floor(mark.id / columns), col: mark.id % columns };
}

/** Tell whether this cell's memcg and shrinker exist. */
export function isThere(replay: EventReplay, cells: Cells, row: number, col: number): boolean {
  if (row < 0 || row >= replay.grid.memcgs.length || col < 0 || col >= replay.grid.cols)
    return false;
  return cells.born[row] === 1 && (replay.ids.size === 0 || replay.ids.has(col));
}

function facesAt(replay: EventReplay, cells: Cells, row: number, col: number): readonly Face[] {
  const cell = row * replay.grid.stride + col;
  return facesOf(cells.seen[cell]!, cells.bit[cell]!, row === rootRow, replay.readsMap);
}

/**
 * Return the mark of a cell at the frame's moment. `inner` means that the pointer is near the cell's middle, where an
 * unread bit is drawn.
 */
export function markAt(
  index: RunIndex,
  lesson: Lesson,
  frame: Frame,
  arm: string,
  row: number,
  col: number,
  inner = false,
): Mark | null {
  const lane = laneOf(index, arm);
  if (lane === null) return null;
  const wall = wallOf(lane, lesson);
  const t = heldTime(lane, frame);
  const cells = wall.at(t, 'draw');
  if (!isThere(wall.replay, cells, row, col)) return null;
  const all = facesAt(wall.replay, cells, row, col);
  const inFocus = all.filter((face) => frame.focus.has(face));
  const dotted = inner && all.includes('bit_unread') && inFocus.length !== 1;
  const face = dotted ? 'bit_unread' : faceOf(all, frame.focus);
  const made = madeBy(wall, cells, row, col, face);
  const mark = markOfCell(index, arm, row, col, face, ns(made < 0 ? t : lane.points.t[made]!));
  return mark.kind < 0 ? null : mark;
}

/** Return the mark of a cell that shows the kind `face`. */
export function markOfCell(
  index: RunIndex,
  arm: string,
  row: number,
  col: number,
  face: Face,
  t: Nanos,
): Mark {
  const kind = index.kinds.findIndex((k) => k.name === face);
  return { arm, table: 'points', id: row * columns + col, row: 0, kind, t0: t, t1: t };
}

/** Return the index of the newest event that led to a cell's state; -1 if there is none. */
function madeBy(wall: Wall, cells: Cells, row: number, col: number, face: Face): number {
  const { replay } = wall;
  const { points } = replay.lane;
  const bits = face === 'bit' || face === 'bit_unread';
  if (face === 'not_visited') return -1;
  for (let i = cells.at - 1; i >= 0; i--) {
    const role = replay.role(points.kind[i]!);
    if (!bits && role === 'call') return -1;
    const here = replay.rows[i] === row;
    if (bits) {
      if (role === 'set' && here && points.b[i] === col) return i;
      if (role === 'expanded' && points.d[i]! > col && row !== rootRow) return i;
    } else if (here && (role === 'visit' || role === 'cleared') && points.b[i] === col) {
      return i;
    } else if (here && role === 'walk' && !replay.visitsReplayed) return i;
  }
  return -1;
}

/** Describe a cell: its memcg and shrinker, the outcome, and its bit. */
export function describeCell(index: RunIndex, mark: Mark, lesson: Lesson, t: Nanos): string {
  const lane = laneOf(index, mark.arm);
  if (lane === null) return '';
  const wall = wallOf(lane, lesson);
  const { row, col } = cellOf(mark);
  const cells = wall.at(t, 'draw');
  const kind = index.kinds[mark.kind];
  const when = mark.t0 < t ? tr(', at {t0}', { t0: momentMs(mark.t0) }) : '';
  const aside = kind?.lesson === false ? tr(' Not the lesson.') : '';
  const who = tr('{memcg}, {shrinker}', {
    memcg: capital(memcgName(wall.replay, row)),
    shrinker: shrinkerName(lane, col, t),
  });
  const title = kind?.title ?? tr('unknown');
  const memcg = wall.replay.grid.memcgs[row]!;
  const cleared = clearingOfCell(lane, memcg, col, cells.n[Count.began]!, t);
  const steps = cleared === null ? '' : ` ${clearingWords(lane.arm, cleared)}`;
  const bit = bitWords(wall, cells, row, col);
  const arm = armTitle(lesson, lane);
  return tr('{who}: {title}{when}.{steps} {bit} {arm}.{aside}', {
    ...{ who, title, when, steps, bit, arm, aside },
  });
}

function bitWords(wall: Wall, cells: Cells, row: number, col: number): string {
  const { replay } = wall;
  if (row === rootRow) return tr("No kernel reads the root cgroup's map.");
  const bit = cells.bit[row * replay.grid.stride + col]!;
  if (bit === Bit.clear) return tr('Its bit is clear.');
  return tr(
    'Its bit is set because {why, select, object {an object was added} other {the maps grew}}{read, select, yes {} other {, but nobody reads it}}.',
    { why: bit === Bit.object ? 'object' : 'growth', read: replay.readsMap ? 'yes' : 'no' },
  );
}

/** Return the newest visit as a mark, which is where the arrow keys start. */
export function newestMark(index: RunIndex, lesson: Lesson, frame: Frame): Mark | null {
  for (const lane of index.lanes) {
    const wall = wallOf(lane, lesson);
    const cells = wall.at(heldTime(lane, frame), 'draw');
    const [row, col] = [cells.n[Count.row]!, cells.n[Count.col]!];
    const mark = markAt(index, lesson, frame, lane.arm, Math.max(1, row), Math.max(0, col));
    if (mark !== null) return mark;
  }
  return null;
}

/** Nouns that the wall counts. */
export type Noun = 'bit' | 'container' | 'object' | 'pass' | 'shrinker' | 'time' | 'visit';

/** Write a number with its noun: `1 visit`, `4,332 visits`. */
export function countWords(n: number, noun: Noun): string {
  return nouns[noun](n);
}

const nouns: Readonly<Record<Noun, (n: number) => string>> = {
  bit: (n) => tr('{n, plural, one {# bit} other {# bits}}', { n }),
  container: (n) => tr('{n, plural, one {# container} other {# containers}}', { n }),
  object: (n) => tr('{n, plural, one {# object} other {# objects}}', { n }),
  pass: (n) => tr('{n, plural, one {# pass} other {# passes}}', { n }),
  shrinker: (n) => tr('{n, plural, one {# shrinker} other {# shrinkers}}', { n }),
  time: (n) => tr('{n, plural, one {# time} other {# times}}', { n }),
  visit: (n) => tr('{n, plural, one {# visit} other {# visits}}', { n }),
};

/** Write a count of zero with its noun: `no visit`. */
export function noWords(noun: Noun): string {
  return none[noun];
}

const none: Readonly<Record<Noun, string>> = {
  bit: tr('no bit'),
  container: tr('no container'),
  object: tr('no object'),
  pass: tr('no pass'),
  shrinker: tr('no shrinker'),
  time: tr('no time'),
  visit: tr('no visit'),
};

// Writes the wall's counts as figures, which describe the current or last call, or the present state of the maps.

type Name = keyof typeof Count;

const others: Partial<Record<Name, Scope>> = {
  bits: 'now',
  objects: 'now',
  shrinkers: 'now',
  sets: 'far',
};

/** The counts of a lane at a moment. */
export interface CountsNow {
  readonly lane: { readonly arm: string };
  readonly n: Float64Array;
}

function write({ lane, n }: CountsNow, name: string, value: number, text: string): string {
  const other = others[name as Name];
  if (other !== undefined) return figure(other, lane.arm, name, value, text);
  const call = n[Count.call]!;
  if (n[Count.ended]! > 0) return ofCall(lane.arm, call, name, value, text);
  return figure('operation', lane.arm, name, value, text);
}

/** Return a figure about a call that has ended. */
export function ofCall(
  arm: string,
  call: number,
  name: string,
  value: number,
  text = formatCount(value),
): string {
  return figure('mark', arm, `${name} of call ${call}`, value, text);
}

/** Write a count, such as "4,332". If the noun `one` is given, write "4,332 visits". */
export function counted(now: CountsNow, name: Name, one?: Noun): string {
  const value = now.n[Count[name]]!;
  return write(now, name, value, one === undefined ? formatCount(value) : countWords(value, one));
}

/** Write a count, but for 0 write "none" or "no object". */
export function fewCounted(now: CountsNow, name: Name, one?: Noun): string {
  if (now.n[Count[name]] !== 0) return counted(now, name, one);
  return write(
    now,
    name,
    0,
    one === undefined ? tr('{n, plural, =0 {none} other {#}}', { n: 0 }) : noWords(one),
  );
}

/** Format how long the call has lasted at t, or how long it took. */
export function callTime(now: CountsNow, t: number): string {
  const over = now.n[Count.ended]!;
  const took = (over > 0 ? over : t) - now.n[Count.began]!;
  return write(now, 'time', took, formatNs(took));
}

/** Write "call 3". */
export function callName({ lane, n }: CountsNow): string {
  return figure('now', lane.arm, 'call', n[Count.call]!, tr('call {n}', { n: n[Count.call] }));
}

// Finds the moment that the scene *touch* shows, in which containers create files.

/** Largest time between a touch and a call that are shown in the same picture. */
const together = 5 * millisecond;

/**
 * Return a window that begins before containers' files set the newest bits, and ends with the call that follows.
 * Return null for a live run, which shows its newest moment anyway.
 */
export const touched: Finder = (index) => {
  const lane = index.lanes[0];
  if (lane === undefined || index.live) return null;
  const last = touches(lane).at(-1)?.t;
  if (last === undefined) return null;
  const { ops } = lane;
  let before = 0;
  let end = last + millisecond;
  for (let i = 0; i < ops.length; i++) {
    if (ops.t1[i]! < last) before = Math.max(before, ops.t1[i]!);
    if (ops.t0[i]! > last && ops.t0[i]! - last < together) {
      end = Math.max(end, ops.t1[i]!);
      break;
    }
  }
  const start = Math.max(before, last - millisecond);
  const span = (end - start) * 1.03;
  return { start: ns(start), span, moment: ns(start + span), follows: false, known: true };
};

export interface Touch {
  /** Index among the lane's points. */
  readonly at: number;
  readonly t: number;
}

/**
 * Return the bits that containers set since the first call. Leave out the most common shrinker, for which every
 * container has an object.
 */
export function touches(lane: LaneIndex): readonly Touch[] {
  const set = lane.pointsOf('set');
  const calls = lane.pointsOf('call');
  if (calls.length === 0) return [];
  const { points } = lane;
  const began = points.t[calls.order[0]!]!;
  const uses = new Map<number, number>();
  const all = Array.from({ length: set.length }, (_, i) => set.order[i]!);
  for (const at of all) uses.set(points.b[at]!, (uses.get(points.b[at]!) ?? 0) + 1);
  const born = lane.pointsOf('born');
  const containers = new Set(
    Array.from({ length: born.length }, (_, i) => born.order[i]!)
      .filter((at) => points.b[at] === 2)
      .map((at) => points.a[at]!),
  );
  const usual = [...uses].sort((a, b) => b[1] - a[1])[0]?.[0];
  return all
    .filter(
      (at) => points.t[at]! > began && points.b[at] !== usual && containers.has(points.a[at]!),
    )
    .map((at) => ({ at, t: points.t[at]! }));
}

// Finds the events that led to a cell's state: its visits, sets and clears in the current call, and the set of its bit.

export function behindCell(
  index: RunIndex,
  frame: Frame,
  lesson: Lesson,
  mark: Mark,
): Behind | null {
  const lane = laneOf(index, mark.arm);
  if (lane === null) return null;
  const wall = wallOf(lane, lesson);
  const t = heldTime(lane, frame);
  const cells = wall.at(t, 'text');
  const { row, col } = cellOf(mark);
  const face = lesson.kinds[mark.kind]?.name as Face;
  const here = eventsOf(wall.replay, cells.at, row, col);
  // A mark of a clearing's step has the time of its event. For any other mark, find the newest event of the cell.
  const exact = here.places.find((i) => lane.points.t[i] === mark.t0);
  const made = exact ?? madeBy(wall, cells, row, col, face);
  const places = made < 0 ? here.places : [...new Set([...here.places, made])];
  const who = `${memcgName(wall.replay, row)}, ${shrinkerName(lane, col, t)}`;
  const named = places.length > 0 ? places : here.call < 0 ? [] : [here.call];
  return madeOfPoints(lane, lesson, mark, {
    who,
    how: made >= 0 ? '' : noneWords(here.call),
    places: named.toSorted((a, b) => a - b),
    ...(made < 0 ? {} : { made }),
  });
}

function noneWords(call: number): string {
  return call < 0
    ? tr('No event belongs to this cell: no call of drop_caches has begun at this moment.')
    : tr(
        'No event belongs to this cell: since this call of drop_caches began, no visit to the cell was recorded.',
      );
}

/**
 * Return the newest visits, sets and clears of a cell since the last call began, and the start of that call, or -1 if
 * there was no call.
 */
function eventsOf(
  replay: EventReplay,
  until: number,
  row: number,
  col: number,
): { readonly places: readonly number[]; readonly call: number } {
  const { points } = replay.lane;
  const places: number[] = [];
  for (let i = until - 1; i >= 0; i--) {
    const role = replay.role(points.kind[i]!);
    if (role === 'call') return { places: places.reverse(), call: i };
    if (replay.rows[i] !== row || points.b[i] !== col || places.length === mostRows) continue;
    if (role === 'visit' || role === 'set' || role === 'cleared') places.push(i);
  }
  return { places: places.reverse(), call: -1 };
}
