// SPDX-License-Identifier: GPL-2.0-or-later
/** A call that shrinks slabs: what each visit of a shrinker, or each walk of a memcg's map, does to the cells. */

import type { PointTable } from '../../derive/types.ts';
import { Bit, type Cells, Count, rootRow, Seen } from './cells.ts';
import type { Grid } from './grid.ts';
import { clearBit, objectBits } from './shrinker-map.ts';

/** do_shrink_slab() found nothing at all: SHRINK_EMPTY. */
const empty = -2;

/** What a lane reports of its calls. */
export interface Reported {
  readonly grid: Grid;
  /** The map decides who is visited; else all are. */
  readonly readsMap: boolean;
  /** Visits are reported one by one; else walk by walk. */
  readonly visitsReplayed: boolean;
  readonly clearsReplayed: boolean;
}

export function beginCall(cells: Cells, t: number): void {
  const { n } = cells;
  const call = n[Count.call]! + 1;
  n.fill(0, 0, Count.sets);
  n[Count.call] = call;
  n[Count.began] = t;
  n[Count.row] = n[Count.col] = -1;
  cells.touched.fill(cells.at);
  cells.seen.fill(Seen.none);
  cells.pass.fill(0);
}

/** Each pass over the memcgs begins with the root's shrinkers. */
function enterRoot(n: Float64Array): void {
  if (n[Count.inRoot] === 0) n[Count.pass]! += 1;
  n[Count.inRoot] = 1;
}

export function visit(
  lane: Reported,
  cells: Cells,
  points: PointTable,
  i: number,
  row: number,
): void {
  const { n } = cells;
  const [id, ret, again] = [points.b[i]!, points.c[i]!, points.d[i]! > 0];
  if (row === rootRow) {
    enterRoot(n);
    n[Count.rootVisits]! += 1;
  } else {
    n[Count.inRoot] = 0;
    n[Count.visits]! += 1;
    if (ret === empty) n[Count.vain]! += 1;
    if (ret > 0) n[Count.freed]! += ret;
    if (again) n[Count.again]! += 1;
  }
  n[Count.row] = row;
  n[Count.col] = id;
  n[Count.at] = points.t[i]!;
  if (id < 0) return;
  const cell = row * lane.grid.stride + id;
  const found = ret > 0 ? Seen.freed : Seen.busy;
  // What was freed in this call stays in sight, though a later pass finds nothing more.
  const gone = cells.seen[cell] === Seen.freed && ret <= 0;
  if (!gone) cells.seen[cell] = ret !== empty ? found : again ? Seen.again : Seen.vain;
  cells.pass[cell] = n[Count.pass]!;
}

/** A walk tells at its end; what came of it follows as `outcome`. */
export function walk(
  lane: Reported,
  cells: Cells,
  points: PointTable,
  i: number,
  row: number,
): void {
  const { n } = cells;
  if (row !== rootRow) n[Count.shrinkers] = points.e[i]!;
  if (lane.visitsReplayed) return;
  if (row === rootRow) {
    enterRoot(n);
    n[Count.inRoot] = 0;
    n[Count.rootVisits]! += points.b[i]!;
  } else n[Count.visits]! += points.b[i]!;
  n[Count.walkVisited] = points.b[i]!;
  n[Count.walkSet] = points.c[i]!;
  n[Count.row] = row;
  n[Count.col] = -1;
  n[Count.at] = points.t[i]!;
}

export function outcome(
  lane: Reported,
  cells: Cells,
  points: PointTable,
  i: number,
  row: number,
): void {
  if (lane.visitsReplayed) return;
  const { n } = cells;
  const [vain, again, cleared, freed] = [points.b[i]!, points.c[i]!, points.d[i]!, points.e[i]!];
  if (row === rootRow) return fillRow(lane, cells, row, 0, 0);
  n[Count.vain]! += vain;
  n[Count.again]! += again;
  n[Count.freed]! += freed;
  if (!lane.clearsReplayed && cleared > 0) clearCounted(lane, cells, row, cleared);
  fillRow(lane, cells, row, n[Count.walkVisited]! - vain, freed);
}

/**
 * A whole row was visited, or all its set bits. Which of the cells had something is not known; those whose bit an
 * object set are taken for them if they are as many.
 */
function fillRow(lane: Reported, cells: Cells, row: number, found: number, freed: number): void {
  const from = row * lane.grid.stride;
  const same = objectBits(cells, lane.grid, row) === found;
  for (let c = 0; c < lane.grid.cols; c++) {
    const cell = from + c;
    const all = row === rootRow || !lane.readsMap;
    if (!all && cells.bit[cell] === Bit.clear) continue;
    const something = row !== rootRow && same && cells.bit[cell] === Bit.object;
    cells.seen[cell] = something ? (freed > 0 ? Seen.freed : Seen.busy) : Seen.vain;
    cells.pass[cell] = cells.n[Count.pass]!;
  }
}

/** Clears are only counted: those bits went that no object had set, if the others are as many as stayed. */
function clearCounted(lane: Reported, cells: Cells, row: number, cleared: number): void {
  const from = row * lane.grid.stride;
  const left = cells.n[Count.walkSet]! - cleared;
  if (objectBits(cells, lane.grid, row) !== left) {
    cells.n[Count.cleared]! += cleared;
    return;
  }
  for (let c = 0; c < lane.grid.cols; c++) {
    if (cells.bit[from + c] === Bit.expansion) clear(lane, cells, row, c);
  }
}

export function clear(lane: Reported, cells: Cells, row: number, id: number): void {
  clearBit(cells, lane.grid, row, id);
  if (lane.visitsReplayed) return;
  const cell = row * lane.grid.stride + id;
  const { n } = cells;
  cells.seen[cell] = Seen.cleared;
  cells.pass[cell] = n[Count.pass]!;
  n[Count.row] = row;
  n[Count.col] = id;
}
