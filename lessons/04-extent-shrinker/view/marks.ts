// SPDX-License-Identifier: GPL-2.0-or-later
/** Boxes, units of the budget and the list as marks that can be pointed at, and how the keys go among them. */

import { t, t as tr } from '@page/base/lang/t.ts';
import { formatCount, ns } from '@page/base/units.ts';
import { type Behind, madeOfPoints, mostRows, placeOfPoint } from '@page/derive/behind.ts';
import { laneOf } from '@page/derive/query.ts';
import type { Frame, LaneIndex, Mark, RunIndex } from '@page/derive/types.ts';
import { armTitle } from '@page/derive/words.ts';
import { kindNumber, type Lesson } from '@page/protocol/lesson.ts';
import type { ArrowKey, Drawing } from '@page/views/contract.ts';
import type { Pen } from '@page/views/paints.ts';
import { edgesOf, strokeRegion } from '@page/views/region.ts';
import { boxAt, boxBeside, type StripLane, type StripLayout, unitAt } from './layout.ts';
import {
  type Boxes,
  backsOfBlock,
  blocksOf,
  type Facts,
  fileOf,
  hasList,
  kept,
  type LaneNow,
  laneNow,
  letters,
  type Now,
  spared,
  telling,
  threadOf,
} from './replay.ts';

// What a box and a unit of the budget are, at a moment: one of the lesson's kinds.

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

/** A box as this scan has left it; what earlier scans did shows only in what is gone. */
export function lookOf(boxes: Boxes, box: number, now: Now): Look {
  const letter = boxes.letter[box]!;
  if (letter === 0) return 'unknown';
  const visit = boxes.visit[box]!;
  const mine = now.scan !== null && visit > now.scan.from && visit <= now.visits;
  if (mine) {
    const fate = boxes.fate[box]!;
    if (fate === kept) return 'vain';
    if (fate === spared) return 'spared';
    // Made anew since the visit: it is an entry like others, but not while the scan is still there.
    return 'freed';
  }
  return boxes.there[box] === 1 ? byLetter[letter]! : 'gone';
}

/** The letter that is written into a box. */
export function letterIn(boxes: Boxes, box: number): string {
  return letters[boxes.letter[box]!] ?? '';
}

export type Spent = 'left' | 'spent_vain' | 'spent_gain' | 'spared';

/** What this scan's budget went to so far, unit by unit. */
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

/** A unit of the budget that was spent; null: it is not spent yet. */
export function unitMark(state: LaneNow, lesson: Lesson, unit: number): Mark | null {
  const { lane, facts, now } = state;
  const visit = lane.pointsOf('visit');
  const places: number[] = [];
  for (let v = now.scan?.from ?? 0; v < now.visits; v++) {
    const gain = lane.points.e[visit.order[v]!] === 2;
    if (gain || facts.charge !== 'gains') places.push(visit.order[v]!);
  }
  const units = spending((v) => lane.points.e[visit.order[v]!]!, facts, now);
  const what = units[unit];
  return what === undefined ? null : markAt(state, lesson, what, unit, places[unit]!);
}

/** Of no kind that the lesson has a name for: nothing has happened to it. */
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

export function hit(layout: StripLayout, drawing: Drawing, x: number, y: number): Mark | null {
  for (const laid of layout.lanes) {
    const state = stateOf(drawing, laid.arm);
    if (state === null) continue;
    const { grid } = laid;
    const box = boxAt(grid, x, y);
    if (box >= 0) {
      const deep = (y - grid.y) % grid.pitch > grid.high - 1;
      const thread = deep && state.boxes.there[box] === 1 && state.boxes.letter[box]! > 1;
      return (thread && threadMark(state, drawing.lesson)) || boxMark(state, drawing.lesson, box);
    }
    const unit = unitAt(laid, state.facts.budget, layout.fontSize, x, y);
    if (unit >= 0) return unitMark(state, drawing.lesson, unit) ?? unspentMark(state, unit);
  }
  return null;
}

type Part = 'box' | 'thread' | 'unit';

export function partOf(lesson: Lesson, mark: Mark): Part {
  if (isUnspent(mark)) return 'unit';
  const name = lesson.kinds[mark.kind]?.name;
  if (name === 'thread') return 'thread';
  return name === 'spent_vain' || name === 'spent_gain' ? 'unit' : 'box';
}

/** Arrows walk the boxes; down from the last row lie the list and the budget, then the next lane. */
export function step(
  layout: StripLayout,
  drawing: Drawing,
  from: Mark | null,
  key: ArrowKey,
): Mark | null {
  const { lesson } = drawing;
  const at = Math.max(
    0,
    layout.lanes.findIndex((one) => one.arm === from?.arm),
  );
  const laid = layout.lanes[at];
  const state = laid === undefined ? null : stateOf(drawing, laid.arm);
  if (laid === undefined || state === null || laid.grid.boxes === 0) return null;
  if (from === null) return boxMark(state, lesson, Math.max(0, handBox(state)));
  const part = partOf(lesson, from);
  if (part === 'unit') {
    const to = { ArrowLeft: from.row - 1, ArrowRight: from.row + 1, Home: 0 }[key as 'Home'];
    if (to !== undefined) return unitMark(state, lesson, to) ?? from;
    if (key === 'End') return lastUnit(state, lesson) ?? from;
  }
  if (part === 'thread' && key !== 'ArrowUp' && key !== 'ArrowDown') return from;
  if (part === 'box') {
    const to = boxBeside(laid.grid, from.row, key);
    if (to >= 0 && to < laid.grid.boxes) return boxMark(state, lesson, to);
    if (key === 'ArrowLeft' || key === 'ArrowRight') return from;
  }
  return key === 'ArrowDown'
    ? (below(layout, drawing, at, state, part) ?? from)
    : (above(layout, drawing, at, state, part) ?? from);
}

function below(
  layout: StripLayout,
  drawing: Drawing,
  at: number,
  state: LaneNow,
  part: Part,
): Mark | null {
  const { lesson } = drawing;
  const thread = part === 'box' ? threadMark(state, lesson) : null;
  const unit = part === 'unit' ? null : unitMark(state, lesson, 0);
  if (thread ?? unit) return thread ?? unit;
  const next = layout.lanes[at + 1];
  const other = next === undefined ? null : stateOf(drawing, next.arm);
  return other === null ? null : boxMark(other, lesson, 0);
}

function above(
  layout: StripLayout,
  drawing: Drawing,
  at: number,
  state: LaneNow,
  part: Part,
): Mark | null {
  const { lesson } = drawing;
  const last = (laid: StripLane, of: LaneNow) =>
    boxMark(of, lesson, Math.max(0, laid.grid.boxes - laid.grid.columns));
  const here = layout.lanes[at]!;
  if (part === 'unit') return threadMark(state, lesson) ?? last(here, state);
  if (part === 'thread') return last(here, state);
  const before = layout.lanes[at - 1];
  const other = before === undefined ? null : stateOf(drawing, before.arm);
  if (before === undefined || other === null) return null;
  return unitMark(other, lesson, 0) ?? threadMark(other, lesson) ?? last(before, other);
}

function lastUnit(state: LaneNow, lesson: Lesson): Mark | null {
  for (let unit = state.facts.budget - 1; unit >= 0; unit--) {
    const mark = unitMark(state, lesson, unit);
    if (mark !== null) return mark;
  }
  return null;
}

/** Where the scan stands; -1: nowhere yet. */
export function handBox({ lane, now, blocks }: LaneNow): number {
  const visit = lane.pointsOf('visit').order[now.visits - 1];
  return visit === undefined ? -1 : blocks.indexOf(lane.points.b[visit]!);
}

/** A mark in words. */
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
    return tr('{where}{what} Its head is block {block}.', {
      where,
      what,
      block: formatCount(block),
    });
  if (partOf(lesson, mark) === 'unit')
    return tr('{where}unit {row} {what} Block {block}.', {
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

// What sentences speak of on a strip: entries of this scan, freed ones, those on the list, those with data.

export const regions = ['scan', 'freed', 'ahead', 'list', 'data'] as const;
export type StripRegion = (typeof regions)[number];

export const blockBytes = 4096;

/** What the last answer to who asks for data said, bytes of the file; null: nobody has asked yet. */
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

/** Delayed entries between the hand and the first entry behind it that may be freed; null: there is none. */
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

/** Boxes of a region. */
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

// The events behind a box, a unit of the budget or the list: those that name its block, up to the moment.

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
        'Computed from events: entries that may be freed, the one that was made last at its head.',
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
    how:
      places.length > 0 ? '' : t('No event made it: up to this moment none has named this block.'),
    places,
    ...(places.includes(made) ? { made } : {}),
  });
}

/** No event made it: the drawer shows where the lane has come to. */
function behindUnspent(lane: LaneIndex, lesson: Lesson, mark: Mark, upTo: number): Behind {
  const made = madeOfPoints(lane, lesson, mark, {
    who: t('unit {row}', { row: formatCount(mark.row + 1) }),
    how: t('No event has spent it up to this moment; the last one of the lane is below.'),
    places: upTo > 0 ? [upTo - 1] : [],
  });
  return { ...made, title: t('of the budget: not spent') };
}

/** Points of the file among the first `upTo` that name a block. */
function placesOf(lane: LaneIndex, block: number, upTo: number): number[] {
  const { kind, a, b, c } = lane.points;
  const kinds = new Set(
    telling.flatMap((name) => {
      const { order, length } = lane.pointsOf(name);
      return length > 0 ? [kind[order[0]!]!] : [];
    }),
  );
  const file = fileOf(lane);
  const places: number[] = [];
  for (let i = 0; i < upTo; i++) {
    if (!kinds.has(kind[i]!) || a[i] !== file) continue;
    if (b[i]! <= block && block < b[i]! + Math.max(1, c[i]!)) places.push(i);
  }
  return places;
}
