// SPDX-License-Identifier: GPL-2.0-or-later
/** Where cards stand on a slide: whole, in order, in columns, as large as they all fit. Pure. */

interface Box {
  readonly width: number;
  readonly height: number;
}

interface Packed {
  readonly scale: number;
  /** Width of a column as it is laid out, before it is scaled. */
  readonly width: number;
  /** The cards of each column, by their index. */
  readonly columns: readonly (readonly number[])[];
  /** False: even at the smallest scale something is higher than the box. */
  readonly fits: boolean;
}

export interface Limits {
  readonly least: number;
  readonly most: number;
  /** How many columns there may be; a column without a card is none. One must be among them. */
  readonly columns: readonly number[];
  /** Between columns, and between cards of one. */
  readonly gap: number;
}

/** Scales that are tried between 1 and 2. */
const steps = 20;

/** Splits cards into so many columns, in order, with the lowest highest column. */
export function splitInOrder(
  heights: readonly number[],
  count: number,
  gap: number,
): readonly (readonly number[])[] {
  const from = (first: number, left: number): readonly (readonly number[])[] => {
    const all = heights.slice(first).map((_h, i) => first + i);
    if (left === 1 || all.length <= 1) return [all];
    let best: readonly (readonly number[])[] = [all];
    for (let cut = 1; cut < all.length; cut++) {
      const tried = [all.slice(0, cut), ...from(first + cut, left - 1)];
      if (highest(heights, tried, gap) < highest(heights, best, gap)) best = tried;
    }
    return best;
  };
  return from(0, count);
}

function highest(
  heights: readonly number[],
  columns: readonly (readonly number[])[],
  gap: number,
): number {
  const of = (column: readonly number[]) =>
    column.reduce((sum, i) => sum + (heights[i] ?? 0), 0) + gap * (column.length - 1);
  return Math.max(0, ...columns.map(of));
}

/**
 * The largest scale at which all cards fit. `heightsAt`: of the cards at a layout width, px; infinite where one is
 * wider than that. Nothing is ever shown below `least`: there the columns that come nearest are given.
 */
export function pack(
  box: Box,
  heightsAt: (width: number) => readonly number[],
  { least, most, columns, gap }: Limits,
): Packed {
  const cards = heightsAt(box.width).length;
  const counts = columns.filter((count) => count <= Math.max(1, cards));
  const at = (scale: number) =>
    counts.map((count) => {
      const width = Math.floor((box.width / scale - gap * (count - 1)) / count);
      const heights = heightsAt(width);
      const split = splitInOrder(heights, count, gap);
      const high = highest(heights, split, gap) * scale;
      return { scale, width, columns: split, fits: high <= box.height, high };
    });
  for (let n = Math.round(most * steps); n >= Math.round(least * steps); n--) {
    const found = at(n / steps).find((one) => one.fits);
    if (found) return found;
  }
  return at(least).reduce((best, one) => (one.high < best.high ? one : best));
}

// Measures the cards of a slide and puts them in their places; in the browser alone.

/** What stands together: a whole card, or of one with several tables each with what belongs to it. */
type Unit = readonly HTMLElement[];

/** Charts may become so much higher than they ask for. */
const growth = 2;
/** Between what belongs together. */
const line = 8;
/** Below, a card with several tables is taken apart, so that its letters are larger. */
const small = 1.2;

/** Which sizes the cards have: while they stay, nothing need be placed anew. */
export function standing(inner: HTMLElement): string {
  const parts = [...inner.children].flatMap((card) => [
    card,
    ...card.querySelectorAll('.panel > *'),
  ]);
  return parts.map((one) => `${one.clientHeight} ${one.scrollWidth}`).join();
}

export function layOut(outer: HTMLElement, inner: HTMLElement, limits: Limits): void {
  const box = { width: outer.clientWidth, height: outer.clientHeight };
  const all = [...inner.children] as HTMLElement[];
  // In a hand cards stand one below the other, and scroll.
  const flows = getComputedStyle(inner).position === 'static';
  if (box.width === 0 || box.height === 0 || all.length === 0 || flows) return;
  forget(inner);
  const filler = all.filter((card) => card.dataset['filler'] !== undefined);
  const own = all.filter((card) => !filler.includes(card));
  const whole = (cards: readonly HTMLElement[]) => cards.map((card): Unit => [card]);
  let [units, packed] = tried(box, whole(all), limits);
  const several = own.some((card) => tablesOf(parts(card)).length > 1);
  if (!packed.fits || (several && packed.scale < small)) {
    for (const card of filler) card.dataset['off'] = '';
    [units, packed] = tried(box, own.flatMap(unitsOf), limits);
  }
  for (const block of dispensable(own)) {
    if (packed.fits) break;
    block.dataset['leftOut'] = '';
    [units, packed] = tried(box, own.flatMap(unitsOf), { ...limits, most: limits.least });
  }
  settle(units, packed, Math.floor(box.height / packed.scale), limits.gap);
  inner.style.transform = `scale(${packed.scale})`;
}

function tried(box: Box, units: readonly Unit[], limits: Limits): [readonly Unit[], Packed] {
  const measured = new Map<number, readonly number[]>();
  const heightsAt = (width: number): readonly number[] => {
    const known = measured.get(width) ?? units.map((unit) => heightOf(unit, width));
    measured.set(width, known);
    return known;
  };
  return [units, pack(box, heightsAt, limits)];
}

/** As they were before anything was placed. */
function forget(inner: HTMLElement): void {
  for (const one of inner.querySelectorAll<HTMLElement>('.deck-card, [data-placed]')) {
    for (const key of ['left', 'top', 'width'] as const) one.style[key] = '';
    if (one.matches('.deck-card')) one.style.height = '';
    delete one.dataset['placed'];
    delete one.dataset['off'];
  }
  for (const one of inner.querySelectorAll<HTMLElement>('[data-left-out]'))
    delete one.dataset['leftOut'];
}

/** A drawing has no offsetHeight. */
const high = (one: HTMLElement) => one.offsetHeight ?? one.clientHeight;

/** Infinite: something in it is wider. */
function heightOf(unit: Unit, width: number): number {
  for (const one of unit) one.style.width = `${width}px`;
  if (unit.some((one) => one.scrollWidth > width + 1)) return Number.POSITIVE_INFINITY;
  return unit.reduce((sum, one) => sum + high(one), line * (unit.length - 1));
}

const main = 'table, svg, figure, div';

/** What a panel consists of, also where one box has all of it but the heading. */
function parts(card: HTMLElement): readonly HTMLElement[] {
  const panel = card.querySelector('.panel:not(.patch)');
  const all = ([...(panel?.children ?? [])] as HTMLElement[]).flatMap((part) =>
    part.matches('div:not(.dots-box)') && part.childElementCount > 1
      ? ([...part.children] as HTMLElement[])
      : [part],
  );
  return all.filter((part) => getComputedStyle(part).display !== 'none');
}

const tablesOf = (own: readonly HTMLElement[]) => own.filter((part) => part.matches(main));

/** A card with one table stays whole. Others are taken apart: each table is a unit, the first with the heading. */
function unitsOf(card: HTMLElement): readonly Unit[] {
  const own = parts(card);
  const tables = tablesOf(own);
  if (tables.length < 2) return [[card]];
  const units: HTMLElement[][] = [[]];
  for (const part of own) {
    if (part.matches(main) && part !== tables[0]) units.push([]);
    part.dataset['placed'] = '';
    units.at(-1)?.push(part);
  }
  return units;
}

/** What may be left out, the least first: small print, then what stands behind the first table, from the last. */
function dispensable(cards: readonly HTMLElement[]): readonly HTMLElement[] {
  const blocks = cards.flatMap((card) => {
    const own = parts(card);
    return own.slice(own.findIndex((part) => part.matches(main)) + 1);
  });
  const small = (block: HTMLElement) => block.matches('p.quiet');
  return [
    ...blocks.filter(small).toReversed(),
    ...blocks.filter((one) => !small(one)).toReversed(),
  ];
}

/** Puts each unit at its place; what is left of a column goes to its chart. */
function settle(
  units: readonly Unit[],
  { width, columns }: Packed,
  room: number,
  gap: number,
): void {
  for (const [at, column] of columns.entries()) {
    const own = column.flatMap((i) => (units[i] === undefined ? [] : [units[i]]));
    const highs = own.map((unit) => heightOf(unit, width));
    const grows = own.map(([card]) => card?.matches(':has(.dots-box)') ?? false);
    const left = room - highest(highs, [highs.map((_h, i) => i)], gap);
    const each = Math.max(0, left) / Math.max(1, grows.filter(Boolean).length);
    let top = 0;
    for (const [i, unit] of own.entries()) {
      const more = grows[i] ? Math.floor(Math.min(each, (highs[i] ?? 0) * (growth - 1))) : 0;
      for (const one of unit) {
        one.style.left = `${at * (width + gap)}px`;
        one.style.top = `${top}px`;
        const height = high(one) + more;
        if (more > 0) one.style.height = `${height}px`;
        top += height + line;
      }
      top += gap - line;
    }
  }
}
