// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Layout of a slide's cards in columns. All cards are shown completely and in order, at the largest scale at which they
 * fit. Pure.
 */

interface Box {
  readonly width: number;
  readonly height: number;
}

interface Packed {
  readonly scale: number;
  /** Width of a column before scaling, px. */
  readonly width: number;
  /** Indices of each column's cards. */
  readonly columns: readonly (readonly number[])[];
  /** Whether all cards fit; false if a card is higher than the box even at the smallest scale. */
  readonly fits: boolean;
}

export interface Limits {
  readonly least: number;
  readonly most: number;
  /** The numbers of columns to try. The number 1 must be among them. Columns without cards are dropped. */
  readonly columns: readonly number[];
  /** Gap between columns and between the cards of a column, px. */
  readonly gap: number;
}

/** Number of scales that are tried in the range from 1 to 2. */
const steps = 20;

/** Split the cards into columns in order, so that the highest column is as low as possible. */
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
 * Find the largest scale at which all cards fit. `heightsAt` returns the cards' heights in px at a layout width. A
 * card that is wider than the layout width has infinite height. If the cards do not fit even at the scale `least`, use
 * this scale, with the number of columns for which the highest column is lowest.
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

// Measures a slide's cards in the browser and places them.

/** Elements that stay together: a complete card, or one of a card's tables with the table's heading and notes. */
type Unit = readonly HTMLElement[];

/** Largest factor by which a chart may grow. */
const growth = 2;
/** Gap between the elements of a unit, px. */
const line = 8;
/** Below this scale a card with several tables is split, so that its text gets larger. */
const small = 1.2;

/** A text that changes whenever the size of a card changes. While the text is unchanged, no new layout is needed. */
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
  // On a phone the cards are stacked and the slide scrolls, so there is nothing to lay out.
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

/** Remove the styles that an earlier layout has set. */
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

/** SVG elements have no offsetHeight. */
const high = (one: HTMLElement) => one.offsetHeight ?? one.clientHeight;

/** Height of a unit (a card, or one of its tables) at a layout width, px; infinite if the content is wider. */
function heightOf(unit: Unit, width: number): number {
  for (const one of unit) one.style.width = `${width}px`;
  if (unit.some((one) => one.scrollWidth > width + 1)) return Number.POSITIVE_INFINITY;
  return unit.reduce((sum, one) => sum + high(one), line * (unit.length - 1));
}

const main = 'table, svg, figure, div';

/** The visible parts of a panel. If a part is a box with several children, the children replace the box. */
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

/**
 * Split a card into units, which are laid out separately. A card with one table is one unit. Otherwise each table is a
 * unit, and the first table's unit includes the card's heading.
 */
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

/**
 * Elements that may be omitted, least important first: small print, then everything after the first table, starting at
 * the end.
 */
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

/** Place every unit. The charts of a column share the height that the other units leave free. */
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
