// SPDX-License-Identifier: GPL-2.0-or-later
/** Boxes, units of the budget and the list as marks that can be pointed at, and how the keys go among them. */

import { t as tr } from '../../base/lang/t.ts';
import { formatCount, ns } from '../../base/units.ts';
import type { LaneIndex, Mark, RunIndex } from '../../derive/types.ts';
import { armTitle } from '../../derive/words.ts';
import { kindNumber, type Lesson } from '../../protocol/lesson.ts';
import type { ArrowKey, Drawing } from '../contract.ts';
import { blocksOf } from './block-replay.ts';
import { boxAt, boxBeside, type StripLane, type StripLayout, unitAt } from './layout.ts';
import { lookOf, spending } from './looks.ts';
import { type LaneNow, laneNow } from './now.ts';
import { backsOfBlock } from './refill.ts';
import { hasList, threadOf } from './thread.ts';

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

export function isUnspent(mark: Mark): boolean {
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

export function blockOf(index: RunIndex, lane: LaneIndex, mark: Mark, lesson: Lesson): number {
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
