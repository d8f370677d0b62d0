// SPDX-License-Identifier: GPL-2.0-or-later
/** The grid of a wall: which memcg has which row, which ids have columns, how large the arrays of cells are. */

import { type Cells, Count, rootRow } from './cells.ts';

/** Inode of the root cgroup's directory. */
const rootIno = 1;

/** Grows with the lane. */
export class Grid {
  /** Inode of each row. */
  readonly memcgs: number[] = [rootIno];
  /** Depth of each row: 0 the root, 1 the containers' parent; -1: made before the run. */
  readonly level: number[] = [0];
  readonly #rowOf = new Map<number, number>([[rootIno, rootRow]]);
  cols = 0;
  /** Columns and rows that cells have room for. */
  stride = 64;
  #capacity = 64;

  /** The row of a memcg, a new one if it has none. */
  row(memcg: number): number {
    let row = this.#rowOf.get(memcg);
    if (row === undefined) {
      row = this.memcgs.push(memcg) - 1;
      this.level.push(-1);
      this.#rowOf.set(memcg, row);
    }
    return row;
  }

  /** There are at least so many columns. */
  widen(cols: number): void {
    this.cols = Math.max(this.cols, cols);
  }

  /** Makes room for all rows and columns; true: cells of the old size do not fit any more. */
  fit(): boolean {
    const [stride, capacity] = [this.stride, this.#capacity];
    while (this.cols > this.stride) this.stride *= 2;
    while (this.memcgs.length > this.#capacity) this.#capacity *= 2;
    return this.stride !== stride || this.#capacity !== capacity;
  }

  /** Cells before the first event. */
  blank(): Cells {
    const size = this.stride * this.#capacity;
    const n = new Float64Array(Count.size);
    n[Count.row] = n[Count.col] = -1;
    const born = new Uint8Array(this.#capacity);
    born[rootRow] = 1;
    return {
      at: 0,
      bit: new Uint8Array(size),
      seen: new Uint8Array(size),
      pass: new Uint8Array(size),
      born,
      touched: new Uint32Array(this.#capacity),
      n,
    };
  }
}
