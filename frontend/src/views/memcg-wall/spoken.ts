// SPDX-License-Identifier: GPL-2.0-or-later
/** What sentences speak of on a wall: the cells visited, those whose bit is set, those cleared, those touched. */

import type { Drawing } from '../contract.ts';
import type { Pen } from '../paints.ts';
import { edgesOf, strokeRegion } from '../region.ts';
import { type Cells, Seen } from './cells.ts';
import type { LaidWall, WallLayout } from './layout.ts';
import { touches } from './moments.ts';
import { rowTop } from './paint.ts';
import type { Wall } from './wall.ts';

export const regions = ['visited', 'set', 'again', 'touched'] as const;
export type WallRegion = (typeof regions)[number];

/** Is a cell, by row and column, in a region at a moment? The root's row is in none. */
export function regionOf(
  wall: Wall,
  cells: Cells,
  name: WallRegion,
  t: number,
): (row: number, col: number) => boolean {
  const { grid, rows, lane } = wall.replay;
  const at = (row: number, col: number) => row * grid.stride + col;
  if (name === 'visited') return (row, col) => cells.seen[at(row, col)] !== Seen.none;
  if (name === 'set') return (row, col) => cells.bit[at(row, col)] !== 0;
  if (name === 'again') {
    return (row, col) => {
      const seen = cells.seen[at(row, col)];
      return seen === Seen.again || seen === Seen.cleared;
    };
  }
  const done = touches(lane).filter((touch) => touch.t <= t);
  const touched = new Set(done.map((touch) => at(rows[touch.at]!, lane.points.b[touch.at]!)));
  return (row, col) => touched.has(at(row, col));
}

export function drawSpoken(
  pen: Pen,
  layout: WallLayout,
  laid: LaidWall,
  { frame, theme }: Drawing,
  wall: Wall,
  cells: Cells,
  t: number,
): void {
  const { grid, scale } = layout;
  const known = Math.min(grid.rows, wall.replay.grid.memcgs.length - 1);
  const cols = Math.min(grid.cols, wall.replay.grid.cols);
  for (const name of regions) {
    if (!frame.regions?.some((one) => one.arm === laid.arm && one.name === name)) continue;
    const holds = regionOf(wall, cells, name, t);
    // The root's row stands apart, so rows are counted from the one below it.
    const edges = edgesOf(known, cols, (row, col) => holds(row + 1, col));
    const x = (col: number) => laid.x + col * grid.pitch * scale;
    const y = (row: number) => laid.y + rowTop(grid, row + 1) * scale;
    strokeRegion(
      pen,
      theme,
      edges.map(({ c0, r0, c1, r1 }) => [x(c0), y(r0), x(c1), y(r1)]),
      Math.min(grid.pitch, grid.tall) * scale < 10 ? 1 : 1.5,
    );
  }
}
