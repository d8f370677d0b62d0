// SPDX-License-Identifier: GPL-2.0-or-later
/** Points by name: places in the table, in order of time. Grows with the table, is rebuilt when entries move. */

import { firstAbove, firstAtLeast, grown } from '../base/columns.ts';
import type { PointColumns, PointTable } from '../store/tables.ts';
import type { Order } from './types.ts';

class Places implements Order {
  order = new Uint32Array(0);
  length = 0;

  add(index: number): void {
    if (this.length === this.order.length)
      this.order = grown(this.order, this.length, this.length + 1);
    this.order[this.length] = index;
    this.length += 1;
  }
}

const none: Order = { order: new Uint32Array(0), length: 0 };

export class PointIndex {
  readonly #table: PointColumns;
  readonly #names: readonly string[];
  #kinds: Places[] = [];
  #seen = 0;
  #epoch = -1;

  constructor(table: PointColumns, names: readonly string[]) {
    this.#table = table;
    this.#names = names;
  }

  update(): void {
    const { kind, length, epoch } = this.#table;
    if (epoch !== this.#epoch) {
      this.#epoch = epoch;
      this.#seen = 0;
      this.#kinds = this.#names.map(() => new Places());
    }
    for (; this.#seen < length; this.#seen++) this.#kinds[kind[this.#seen]!]?.add(this.#seen);
  }

  of(name: string): Order {
    return this.#kinds[this.#names.indexOf(name)] ?? none;
  }
}

/** Positions [from, to) in an order of points whose times lie in [a, b). */
export function pointRange(
  points: PointTable,
  of: Order,
  a: number,
  b: number,
): { readonly from: number; readonly to: number } {
  const at = (i: number) => points.t[of.order[i]!]!;
  return { from: firstAtLeast(of.length, at, a), to: firstAtLeast(of.length, at, b) };
}

/** How many points of an order lie at or before t. */
export function pointsUpTo(points: PointTable, of: Order, t: number): number {
  return firstAbove(of.length, (i) => points.t[of.order[i]!]!, t);
}
