// SPDX-License-Identifier: GPL-2.0-or-later
/** Marks of the first act, which are bytes, copies, accesses and transfers: their places and descriptions. */

import { t as tr } from '@page/base/lang/t.ts';
import { formatCount, ns } from '@page/base/units.ts';
import type { Mark } from '@page/derive/types.ts';
import { armTitle, capital } from '@page/derive/words.ts';
import { kindNumber, type Lesson } from '@page/protocol/lesson.ts';
import type { Box, Item, Point, Row } from '@page/views/contract.ts';
import { cellRow } from '@page/views/items.ts';
import { functionName } from './counted.ts';
import { drawnWays, isOnWay } from './draw-cards.ts';
import { type Easel, stepX } from './easel.ts';
import { byteKind, fieldWords, lineBytes, runsOf, type Struct } from './fields.ts';
import { byteBoxes, inside } from './layout.ts';
import { stateNames } from './model/coherence.ts';
import { type Access, accessAt, glowSteps, happening, type LaneNow, statesAt } from './now.ts';

/** Data that determine the positions of a lane's marks. */
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

/** Step between the row numbers of two lines. Copies are numbered line by line. */
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

/** The mark of the run of bytes that contains a byte. Its record is the last access to any byte of the run. */
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
  // The path of the current access is already drawn before the access has finished.
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

/** The last of the 4,000 newest finished accesses for which `fits` is true; null if there is none. */
function lastWhere(shown: LaneNow, fits: (access: Access) => boolean): Access | null {
  if (shown.model === null) return null;
  for (let k = shown.done - 1; k >= Math.max(0, shown.done - 4000); k--) {
    const access = accessAt(shown.lane, shown.model, k);
    if (fits(access)) return access;
  }
  return null;
}

/**
 * Rows of marks at which a viewer can point: bytes, copies of each line, accesses in the model's order, and accesses in
 * executed order. Paths are on top of all rows.
 */
export function rowsOf(place: Place): readonly Row[] {
  const { laid, shown } = place;
  const { done, lane } = shown;
  const { order, executed, arm } = laid;
  const pitch = stepX(place, 1) - stepX(place, 0);
  const steps = (n: number) => ({ x: stepX(place, 0), pitch, n });
  // An arrow key moves from the row above to the newest access.
  const entry = stepX(place, done);
  const inOrder = cellRow({ arm, area: order, slop: 4, entry }, steps(done), (k, box) =>
    accessItems(place, k, box),
  );
  const total = Math.min(lane.pointsOf('access').length, done);
  const asExecuted = cellRow({ arm, area: executed, entry }, steps(total), (k, box) =>
    itemsOf(executedMark(place, k), [box]),
  );
  const strips = [
    ...(shown.model === null ? [] : [inOrder]),
    ...(executed.h > 0 ? [asExecuted] : []),
  ];
  return [...byteRows(place), wayRow(place), ...copyRows(place), ...strips];
}

function itemsOf(mark: Mark | null, boxes: readonly Box[], rank = 0): readonly Item[] {
  return mark === null ? [] : boxes.map((box) => ({ mark, box, rank }));
}

function touches({ x, w }: Box, x0: number, x1: number): boolean {
  return x <= x1 && x + w >= x0;
}

function byteRows(place: Place): readonly Row[] {
  const { layout, laid, shown } = place;
  const { perRow, cell, high: h, pitch } = layout;
  const { struct } = shown;
  if (struct === null) return [];
  const rows = lineBytes / perRow;
  return runsOf(struct).flatMap((runs, line) =>
    Array.from({ length: rows }, (_, nth): Row => {
      const { x, y: top } = laid.lines[line]!;
      const y = top + nth * pitch;
      return {
        ...{ arm: laid.arm, area: { x, y, w: perRow * cell, h } },
        ...(nth < rows - 1 ? { flows: 'row' } : {}),
        items: (x0, x1) =>
          runs.flatMap(({ at, size }) => {
            const boxes = byteBoxes(layout, laid, at, size);
            const here = boxes.filter((box) => box.y === y && touches(box, x0, x1));
            return here.length === 0 ? [] : itemsOf(byteMark(place, at), here, 3);
          }),
      };
    }),
  );
}

/** A path ends in the middle of a copy. A viewer can also point at a copy that was just lost. */
function wayRow(place: Place): Row {
  const { laid, shown } = place;
  const area = { x: laid.left, y: 0, w: laid.width, h: place.drawing.size.height };
  const lost = ({ x, y }: Point) =>
    laid.cards.some(({ cpu, slots }) =>
      slots.some((slot, line) => inside(slotRoom(slot), x, y) && isLost(shown, line, cpu)),
    );
  const items = () =>
    drawnWays(shown).flatMap((way): readonly Item[] => {
      const mark = stepMark(place, way.k, true);
      const holds = (at: Point) => !lost(at) && isOnWay(place, way, at);
      return mark === null ? [] : [{ mark, box: area, rank: 2, holds, pointerOnly: true }];
    });
  return { arm: laid.arm, area, items };
}

/** Widen a slot, so that there is no gap between the slots of copies. */
function slotRoom(slot: Box): Box {
  return { ...slot, x: slot.x - 1, w: slot.w + 2 };
}

function copyRows(place: Place): readonly Row[] {
  const { laid } = place;
  const [first, last] = [laid.cards[0], laid.cards.at(-1)];
  if (first === undefined || last === undefined) return [];
  return first.slots.map((slot, line): Row => {
    const { x, y, h } = slotRoom(slot);
    const end = slotRoom(last.slots[line]!);
    return {
      ...{ arm: laid.arm, area: { x, y, w: end.x + end.w - x, h } },
      items: (x0, x1) =>
        laid.cards.flatMap(({ cpu, slots }) => {
          const room = slotRoom(slots[line]!);
          return touches(room, x0, x1) ? itemsOf(copyMark(place, line, cpu), [room], 1) : [];
        }),
    };
  });
}

function isLost({ model, done }: LaneNow, line: number, cpu: number): boolean {
  if (model === null || line >= model.trace.log.lines) return false;
  return statesAt(model, done).lostAge[line * model.trace.log.cpus + cpu]! > 0;
}

function rowHeight({ laid, shown }: Pick<Place, 'laid' | 'shown'>): number {
  return laid.order.h / (shown.model?.trace.log.cpus ?? 1);
}

/** The upper half of a CPU's row shows how the line arrived, and the lower half shows the access. */
function accessItems(place: Place, k: number, { x, w }: Box): readonly Item[] {
  const h = rowHeight(place) / 2;
  const y = place.laid.order.y + (place.shown.model?.trace.log.cpu[k] ?? 0) * 2 * h;
  const below = itemsOf(stepMark(place, k, false), [{ x, y: y + h, w, h }]);
  return [
    ...itemsOf(stepMark(place, k, true), [{ x, y, w, h }]),
    ...below.map((item) => ({ ...item, pointerOnly: true })),
  ];
}

/** Return the boxes of a mark. */
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
  // While the path of an access is drawn, its mark includes the copy at the end of the path.
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
  rmw: tr('reads and writes in one access'),
} as const;

/** Return the description of a mark, for tips and screen readers. */
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
      '{where}, access {row} in the order in which the host happened to run them, on vCPU {cpu}. On another day this order would differ, so the order is not a result.',
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

/** Describe bytes outside all fields: padding, or other data on the object's lines. */
function besideWords({ lead, size }: Struct, at: number): string {
  if (at >= lead && at < lead + size) return tr('byte {at}, no field.', { at: at - lead });
  return tr('other data on line {line}.', { line: Math.floor(at / lineBytes) });
}

/** Describe an access: "CPU 1 reads d_iname[8..15] in __d_lookup_rcu, counted. Modelled: line 1 comes from CPU 0." */
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
  const asks = owns ? tr('this load asks to own the line; ') : '';
  const others = tr('{lost, plural, one {one copy is} other {# copies are}} lost', { lost });
  switch (happening(access)) {
    case 'hit':
      return tr('{first} Modelled: this CPU has line {line}, so nothing moves.', { first, line });
    case 'fetch':
      return tr('{first} Modelled: {asks}line {line} comes from memory.', { first, asks, line });
    case 'upgrade':
      return tr('{first} Modelled: {asks}this CPU has line {line}, and {others}.', {
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

/** The mark that is selected first: the bytes that all CPUs write. */
export function hotMark(place: Place): Mark | null {
  const { struct } = place.shown;
  return struct?.hot ? byteMark(place, struct.hot.at) : null;
}
