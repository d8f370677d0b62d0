// SPDX-License-Identifier: GPL-2.0-or-later
/** Measures the cards of a slide and puts them in their places; in the browser alone. */

import { type Box, highest, type Limits, type Packed, pack } from './pack.ts';

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
