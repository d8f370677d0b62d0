// SPDX-License-Identifier: GPL-2.0-or-later
/** The rows of a growing table in the order of one of its columns. */

import { firstAbove, grown } from '../base/columns.ts';
import type { Order } from './types.ts';

/** Indices of a growing table, sorted by one of its columns. Arrival is nearly sorted. */
class SortedOrder implements Order {
  order = new Uint32Array(0);
  length = 0;

  add(key: Float64Array, index: number): void {
    if (this.length === this.order.length)
      this.order = grown(this.order, this.length, this.length + 1);
    let place = this.length;
    const value = key[index]!;
    if (place > 0 && key[this.order[place - 1]!]! > value) {
      place = firstAbove(this.length, (i) => key[this.order[i]!]!, value);
      this.order.copyWithin(place + 1, place, this.length);
    }
    this.order[place] = index;
    this.length += 1;
  }
}

interface Table {
  readonly length: number;
  /** Another one: rows were evicted, or the table began anew. */
  readonly epoch: number;
}

/** Follows a table row by row; begins anew when its rows moved. */
export class TableOrder<T extends Table> {
  readonly #table: T;
  readonly #key: (table: T) => Float64Array;
  #sorted = new SortedOrder();
  #seen = 0;
  #epoch: number;

  constructor(table: T, key: (table: T) => Float64Array) {
    this.#table = table;
    this.#key = key;
    this.#epoch = table.epoch;
  }

  get order(): Order {
    return this.#sorted;
  }

  /** Takes the rows that came since the last call. */
  update(): void {
    const { epoch, length } = this.#table;
    if (epoch !== this.#epoch) {
      this.#sorted = new SortedOrder();
      this.#seen = 0;
      this.#epoch = epoch;
    }
    for (; this.#seen < length; this.#seen++) this.#sorted.add(this.#key(this.#table), this.#seen);
  }
}
