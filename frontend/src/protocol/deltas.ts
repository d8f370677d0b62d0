// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Batches of segments and of sites have columns as differences, since those pack small; here they become columns.
 * Of each difference the lowest bytes of all values come first, then the next; the first value is a difference from 0.
 * Written by stream/packing.py.
 */

import type { Dtype } from './messages.ts';

const width: Readonly<Record<Dtype, number>> = { f8: 8, i4: 4, u4: 4, i2: 2, u1: 1 };

/** A message that was decoded, without differences; one that has none is taken as it is. */
export function whole(message: unknown): unknown {
  if (typeof message !== 'object' || message === null || !('deltas' in message)) return message;
  const { deltas, ...batch } = message as {
    readonly deltas: readonly string[];
    readonly columns: Readonly<Record<string, Uint8Array>>;
    readonly dtypes: Readonly<Record<string, Dtype>>;
  };
  const columns = { ...batch.columns };
  for (const name of deltas) {
    const [column, dtype] = [columns[name], batch.dtypes[name]];
    if (column === undefined || dtype === undefined) throw new Error(`there is no column ${name}`);
    columns[name] = summed(column, dtype);
  }
  return { ...batch, columns };
}

/** Differences -> the column's bytes, little endian. */
export function summed(deltas: Uint8Array, dtype: Dtype): Uint8Array {
  const wide = width[dtype];
  const n = deltas.byteLength / wide;
  if (!Number.isInteger(n)) throw new Error(`a column of ${dtype} is cut off`);
  const bytes = new Uint8Array(deltas.byteLength);
  const view = new DataView(bytes.buffer);
  /** Four bytes of a difference, from this one on, as they would stand in memory. */
  const four = (i: number, from: number) => {
    let word = 0;
    for (let k = from; k < Math.min(wide, from + 4); k++)
      word |= deltas[k * n + i]! << (8 * (k - from));
    return word;
  };
  let value = 0;
  for (let i = 0; i < n; i++) {
    if (dtype === 'f8') {
      value += four(i, 4) * 2 ** 32 + (four(i, 0) >>> 0);
      view.setFloat64(8 * i, value, true);
    } else {
      // Whole numbers wrap around at their width, as their differences did.
      value = (value + four(i, 0)) >>> 0;
      for (let k = 0; k < wide; k++) bytes[wide * i + k] = value >>> (8 * k);
    }
  }
  return bytes;
}
