// SPDX-License-Identifier: GPL-2.0-or-later
/** Bytes, copies, accesses and transfers as marks: where they stand, which is at a point, what each is in words. */

import { t as tr } from '@page/base/lang/t.ts';
import { formatCount, ns } from '@page/base/units.ts';
import type { Mark } from '@page/derive/types.ts';
import { armTitle, capital } from '@page/derive/words.ts';
import { kindNumber, type Lesson } from '@page/protocol/lesson.ts';
import type { ArrowKey, Drawing } from '@page/views/contract.ts';
import type { Box } from './brush.ts';
import { functionName } from './counted.ts';
import { wayAt } from './draw-cards.ts';
import { type Easel, stepAt, stepX } from './easel.ts';
import { byteKind, fieldWords, lineBytes, runsOf, type Struct } from './fields.ts';
import { byteAt, byteBoxes, inside, type LinesLane, type LinesLayout } from './layout.ts';
import { stateNames } from './model/coherence.ts';
import {
  type Access,
  accessAt,
  glowSteps,
  happening,
  type LaneNow,
  laneNow,
  statesAt,
} from './now.ts';

/** What the marks of a lane need. */
type Place = Pick<Easel, 'layout' | 'laid' | 'drawing' | 'shown'>;

export const accessKinds = ['read', 'write', 'rmw'] as const;
type Part = 'byte' | 'copy' | 'access' | 'way' | 'executed';

const parts: Readonly<Record<string, Part>> = {
  name: 'byte',
  name_shared: 'byte',
  count: 'byte',
  chain: 'byte',
  plain: 'byte',
  copy_m: 'copy',
  copy_e: 'copy',
  copy_s: 'copy',
  copy_i: 'copy',
  read: 'access',
  write: 'access',
  rmw: 'access',
  transfer: 'way',
  upgrade: 'way',
  fetch: 'way',
  executed: 'executed',
};

export function partOfMark(lesson: Pick<Lesson, 'kinds'>, mark: Pick<Mark, 'kind'>): Part | null {
  return parts[lesson.kinds[mark.kind]?.name ?? ''] ?? null;
}

/** Copies are numbered line by line. */
export const perLine = 64;

function markOf(
  place: Pick<Place, 'shown' | 'drawing'>,
  kind: string,
  row: number,
  point: number,
): Mark {
  const { lane } = place.shown;
  const known = point >= 0 && point < lane.points.length;
  const t = ns(known ? lane.points.t[point]! : 0);
  const id = known ? lane.points.id[point]! : 0;
  const number = kindNumber(place.drawing.lesson, kind);
  return { arm: lane.arm, table: 'points', id, row, kind: number, t0: t, t1: t };
}

/** The run of bytes at a byte; its record is the last access to any of them. */
function byteMark(place: Pick<Place, 'shown' | 'drawing'>, at: number): Mark | null {
  const { struct } = place.shown;
  if (struct === null || at >= struct.lines * lineBytes) return null;
  const run = runsOf(struct)
    .flat()
    .find((one) => at >= one.at && at < one.at + one.size);
  if (run === undefined) return null;
  const last = lastWhere(place.shown, (a) => a.at < run.at + run.size && a.at + a.size > run.at);
  return markOf(place, byteKind(struct, at), run.at, last?.point ?? -1);
}

function copyMark(place: Pick<Place, 'shown' | 'drawing'>, line: number, cpu: number): Mark | null {
  const { model, done } = place.shown;
  if (model === null || line >= model.trace.log.lines) return null;
  const { states } = statesAt(model, done);
  const kind = `copy_${stateNames[states.state(cpu, line)]!.toLowerCase()}`;
  const by = lastWhere(place.shown, (a) => a.line === line && (a.cpu === cpu || a.lost > 0));
  return markOf(place, kind, line * perLine + cpu, by?.point ?? -1);
}

function stepMark(place: Pick<Place, 'shown' | 'drawing'>, k: number, way: boolean): Mark | null {
  const { model, lane, done, under } = place.shown;
  // The one under way has a way before it is over.
  if (model === null || k < 0 || k >= done + (way && under !== null ? 1 : 0)) return null;
  const access = accessAt(lane, model, k);
  const what = happening(access);
  const kind = way && what !== 'hit' ? what : accessKinds[access.kind];
  return kind === undefined ? null : markOf(place, kind, k, access.point);
}

function executedMark(place: Pick<Place, 'shown' | 'drawing'>, k: number): Mark | null {
  const { lane, done } = place.shown;
  const { order, length } = lane.pointsOf('access');
  if (k < 0 || k >= Math.min(length, done)) return null;
  return markOf(place, 'executed', k, order[k]!);
}

/** The last access among those that are over that fits; it looks back only so far. */
function lastWhere(shown: LaneNow, fits: (access: Access) => boolean): Access | null {
  if (shown.model === null) return null;
  for (let k = shown.done - 1; k >= Math.max(0, shown.done - 4000); k--) {
    const access = accessAt(shown.lane, shown.model, k);
    if (fits(access)) return access;
  }
  return null;
}

export function hitLines(place: Place, x: number, y: number): Mark | null {
  const { layout, laid, shown } = place;
  const at = byteAt(layout, laid, x, y);
  if (at >= 0) return byteMark(place, at);
  const copy = copyAt(place, x, y);
  // A way ends in the middle of a copy; one that has just been lost is to be pointed at itself.
  const way = copy !== null && isLost(shown, copy) ? null : wayAt(place, { x, y });
  if (way !== null) return stepMark(place, way.k, true);
  if (copy !== null) return copyMark(place, copy.line, copy.cpu);
  if (inside(laid.executed, x, y)) return executedMark(place, stepAt(place, x));
  if (!inside(laid.order, x, y) || shown.model === null) return null;
  return stepMark(
    place,
    nearStep(place, x, y),
    (y - laid.order.y) % rowHeight(place) < rowHeight(place) / 2,
  );
}

interface CopyPlace {
  readonly line: number;
  readonly cpu: number;
}

function copyAt({ laid }: Place, x: number, y: number): CopyPlace | null {
  for (const { cpu, slots } of laid.cards)
    for (const [line, slot] of slots.entries())
      if (inside({ ...slot, x: slot.x - 1, w: slot.w + 2 }, x, y)) return { line, cpu };
  return null;
}

function isLost({ model, done }: LaneNow, { line, cpu }: CopyPlace): boolean {
  if (model === null || line >= model.trace.log.lines) return false;
  return statesAt(model, done).lostAge[line * model.trace.log.cpus + cpu]! > 0;
}

function rowHeight({ laid, shown }: Pick<Place, 'laid' | 'shown'>): number {
  return laid.order.h / (shown.model?.trace.log.cpus ?? 1);
}

/** The step under the pointer: of the CPU of that row, the nearest within a few px. */
function nearStep(place: Place, x: number, y: number): number {
  const { laid, shown } = place;
  const k = stepAt(place, x);
  const { log } = shown.model!.trace;
  const cpu = Math.floor((y - laid.order.y) / rowHeight(place));
  const px = Math.abs(stepX(place, 1) - stepX(place, 0));
  const reach = Math.ceil(4 / Math.max(0.05, px));
  for (let far = 0; far <= reach; far++)
    for (const near of [k - far, k + far])
      if (near >= 0 && near < shown.done && log.cpu[near] === cpu) return near;
  return -1;
}

/** Where a mark is drawn. */
export function placesOf(place: Place, mark: Mark): readonly Box[] {
  const { layout, laid, shown, drawing } = place;
  const part = partOfMark(drawing.lesson, mark);
  if (part === 'byte') {
    const run =
      shown.struct &&
      runsOf(shown.struct)
        .flat()
        .find((one) => one.at === mark.row);
    return run ? byteBoxes(layout, laid, run.at, run.size) : [];
  }
  if (part === 'copy') {
    const slot = laid.cards[mark.row % perLine]?.slots[Math.floor(mark.row / perLine)];
    return slot === undefined ? [] : [slot];
  }
  const x = stepX(place, mark.row);
  const w = Math.max(4, stepX(place, mark.row + 1) - x);
  const inOrder = x >= laid.order.x - 1 && x <= laid.order.x + laid.order.w;
  if (part === 'executed') return inOrder ? [{ x, y: laid.executed.y, w, h: laid.executed.h }] : [];
  const h = rowHeight(place);
  const log = shown.model?.trace.log;
  const cpu = log?.cpu[mark.row] ?? 0;
  // As long as its way is drawn, the copy that it ends in, too.
  const age = shown.done - mark.row;
  const goal = part === 'way' && age >= 0 && age <= glowSteps && log;
  const slot = goal ? laid.cards[cpu]?.slots[goal.line[mark.row] ?? 0] : undefined;
  return [
    ...(inOrder ? [{ x, y: laid.order.y + cpu * h, w, h }] : []),
    ...(slot === undefined ? [] : [slot]),
  ];
}

export const verbs = {
  read: tr('reads'),
  write: tr('writes'),
  rmw: tr('reads and writes at once'),
} as const;

/** A mark in words. */
export function describeLines(shown: LaneNow, mark: Mark, lesson: Lesson): string {
  const kind = lesson.kinds[mark.kind];
  if (kind === undefined) return '';
  const where = capital(armTitle(lesson, shown.lane));
  const part = partOfMark(lesson, mark);
  if (part === 'byte') return `${where}, ${byteWords(shown, mark.row)} ${capital(kind.title)}.`;
  if (part === 'copy') {
    const [line, cpu] = [Math.floor(mark.row / perLine), mark.row % perLine];
    return tr('{where}, CPU {cpu}, its copy of line {line}. {title}. Modelled.', {
      where,
      cpu,
      line,
      title: kind.title,
    });
  }
  if (part === 'executed')
    return tr(
      '{where}, access {row} as the host happened to run it, on vCPU {cpu}. It would be another order on another day: no result.',
      { where, row: formatCount(mark.row + 1), cpu: vcpuOf(shown, mark.row) },
    );
  if (shown.model === null || mark.row >= shown.model.trace.log.length) return '';
  return tr('{where}, access {row}. {step}', {
    where,
    row: formatCount(mark.row + 1),
    step: stepWords(shown, accessAt(shown.lane, shown.model, mark.row)),
  });
}

function vcpuOf(shown: LaneNow, k: number): number {
  return shown.lane.points.cpu[shown.lane.pointsOf('access').order[k]!] ?? 0;
}

function byteWords({ struct }: LaneNow, at: number): string {
  const field = struct?.fields[struct.fieldAt[at] ?? -1];
  if (struct === null) return tr('byte {at}, no field.', { at });
  if (field === undefined) return besideWords(struct, at);
  const run = runsOf(struct)
    .flat()
    .find((one) => one.at === at);
  const to = at + (run?.size ?? 1) - 1;
  const { lead } = struct;
  return tr('{name}, bytes {at} to {to}, line {line}.', {
    name: field.name,
    at: at - lead,
    to: to - lead,
    line: Math.floor(at / lineBytes),
  });
}

/** Padding, or what else lies on the lines of the object. */
function besideWords({ lead, size }: Struct, at: number): string {
  if (at >= lead && at < lead + size) return tr('byte {at}, no field.', { at: at - lead });
  return tr('other data on line {line}.', { line: Math.floor(at / lineBytes) });
}

/** "CPU 1 reads d_iname[8..15] in __d_lookup_rcu, counted. Modelled: line 1 comes from CPU 0." */
export function stepWords(shown: LaneNow, access: Access): string {
  const { cpu, kind, at, size, line, from, lost, owns } = access;
  const name = functionName(shown.lane, access.func);
  const verb = verbs[accessKinds[kind] ?? 'read'];
  const by = name === '' ? '' : tr(' in {name}()', { name });
  const first = tr('CPU {cpu} {verb} {field}{by}, counted.', {
    cpu,
    verb,
    field: fieldWords(shown.struct, at, size),
    by,
  });
  const asks = owns ? tr('it asks to own the line; ') : '';
  const others = tr('{lost, plural, one {one copy is} other {# copies are}} lost', { lost });
  switch (happening(access)) {
    case 'hit':
      return tr('{first} Modelled: it has line {line}, nothing moves.', { first, line });
    case 'fetch':
      return tr('{first} Modelled: {asks}line {line} comes from memory.', { first, asks, line });
    case 'upgrade':
      return tr('{first} Modelled: {asks}it has line {line}, and {others}.', {
        first,
        asks,
        line,
        others,
      });
    case 'transfer':
      return tr('{first} Modelled: {asks}line {line} comes from CPU {from}{also}.', {
        first,
        asks,
        line,
        from,
        also: lost > 0 ? tr(', and {others}', { others }) : '',
      });
  }
}

/** The mark beside one, for the keys: bytes, then copies, then the order, lane after lane. */
export function layoutLane(layout: LinesLayout, arm: string): LinesLane | undefined {
  return layout.lanes.find((one) => one.arm === arm);
}

// How the arrow keys go among the marks: fields, copies, accesses, the executed order, then the next lane.

/** One row that left and right go along; up and down go from row to row. */
interface Row {
  readonly length: number;
  readonly mark: (at: number) => Mark | null;
  /** Place of a mark in the row; -1: it is not of this row. */
  readonly find: (mark: Mark, part: Part | null) => number;
  /** Where to come in. */
  readonly first: number;
}

function rowsOf(place: Place): Row[] {
  const { shown } = place;
  const rows: Row[] = [];
  const { struct, model, done } = shown;
  for (const runs of struct === null ? [] : runsOf(struct))
    rows.push({
      length: runs.length,
      mark: (at) => byteMark(place, runs[at]!.at),
      find: (mark, part) => (part === 'byte' ? runs.findIndex((run) => run.at === mark.row) : -1),
      first: 0,
    });
  if (model === null) return rows;
  const { lines, cpus } = model.trace.log;
  for (let line = 0; line < lines; line++)
    rows.push({
      length: cpus,
      mark: (cpu) => copyMark(place, line, cpu),
      find: (mark, part) =>
        part === 'copy' && Math.floor(mark.row / 64) === line ? mark.row % 64 : -1,
      first: 0,
    });
  const total = shown.lane.pointsOf('access').length;
  const steps = (
    length: number,
    of: (k: number) => Mark | null,
    own: (part: Part | null) => boolean,
  ): Row => ({
    length,
    mark: of,
    find: (mark, part) => (own(part) ? mark.row : -1),
    first: length - 1,
  });
  rows.push(
    steps(
      done,
      (k) => stepMark(place, k, true),
      (part) => part === 'access' || part === 'way',
    ),
  );
  if (place.laid.executed.h === 0) return rows;
  rows.push(
    steps(
      Math.min(total, done),
      (k) => executedMark(place, k),
      (part) => part === 'executed',
    ),
  );
  return rows;
}

export function stepLines(
  layout: LinesLayout,
  drawing: Drawing,
  from: Mark | null,
  key: ArrowKey,
): Mark | null {
  const at = Math.max(
    0,
    layout.lanes.findIndex((one) => one.arm === from?.arm),
  );
  const place = placeOf(layout, drawing, layout.lanes[at]);
  if (place === null) return null;
  const rows = rowsOf(place).filter((row) => row.length > 0);
  const part = from === null ? null : partOfMark(drawing.lesson, from);
  const r = from === null ? -1 : rows.findIndex((row) => row.find(from, part) >= 0);
  if (from === null || r < 0) return hotMark(place) ?? rows[0]?.mark(rows[0].first) ?? null;
  const row = rows[r]!;
  const column = row.find(from, part);
  if (key === 'ArrowLeft' || key === 'ArrowRight' || key === 'Home' || key === 'End') {
    const to = {
      ArrowLeft: column - 1,
      ArrowRight: column + 1,
      Home: 0,
      End: row.length - 1,
    }[key];
    return to < 0 || to >= row.length ? from : (row.mark(to) ?? from);
  }
  const by = key === 'ArrowDown' ? 1 : -1;
  const next = rows[r + by];
  if (next !== undefined) {
    // From copies to copies the CPU stays the same.
    const same = next.length === row.length ? column : next.first;
    return next.mark(same) ?? from;
  }
  const other = placeOf(layout, drawing, layout.lanes[at + by]);
  if (other === null) return from;
  const others = rowsOf(other).filter((one) => one.length > 0);
  const entry = by > 0 ? others[0] : others.at(-1);
  return entry?.mark(entry.first) ?? from;
}

/** The first that is worth a look: what everybody writes. */
function hotMark(place: Place): Mark | null {
  const { struct } = place.shown;
  return struct?.hot ? byteMark(place, struct.hot.at) : null;
}

function placeOf(layout: LinesLayout, drawing: Drawing, laid: LinesLane | undefined): Place | null {
  const lane = drawing.index.lanes.find((one) => one.arm === laid?.arm);
  if (laid === undefined || lane === undefined) return null;
  return { layout, laid, drawing, shown: laneNow(drawing, lane) };
}
