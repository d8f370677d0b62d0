// SPDX-License-Identifier: GPL-2.0-or-later
/** Where cards stand on a slide: whole, in order, in columns, as large as they all fit. Pure. */

export interface Box {
  readonly width: number;
  readonly height: number;
}

export interface Packed {
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

export function highest(
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
