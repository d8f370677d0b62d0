// SPDX-License-Identifier: GPL-2.0-or-later
/** Bytes, copies, accesses and transfers as marks: where they stand, which is at a point, what each is in words. */

import { t as tr } from '../../base/lang/t.ts';
import { formatCount, ns } from '../../base/units.ts';
import type { Mark } from '../../derive/types.ts';
import { armTitle, capital } from '../../derive/words.ts';
import { kindNumber, type Lesson } from '../../protocol/lesson.ts';
import type { Box } from './brush.ts';
import { byteKind, runsOf } from './byte-runs.ts';
import { functionName } from './counted.ts';
import { stepAt, stepX } from './draw-order.ts';
import type { Easel } from './easel.ts';
import { fieldWords, lineBytes, type Struct } from './fields.ts';
import { byteAt, byteBoxes, inside, type LinesLane, type LinesLayout } from './layout.ts';
import { stateNames } from './model/types.ts';
import { type Access, accessAt, glowSteps, happening, type LaneNow, statesAt } from './now.ts';
import { wayAt } from './ways.ts';

/** What the marks of a lane need. */
export type Place = Pick<Easel, 'layout' | 'laid' | 'drawing' | 'shown'>;

export const accessKinds = ['read', 'write', 'rmw'] as const;
export type Part = 'byte' | 'copy' | 'access' | 'way' | 'executed';

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
export function byteMark(place: Pick<Place, 'shown' | 'drawing'>, at: number): Mark | null {
  const { struct } = place.shown;
  if (struct === null || at >= struct.lines * lineBytes) return null;
  const run = runsOf(struct)
    .flat()
    .find((one) => at >= one.at && at < one.at + one.size);
  if (run === undefined) return null;
  const last = lastWhere(place.shown, (a) => a.at < run.at + run.size && a.at + a.size > run.at);
  return markOf(place, byteKind(struct, at), run.at, last?.point ?? -1);
}

export function copyMark(
  place: Pick<Place, 'shown' | 'drawing'>,
  line: number,
  cpu: number,
): Mark | null {
  const { model, done } = place.shown;
  if (model === null || line >= model.trace.log.lines) return null;
  const { states } = statesAt(model, done);
  const kind = `copy_${stateNames[states.state(cpu, line)]!.toLowerCase()}`;
  const by = lastWhere(place.shown, (a) => a.line === line && (a.cpu === cpu || a.lost > 0));
  return markOf(place, kind, line * perLine + cpu, by?.point ?? -1);
}

export function stepMark(
  place: Pick<Place, 'shown' | 'drawing'>,
  k: number,
  way: boolean,
): Mark | null {
  const { model, lane, done, under } = place.shown;
  // The one under way has a way before it is over.
  if (model === null || k < 0 || k >= done + (way && under !== null ? 1 : 0)) return null;
  const access = accessAt(lane, model, k);
  const what = happening(access);
  const kind = way && what !== 'hit' ? what : accessKinds[access.kind];
  return kind === undefined ? null : markOf(place, kind, k, access.point);
}

export function executedMark(place: Pick<Place, 'shown' | 'drawing'>, k: number): Mark | null {
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
