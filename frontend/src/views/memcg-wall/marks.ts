// SPDX-License-Identifier: GPL-2.0-or-later
/** Cells as marks: pointing, walking with keys, and a cell in words. */

import { t as tr } from '../../base/lang/t.ts';
import { momentMs, ns } from '../../base/units.ts';
import { heldTime } from '../../derive/align.ts';
import { laneOf } from '../../derive/query.ts';
import type { Frame, LaneIndex, Mark, Nanos, RunIndex } from '../../derive/types.ts';
import { armTitle, capital } from '../../derive/words.ts';
import type { Lesson } from '../../protocol/lesson.ts';
import { Bit, type Cells, Count, rootRow } from './cells.ts';
import { clearingOfCell, clearingWords } from './clearings.ts';
import type { EventReplay } from './event-replay.ts';
import { type Face, faceOf, facesOf } from './faces.ts';
import { memcgName, shrinkerName } from './names.ts';
import { type Wall, wallOf } from './wall.ts';

/** A row and a column as the id of a mark. */
const columns = 65_536;

export function cellOf(mark: Pick<Mark, 'id'>): { readonly row: number; readonly col: number } {
  return { row: Math.floor(mark.id / columns), col: mark.id % columns };
}

/** Is there a memcg and a shrinker for this cell? */
export function isThere(replay: EventReplay, cells: Cells, row: number, col: number): boolean {
  if (row < 0 || row >= replay.grid.memcgs.length || col < 0 || col >= replay.grid.cols)
    return false;
  return cells.born[row] === 1 && (replay.ids.size === 0 || replay.ids.has(col));
}

function facesAt(replay: EventReplay, cells: Cells, row: number, col: number): readonly Face[] {
  const cell = row * replay.grid.stride + col;
  return facesOf(cells.seen[cell]!, cells.bit[cell]!, row === rootRow, replay.readsMap);
}

/** The mark of a cell at a moment of the frame. `inner`: pointed at near its middle, where an unread bit shows. */
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

/** A cell as a mark of a kind. */
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

/** Place of the newest event that made this cell what it is; -1: none did. */
export function madeBy(wall: Wall, cells: Cells, row: number, col: number, face: Face): number {
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

/** A cell in words: whose, what came of it, and what its bit is. */
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
  if (row === rootRow) return tr('Nobody reads a map here.');
  const bit = cells.bit[row * replay.grid.stride + col]!;
  if (bit === Bit.clear) return tr('Its bit is clear.');
  return tr(
    'Its bit is set, since {why, select, object {an object came} other {the maps grew}}{read, select, yes {} other {; nobody reads it}}.',
    { why: bit === Bit.object ? 'object' : 'growth', read: replay.readsMap ? 'yes' : 'no' },
  );
}

/** The newest visit, as a mark to begin walking from. */
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

/** The cell next to another; at the edge of a wall the next wall. */
export function stepFrom(
  index: RunIndex,
  lesson: Lesson,
  frame: Frame,
  from: Mark,
  key: string,
): Mark | null {
  const lane = laneOf(index, from.arm);
  if (lane === null) return null;
  const { replay } = wallOf(lane, lesson);
  let { row, col } = cellOf(from);
  let arm = from.arm;
  const turn = (by: 1 | -1): LaneIndex | undefined => index.lanes[index.lanes.indexOf(lane) + by];
  const tries = Math.max(replay.grid.cols, replay.grid.memcgs.length) + 1;
  for (let i = 0; i < tries; i++) {
    if (key === 'ArrowRight') col += 1;
    else if (key === 'ArrowLeft') col -= 1;
    else if (key === 'ArrowDown') row += 1;
    else if (key === 'ArrowUp') row -= 1;
    else if (key === 'Home') col = i;
    else col = replay.grid.cols - 1 - i;
    if (col >= replay.grid.cols || col < 0) {
      const other = turn(col < 0 ? -1 : 1);
      if (other === undefined) return null;
      arm = other.arm;
      col = col < 0 ? wallOf(other, lesson).replay.grid.cols - 1 : 0;
    }
    if (row < 0 || row >= replay.grid.memcgs.length) return null;
    const mark = markAt(index, lesson, frame, arm, row, col);
    if (mark !== null) return mark;
  }
  return null;
}

/** What the wall counts. */
export type Noun = 'bit' | 'container' | 'object' | 'pass' | 'shrinker' | 'time' | 'visit';

/** `1 visit`, `4,332 visits`. */
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

/** `no visit`. */
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
