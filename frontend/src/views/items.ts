// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Works on rows of items: finds the mark under a pointer, the next mark for an arrow key, and the place of a tooltip,
 * and draws outlines. Rows are long, so only the items in the visible columns are requested.
 */

import type { Frame, Mark } from '../derive/types.ts';
import type { ArrowKey, Artist, Box, Drawing, Item, Laid, Point, Row } from './contract.ts';
import type { Pen } from './paints.ts';

export function sameMark(one: Mark | null, other: Mark | null): boolean {
  if (one === null || other === null) return one === other;
  return (
    one.arm === other.arm &&
    one.table === other.table &&
    one.kind === other.kind &&
    one.row === other.row &&
    one.id === other.id
  );
}

/** A row of n cells of equal width. `item` returns the item for cell `i`, which has the given box. */
export function cellRow(
  row: Omit<Row, 'items'>,
  { x, pitch, n }: { readonly x: number; readonly pitch: number; readonly n: number },
  item: (i: number, box: Box) => readonly Item[],
): Row {
  const { y, h } = row.area;
  const at = (px: number) => Math.floor((px - x) / pitch);
  return {
    ...row,
    items(x0, x1) {
      const from = Math.max(0, at(x0));
      const length = Math.max(0, Math.min(n - 1, at(x1)) - from + 1);
      return Array.from({ length }, (_, k) => from + k).flatMap((i) =>
        item(i, { x: x + i * pitch, y, w: pitch, h }),
      );
    },
  };
}

// Hit test: among the rows at the pointer's height, find the item under the pointer, or the nearest item at most a few
// pixels away.

/** Vertical tolerance of the pointer, px: outside a row, and outside an item in the row. */
const [rowSlop, itemSlop] = [3, 1];
/**
 * A length too small to see, px. The end of an interval belongs to the next item, so a point exactly at the end misses
 * the interval by this length.
 */
const hair = 1e-6;

/** Distance from a value to the interval [from, from + length); 0 if the value is inside. */
function missed(value: number, from: number, length: number): number {
  if (value >= from && value < from + length) return 0;
  return Math.max(from - value, value - from - length, hair);
}

/**
 * Score of an item in the hit test; null for a miss. An item just beside the pointer can have a higher score than an
 * item under the pointer. For this, a brief item needs a higher rank, and any other item a rank at least three higher.
 */
function worthOf({ box, rank = 0, brief, holds }: Item, slop: number, at: Point): number | null {
  if (holds !== undefined) return holds(at) ? 2 * rank : null;
  const [across, down] = [missed(at.x, box.x, box.w), missed(at.y, box.y, box.h)];
  if (across > slop || down > itemSlop) return null;
  if (across === 0 && down === 0) return 2 * rank;
  const miss = Math.max(slop > 0 ? across / slop : 0, down / itemSlop);
  return 2 * rank - 3 * miss - (brief ? 0 : 4);
}

export function hit<L extends Laid>(
  artist: Artist<L>,
  layout: L,
  drawing: Drawing,
  { x, y }: Point,
): Mark | null {
  return under(artist.rows(layout, drawing), x, y);
}

/** The mark at a point. Short and important marks take precedence. */
export function under(rows: readonly Row[], x: number, y: number): Mark | null {
  const off = ({ area }: Row) =>
    missed(x, area.x, area.w) > hair ? Number.POSITIVE_INFINITY : missed(y, area.y, area.h);
  const least = Math.min(rowSlop, ...rows.map(off));
  let best: { readonly mark: Mark; readonly worth: number } | null = null;
  for (const row of rows) {
    if (off(row) > least) continue;
    const { area, slop = 0 } = row;
    const at = { x, y: Math.max(area.y, Math.min(area.y + area.h - hair, y)) };
    for (const item of row.items(x - slop, x + slop)) {
      const worth = worthOf(item, slop, at);
      if (worth !== null && (best === null || worth > best.worth))
        best = { mark: item.mark, worth };
    }
  }
  return best?.mark ?? null;
}

// Arrow keys: left and right move along a row, up and down move to the next row at the same x.

/**
 * A search in a row begins with a piece of the row. These are the width of this piece, px, and the factor by which the
 * piece grows until the search finds an item.
 */
const [piece, growth] = [32, 8];

/** Search a row from x in one direction, in growing pieces, until `find` returns an item. */
function search(
  { area, items }: Row,
  x: number,
  by: 1 | -1,
  find: (items: readonly Item[]) => Item | undefined,
  all = false,
): Item | null {
  const right = area.x + area.w;
  const [begin, end] = [Math.max(area.x, Math.min(right, x)), by > 0 ? right : area.x];
  for (let far = piece; ; far *= growth) {
    const to = by > 0 ? Math.min(end, begin + far) : Math.max(end, begin - far);
    const listed = items(Math.min(begin, to) - 1, Math.max(begin, to) + 1);
    const found = find(all ? listed : listed.filter((item) => !item.pointerOnly));
    if (found !== undefined || to === end) return found ?? null;
  }
}

/** The first or last item of a row. */
function outermost(row: Row, by: 1 | -1): Item | null {
  const { x, w } = row.area;
  return search(row, by > 0 ? x : x + w, by, (items) => items.at(by > 0 ? 0 : -1));
}

function beside(row: Row, from: Item, by: 1 | -1): Item | null {
  const next = (items: readonly Item[]) => {
    const own = items.findIndex(({ mark }) => sameMark(mark, from.mark));
    const at = own >= 0 ? own : items.findLastIndex(({ box }) => box.x <= from.box.x);
    const rest = by > 0 ? items.slice(at + 1) : items.slice(0, Math.max(0, at)).reverse();
    return rest.find(({ mark }) => !sameMark(mark, from.mark));
  };
  return search(row, from.box.x, by, next, from.pointerOnly);
}

/** The row in which the arrow keys continue after the end of a row. */
function goesOn(rows: readonly Row[], at: number, by: 1 | -1): Row | undefined {
  if (rows[by > 0 ? at : at - 1]?.flows === 'row') return rows[at + by];
  const { arm, flows } = rows[at]!;
  if (flows !== 'lane') return undefined;
  const arms = [...new Set(rows.map((row) => row.arm))];
  const other = arms[arms.indexOf(arm) + by];
  const nth = at - rows.findIndex((row) => row.arm === arm);
  return rows.filter((row) => row.arm === other)[nth];
}

/** Return the item at x. If there is none, return the last item that begins before x, or else the row's first item. */
function comeIn(row: Row, x: number): Item | null {
  const last = (items: readonly Item[]) =>
    items.findLast(({ box }) => box.x <= x && x < box.x + box.w) ??
    items.findLast(({ box }) => box.x <= x + 1);
  return search(row, x, -1, last) ?? search(row, x, 1, ([first]) => first);
}

/** Find the row and the item of a mark; null if the mark is outside the view. */
function standing(rows: readonly Row[], mark: Mark, box: Box | undefined) {
  if (box === undefined) return null;
  const { x, y, w, h } = box;
  const found = rows.flatMap(({ arm, area, items }, at) => {
    if (arm !== mark.arm || area.y > y + h || area.y + area.h < y) return [];
    const own = items(x - 1, x + w + 1).filter((item) => sameMark(item.mark, mark));
    return own.map((item) => ({ at, item }));
  });
  const walked = found.find(({ item }) => !item.pointerOnly) ?? found[0];
  if (walked !== undefined) return walked;
  // The rows may no longer contain an item for this mark.
  // In that case, continue from the mark's own box, in the row that contains the centre of this box.
  const over = ({ arm, area }: Row) =>
    arm === mark.arm &&
    missed(x + w / 2, area.x, area.w) <= hair &&
    missed(y + h / 2, area.y, area.h) <= hair;
  const at = rows.findIndex(over);
  return at < 0 ? null : { at, item: { mark, box } as Item };
}

/**
 * Return the next mark in a direction; null after the last mark. Without a current mark, return the mark at which the
 * arrow keys start.
 */
export function step<L extends Laid>(
  artist: Artist<L>,
  layout: L,
  drawing: Drawing,
  from: Mark | null,
  key: ArrowKey,
): Mark | null {
  const rows = artist.rows(layout, drawing);
  const here = from && standing(rows, from, artist.boxes(layout, drawing, from)[0]);
  if (here === null) return artist.first?.(layout, drawing) ?? firstIn(rows);
  const { at, item } = here;
  const row = rows[at]!;
  if (key === 'Home' || key === 'End') return outermost(row, key === 'Home' ? 1 : -1)?.mark ?? null;
  const by = key === 'ArrowRight' || key === 'ArrowDown' ? 1 : -1;
  if (key === 'ArrowRight' || key === 'ArrowLeft') {
    const next = beside(row, item, by);
    const further = next === null ? goesOn(rows, at, by) : undefined;
    return (further === undefined ? next : outermost(further, by))?.mark ?? null;
  }
  const others = by > 0 ? rows.slice(at + 1) : rows.slice(0, at).reverse();
  return firstIn(others, item.box.x + item.box.w / 2);
}

/** The mark at x in the first row that has items. */
function firstIn(rows: readonly Row[], x?: number): Mark | null {
  for (const row of rows) {
    const item = comeIn(row, row.entry ?? x ?? row.area.x);
    if (item !== null) return item.mark;
  }
  return null;
}

// Positions of marks.

/** The centre of a mark, for its tooltip; null if the mark is outside the view. */
export function place<L extends Laid>(
  artist: Artist<L>,
  layout: L,
  drawing: Drawing,
  mark: Mark,
): Point | null {
  const [box] = artist.boxes(layout, drawing, mark);
  return box === undefined ? null : { x: box.x + box.w / 2, y: box.y + box.h / 2 };
}

/** Horizontal and vertical distance of an outline from its mark, and its corner radius, px. */
export interface Rim {
  readonly x: number;
  readonly y: number;
  readonly radius: number;
}

/** Outline the marks that the sentence mentions (dashed), the hovered mark, and the selected mark. */
export function outline(
  pen: Pen,
  { theme, frame }: { readonly theme: Drawing['theme']; readonly frame: Frame },
  pointed: Mark | null,
  boxes: (mark: Mark) => readonly Box[],
  rim: Rim,
): void {
  const stroke = (mark: Mark, colour: string, width: number) => {
    for (const { x, y, w, h } of boxes(mark)) {
      pen.strokeStyle = colour;
      pen.lineWidth = width;
      pen.beginPath();
      pen.roundRect(x - rim.x, y - rim.y, Math.max(2, w) + 2 * rim.x, h + 2 * rim.y, rim.radius);
      pen.stroke();
    }
  };
  pen.setLineDash([5, 3]);
  for (const mark of frame.spoken ?? []) stroke(mark, theme.ink, 1.5);
  pen.setLineDash([]);
  if (pointed !== null) stroke(pointed, theme.soft, 1.5);
  if (frame.selection !== null) stroke(frame.selection, theme.ink, 2);
}
