// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Functions for columns of numbers: binary search, quantiles, hashes, and columns that grow. Binary search works on a
 * sorted column, or on a column with a sorted order of its indices.
 */

import { quickselect } from 'd3-array';

/** The first i in [0, n) with at(i) >= value; n if no i fulfils this. The values of `at` must not decrease. */
export function firstAtLeast(n: number, at: (i: number) => number, value: number): number {
  let low = 0;
  let high = n;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (at(middle) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The first i in [0, n) with at(i) > value; n if no i fulfils this. */
export function firstAbove(n: number, at: (i: number) => number, value: number): number {
  let low = 0;
  let high = n;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (at(middle) <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The q-quantile of unsorted numbers by nearest rank (d3 interpolates instead); NaN for an empty column. */
export function quantile(values: readonly number[] | Float64Array, q: number): number {
  if (values.length === 0) return Number.NaN;
  const rank = Math.min(values.length - 1, Math.max(0, Math.ceil(q * values.length) - 1));
  return quickselect(Float64Array.from(values), rank)[rank]!;
}

/** Hash `id` to a number in [0, 1). The hash serves as jitter that is the same in every drawing. */
export function hashUnit(id: number): number {
  let x = (id + 0x9e3779b9) | 0;
  x = Math.imul(x ^ (x >>> 16), 0x21f0aaad);
  x = Math.imul(x ^ (x >>> 15), 0x735a2d97);
  return ((x ^ (x >>> 15)) >>> 0) / 4294967296;
}

// Typed arrays that grow to double their length when they are full, so that appending takes constant time on average.

export type Column =
  | Float64Array
  | Float32Array
  | Int32Array
  | Uint32Array
  | Int16Array
  | Uint8Array;

/** Return a column whose length is at least `need`, and whose first `length` values are those of `column`. */
export function growColumn<C extends Column>(column: C, length: number, need: number): C {
  if (need <= column.length) return column;
  let capacity = Math.max(64, column.length);
  while (capacity < need) capacity *= 2;
  const larger = new (column.constructor as new (n: number) => C)(capacity);
  larger.set(column.subarray(0, length) as never);
  return larger;
}
