// SPDX-License-Identifier: GPL-2.0-or-later
/** Boxes, units of the budget and the list as marks: their places, and a description of each in words. */

import { t, t as tr } from '@page/base/lang/t.ts';
import { formatCount, ns } from '@page/base/units.ts';
import { type Behind, madeOfPoints, mostRows, placeOfPoint } from '@page/derive/behind.ts';
import { laneOf } from '@page/derive/query.ts';
import type { Frame, LaneIndex, Mark, RunIndex } from '@page/derive/types.ts';
import { armTitle } from '@page/derive/words.ts';
import { kindNumber, type Lesson } from '@page/protocol/lesson.ts';
import type { Box, Drawing, Item, Point, Row } from '@page/views/contract.ts';
import { cellRow } from '@page/views/items.ts';
import type { Pen } from '@page/views/paints.ts';
import { edgesOf, strokeRegion } from '@page/views/region.ts';
import { boxAt, cellAt, type StripLane, type StripLayout } from './layout.ts';
import {
  type Boxes,
  backsOfBlock,
  blocksOf,
  type Facts,
  fileOf,
  hasList,
  isAbout,
  kept,
  type LaneNow,
  laneNow,
  letters,
  type Now,
  spared,
  telling,
  threadOf,
} from './replay.ts';

// Finds the kind of a box, and of a unit of the budget, at a moment.

export const looks = [
  'unknown',
  'delayed',
  'written',
  'hole',
  'unwritten',
  'vain',
  'spared',
  'freed',
  'gone',
] as const;
export type Look = (typeof looks)[number];

const byLetter: readonly Look[] = ['unknown', 'delayed', 'written', 'hole', 'unwritten'];

/** Return the kind of a box as this scan leaves it. Of earlier scans, only freed entries remain visible. */
export function lookOf(boxes: Boxes, box: number, now: Now): Look {
  const letter = boxes.letter[box]!;
  if (letter === 0) return 'unknown';
  const visit = boxes.visit[box]!;
  const mine = now.scan !== null && visit > now.scan.from && visit <= now.visits;
  if (mine) {
    const fate = boxes.fate[box]!;
    if (fate === kept) return 'vain';
    if (fate === spared) return 'spared';
    // An entry that this scan has freed stays `freed` until the scan has ended, even if the entry is made again.
    return 'freed';
  }
  return boxes.there[box] === 1 ? byLetter[letter]! : 'gone';
}

/** Return the letter that is drawn in a box. */
export function letterIn(boxes: Boxes, box: number): string {
  return letters[boxes.letter[box]!] ?? '';
}

export type Spent = 'left' | 'spent_vain' | 'spent_gain' | 'spared';

/** Return what this scan has spent each unit of its budget on so far. */
export function spending(fateOf: (visit: number) => number, facts: Facts, now: Now): Spent[] {
  const units: Spent[] = [];
  for (let v = now.scan?.from ?? 0; v < now.visits; v++) {
    const fate = fateOf(v);
    if (fate === 2) units.push('spent_gain');
    else if (facts.charge !== 'gains') units.push(fate === spared ? 'spared' : 'spent_vain');
  }
  return units;
}

type Known = Pick<Drawing, 'index' | 'frame' | 'lesson'>;

function markAt(state: LaneNow, lesson: Lesson, kind: string, row: number, point: number): Mark {
  const { lane } = state;
  const t = point < 0 ? ns(0) : ns(lane.points.t[point]!);
  const id = point < 0 ? 0 : lane.points.id[point]!;
  return {
    arm: lane.arm,
    table: 'points',
    id,
    row,
    kind: kindNumber(lesson, kind),
    t0: t,
    t1: t,
  };
}

export function boxMark(state: LaneNow, lesson: Lesson, box: number): Mark {
  const look = lookOf(state.boxes, box, state.now);
  return markAt(state, lesson, look, box, state.boxes.point[box]! - 1);
}

/** Return marks for the units of the budget that this scan has spent so far. */
function spentMarks(state: LaneNow, lesson: Lesson): readonly Mark[] {
  const { lane, facts, now } = state;
  const visit = lane.pointsOf('visit');
  const fateOf = (v: number) => lane.points.e[visit.order[v]!]!;
  const places: number[] = [];
  for (let v = now.scan?.from ?? 0; v < now.visits; v++)
    if (fateOf(v) === 2 || facts.charge !== 'gains') places.push(visit.order[v]!);
  const units = spending(fateOf, facts, now);
  return units.map((what, unit) => markAt(state, lesson, what, unit, places[unit]!));
}

/** Number for the kind of an unspent unit of the budget. The lesson defines no such kind. */
const unspent = -1;

function isUnspent(mark: Mark): boolean {
  return mark.kind === unspent;
}

function unspentMark({ lane }: LaneNow, unit: number): Mark {
  const t = ns(0);
  return { arm: lane.arm, table: 'points', id: 0, row: unit, kind: unspent, t0: t, t1: t };
}

export function threadMark(state: LaneNow, lesson: Lesson): Mark | null {
  const head = threadOf(state.boxes)[0];
  if (head === undefined || !hasList(state.lane)) return null;
  return markAt(state, lesson, 'thread', head, state.boxes.point[head]! - 1);
}

function stateOf(known: Known, arm: string): LaneNow | null {
  const lane = known.index.lanes.find((one) => one.arm === arm);
  return lane === undefined ? null : laneNow(known, lane);
}

type Part = 'box' | 'thread' | 'unit';

export function partOf(lesson: Lesson, mark: Mark): Part {
  if (isUnspent(mark)) return 'unit';
  const name = lesson.kinds[mark.kind]?.name;
  if (name === 'thread') return 'thread';
  return name === 'spent_vain' || name === 'spent_gain' ? 'unit' : 'box';
}

/** Return the rows that a pointer can hit: one for each row of boxes, then one for the list and one for the budget. */
export function rowsOf(layout: StripLayout, drawing: Drawing): readonly Row[] {
  return layout.lanes.flatMap((laid) => {
    const state = stateOf(drawing, laid.arm);
    return state === null ? [] : rowsOfLane(layout, laid, state, drawing.lesson);
  });
}

function rowsOfLane(
  { fontSize }: StripLayout,
  { arm, grid, meterY, unit }: StripLane,
  state: LaneNow,
  lesson: Lesson,
): readonly Row[] {
  const { x, cell, pitch, high, columns } = grid;
  const { budget } = state.facts;
  const lines = Array.from({ length: Math.ceil(grid.boxes / columns) }, (_, row): Row => {
    const first = row * columns;
    const n = Math.min(columns, grid.boxes - first);
    const area = { x, y: grid.y + row * pitch, w: n * cell, h: pitch };
    const goesOn = first + n < grid.boxes ? ({ flows: 'row' } as const) : {};
    return cellRow({ arm, area, ...goesOn }, { x, pitch: cell, n }, (i, box) => [
      { mark: boxMark(state, lesson, first + i), box },
    ]);
  });
  const all = { x, y: grid.y, w: columns * cell, h: lines.length * pitch };
  const thread = threadMark(state, lesson);
  const beside = (at: Point) => {
    const box = boxAt(grid, at.x, at.y);
    const deep = (at.y - grid.y) % pitch > high - 1;
    return deep && box >= 0 && state.boxes.there[box] === 1 && state.boxes.letter[box]! > 1;
  };
  const list: Item[] = thread ? [{ mark: thread, box: all, rank: 1, holds: beside }] : [];
  const spent = spentMarks(state, lesson);
  const low = { x, y: meterY - 2, w: budget * unit, h: fontSize + 6 };
  const meter = cellRow({ arm, area: low }, { x, pitch: unit, n: budget }, (i, box) => {
    const mark = spent[i] ?? unspentMark(state, i);
    return [{ mark, box, pointerOnly: i >= spent.length }];
  });
  return [...lines, { arm, area: all, items: () => list }, meter];
}

/** Return the place of a mark. The mark of the list is at the head of the list. */
export function boxesOf({ lanes }: StripLayout, lesson: Lesson, mark: Mark): readonly Box[] {
  const laid = lanes.find(({ arm }) => arm === mark.arm);
  if (laid === undefined) return [];
  const { grid, unit, meterY } = laid;
  if (partOf(lesson, mark) === 'unit')
    return [{ x: grid.x + mark.row * unit, y: meterY, w: unit, h: 15 }];
  return [{ ...cellAt(grid, mark.row), w: grid.cell - grid.gap, h: grid.high }];
}

/** Return the mark of the box that the first lane's scan visited last. */
export function firstMark({ lanes }: StripLayout, drawing: Drawing): Mark | null {
  const [laid] = lanes;
  const state = laid === undefined ? null : stateOf(drawing, laid.arm);
  if (laid === undefined || state === null || laid.grid.boxes === 0) return null;
  return boxMark(state, drawing.lesson, Math.max(0, handBox(state)));
}

/** Return the index of the box that the scan visited last; -1 before the first visit. */
export function handBox({ lane, now, blocks }: LaneNow): number {
  const visit = lane.pointsOf('visit').order[now.visits - 1];
  return visit === undefined ? -1 : blocks.indexOf(lane.points.b[visit]!);
}

/** Describe a mark in words. */
export function describe(index: RunIndex, mark: Mark, lesson: Lesson): string {
  const lane = index.lanes.find((one) => one.arm === mark.arm);
  const kind = lesson.kinds[mark.kind];
  if (lane === undefined) return '';
  const where = tr('{name}, ', { name: armTitle(lesson, lane) });
  if (isUnspent(mark))
    return tr('{where}unit {row} of the budget: not spent so far.', {
      where,
      row: formatCount(mark.row + 1),
    });
  if (kind === undefined) return '';
  const block = blockOf(index, lane, mark, lesson);
  const what = `${kind.title.replace(/^([DWHU]), /, '$1: ')}.`;
  if (kind.name === 'thread')
    return tr('{where}{what} The head of the list is block {block}.', {
      where,
      what,
      block: formatCount(block),
    });
  if (partOf(lesson, mark) === 'unit')
    return tr('{where}unit {row}: {what} Block {block}.', {
      where,
      row: formatCount(mark.row + 1),
      what,
      block: formatCount(block),
    });
  const visits = visitsOf(lane, block, mark.t0);
  const seen =
    visits === 0
      ? tr('Not visited yet.')
      : tr('Visited {visits, plural, one {# time} other {# times}} so far.', { visits });
  const backs = backsOfBlock(lane, block, mark.t0);
  const back =
    backs === 0
      ? ''
      : tr(' Put back {backs, plural, one {# time} other {# times}} by a lookup.', { backs });
  return tr('{where}block {block}. {what} {seen}{back}', {
    where,
    block: formatCount(block),
    what,
    seen,
    back,
  });
}

function blockOf(index: RunIndex, lane: LaneIndex, mark: Mark, lesson: Lesson): number {
  if (partOf(lesson, mark) !== 'unit') return blocksOf(index)[mark.row] ?? 0;
  const { order, length } = lane.pointsOf('visit');
  for (let p = 0; p < length; p++)
    if (lane.points.id[order[p]!] === mark.id) return lane.points.b[order[p]!]!;
  return 0;
}

function visitsOf(lane: LaneIndex, block: number, upTo: number): number {
  const { points } = lane;
  const { order, length } = lane.pointsOf('visit');
  let n = 0;
  for (let p = 0; p < length && points.t[order[p]!]! <= upTo; p++)
    if (points.b[order[p]!] === block) n += 1;
  return n;
}

// Parts of a strip that sentences mention: entries of this scan, freed entries, entries on the list, and entries with
// data.

export const regions = ['scan', 'freed', 'ahead', 'list', 'data'] as const;
export type StripRegion = (typeof regions)[number];

export const blockBytes = 4096;

/** Return the last answer to SEEK_DATA and SEEK_HOLE, in bytes of the file; null before the first answer. */
export function answerOf({
  lane,
  points,
}: LaneNow): { readonly p: number; readonly data: number; readonly hole: number } | null {
  const { order, length } = lane.pointsOf('answer');
  let p = length - 1;
  while (p >= 0 && order[p]! >= points) p -= 1;
  if (p < 1) return null;
  return { p, data: lane.points.a[order[p - 1]!]!, hole: lane.points.a[order[p]!]! };
}

/**
 * Return the delayed entries between the scan's position and the next entry that may be freed. Return null if no entry
 * after the position may be freed.
 */
export function aheadOf({ lane, now, boxes, blocks }: LaneNow): readonly number[] | null {
  const visit = lane.pointsOf('visit').order[now.visits - 1];
  const at = visit === undefined ? -1 : lane.points.b[visit]!;
  const ahead: number[] = [];
  for (let box = 0; box < blocks.length; box++) {
    if (blocks[box]! <= at || boxes.there[box] === 0) continue;
    if (boxes.letter[box] !== 1) return ahead;
    ahead.push(box);
  }
  return null;
}

export function regionOf(one: LaneNow, name: StripRegion): ReadonlySet<number> {
  const { boxes, now, blocks } = one;
  const all = Array.from({ length: blocks.length }, (_, box) => box);
  switch (name) {
    case 'list':
      return new Set(threadOf(boxes));
    case 'ahead':
      return new Set(aheadOf(one) ?? []);
    case 'freed':
      return new Set(all.filter((box) => lookOf(boxes, box, now) === 'freed'));
    case 'scan':
      return new Set(
        all.filter((box) => ['vain', 'spared', 'freed'].includes(lookOf(boxes, box, now))),
      );
    case 'data': {
      const answer = answerOf(one);
      if (answer === null) return new Set();
      const [from, to] = [answer.data / blockBytes, answer.hole / blockBytes];
      return new Set(all.filter((box) => blocks[box]! >= from && blocks[box]! < to));
    }
  }
}

export function drawSpoken(
  pen: Pen,
  { arm, grid }: StripLane,
  { frame, theme }: Drawing,
  one: LaneNow,
): void {
  for (const name of regions) {
    if (!frame.regions?.some((region) => region.arm === arm && region.name === name)) continue;
    const boxes = regionOf(one, name);
    const { columns, rows } = grid;
    const edges = edgesOf(rows, columns, (row, col) => boxes.has(row * columns + col));
    const half = grid.gap / 2;
    const x = (col: number) => grid.x - half + col * grid.cell;
    const y = (row: number) => grid.y - (grid.pitch - grid.high) / 2 + row * grid.pitch;
    strokeRegion(
      pen,
      theme,
      edges.map(({ c0, r0, c1, r1 }) => [x(c0), y(r0), x(c1), y(r1)]),
    );
  }
}

// The events behind a mark, up to the moment: those that name the mark's block, or that made the entries of the list.

export function behindBox(
  index: RunIndex,
  frame: Frame,
  lesson: Lesson,
  mark: Mark,
): Behind | null {
  const lane = laneOf(index, mark.arm);
  if (lane === null) return null;
  const part = partOf(lesson, mark);
  const now = laneNow({ index, frame }, lane);
  if (isUnspent(mark)) return behindUnspent(lane, lesson, mark, now.points);
  if (part === 'thread') {
    const on = threadOf(now.boxes);
    const places = on.slice(0, mostRows).map((box) => now.boxes.made[box]! - 1);
    return madeOfPoints(lane, lesson, mark, {
      who: t('{n} entries', { n: formatCount(on.length) }),
      how: t(
        'Computed from events: the list of entries that may be freed, the newest entry at its head.',
      ),
      places,
    });
  }
  const block = blockOf(index, lane, mark, lesson);
  const made = placeOfPoint(lane, mark);
  const named = part === 'unit' ? [made] : placesOf(lane, block, now.points);
  const places = named.filter((i) => i >= 0).slice(-mostRows);
  return madeOfPoints(lane, lesson, mark, {
    who: t('block {block}', { block: formatCount(block) }),
    how: places.length > 0 ? '' : t('Up to this moment, no event has named this block.'),
    places,
    ...(places.includes(made) ? { made } : {}),
  });
}

/** Return the lane's last event, because no event led to an unspent unit. */
function behindUnspent(lane: LaneIndex, lesson: Lesson, mark: Mark, upTo: number): Behind {
  const made = madeOfPoints(lane, lesson, mark, {
    who: t('unit {row}', { row: formatCount(mark.row + 1) }),
    how: t(
      "Up to this moment, no event has spent this unit of the budget. The lane's last event is below.",
    ),
    places: upTo > 0 ? [upTo - 1] : [],
  });
  return { ...made, title: t('part of the budget that is not spent') };
}

/** Return the indexes of those points among the file's first `upTo` points that name a block. */
function placesOf(lane: LaneIndex, block: number, upTo: number): number[] {
  const { kind, b, c } = lane.points;
  const kinds = new Set(
    telling.flatMap((name) => {
      const { order, length } = lane.pointsOf(name);
      return length > 0 ? [kind[order[0]!]!] : [];
    }),
  );
  const file = fileOf(lane);
  const places: number[] = [];
  for (let i = 0; i < upTo; i++) {
    if (!kinds.has(kind[i]!) || !isAbout(file, lane.points, i)) continue;
    if (b[i]! <= block && block < b[i]! + Math.max(1, c[i]!)) places.push(i);
  }
  return places;
}
