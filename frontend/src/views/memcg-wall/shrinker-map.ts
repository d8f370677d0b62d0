// SPDX-License-Identifier: GPL-2.0-or-later
/** The shrinker maps of the memcgs: which bits are set, and why. */

import { Bit, type Cells, Count, rootRow } from './cells.ts';
import type { Grid } from './grid.ts';

export function setBit(cells: Cells, grid: Grid, row: number, id: number, why: number): void {
  const cell = row * grid.stride + id;
  const before = cells.bit[cell]!;
  if (before >= why) return;
  cells.bit[cell] = why;
  if (row === rootRow) return;
  if (before === Bit.clear) cells.n[Count.bits]! += 1;
  if (why === Bit.object) cells.n[Count.objects]! += 1;
}

export function clearBit(cells: Cells, grid: Grid, row: number, id: number): void {
  const cell = row * grid.stride + id;
  const { n } = cells;
  n[Count.cleared]! += 1;
  if (row !== rootRow && cells.bit[cell] !== Bit.clear) {
    n[Count.bits]! -= 1;
    if (cells.bit[cell] === Bit.object) n[Count.objects]! -= 1;
  }
  cells.bit[cell] = Bit.clear;
}

/** All maps get a word more, and every old bit of every memcg is set. */
export function expandMaps(cells: Cells, grid: Grid, bits: number): void {
  cells.n[Count.expanded]! += 1;
  cells.touched.fill(cells.at);
  for (let row = 0; row < grid.memcgs.length; row++) {
    if (cells.born[row] === 0) continue;
    for (let c = 0; c < bits; c++) setBit(cells, grid, row, c, Bit.expansion);
  }
}

/** Bits of a row that an object set. */
export function objectBits(cells: Cells, grid: Grid, row: number): number {
  const from = row * grid.stride;
  let objects = 0;
  for (let c = 0; c < grid.cols; c++) if (cells.bit[from + c] === Bit.object) objects += 1;
  return objects;
}
