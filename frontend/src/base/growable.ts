// SPDX-License-Identifier: GPL-2.0-or-later
/** Columns that grow by doubling, so that appending costs the same on average however long the run. */

export type Column =
  | Float64Array
  | Float32Array
  | Int32Array
  | Uint32Array
  | Int16Array
  | Uint8Array;

/** A column at least `need` long that starts with the first `length` values of `column`. */
export function grown<C extends Column>(column: C, length: number, need: number): C {
  if (need <= column.length) return column;
  let capacity = Math.max(64, column.length);
  while (capacity < need) capacity *= 2;
  const larger = new (column.constructor as new (n: number) => C)(capacity);
  larger.set(column.subarray(0, length) as never);
  return larger;
}
