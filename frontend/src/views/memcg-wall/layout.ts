// SPDX-License-Identifier: GPL-2.0-or-later
/** Where the walls stand: side by side, with equal cells. */

import type { Size } from '../../derive/types.ts';
import type { LaidLane } from '../contract.ts';
import { type Grid, gridSize, rowTop } from './paint.ts';

export interface LaidWall extends LaidLane {
  /** Of the image, CSS px. */
  readonly x: number;
  readonly y: number;
  readonly wide: number;
  readonly high: number;
}

export interface WallLayout {
  readonly lanes: readonly LaidWall[];
  readonly grid: Grid;
  /** CSS px per pixel of the image. */
  readonly scale: number;
  readonly fontSize: number;
  readonly line: number;
  /** Top of the words under the walls. */
  readonly wordsY: number;
}

/** A cell is at most so large, px. */
const mostCell = 34;

export interface Room {
  readonly rows: number;
  readonly cols: number;
}

/** Lines of words under a wall. */
export const wordLines = 3;

export function layoutWalls(
  arms: readonly string[],
  { rows, cols }: Room,
  { width, height, dpr }: Size,
  headerHeight: number,
  fontSize: number,
): WallLayout {
  const line = Math.round(fontSize * 1.5);
  const gutter = Math.round(fontSize * 3);
  const between = 22;
  const count = Math.max(1, arms.length);
  const laneWidth = (width - between * (count - 1)) / count;
  const top = headerHeight + line + 8;
  const wide = Math.max(8, laneWidth - gutter - 4);
  const high = Math.max(8, height - top - wordLines * line - 14);
  const fit = Math.min(wide / cols, high / (rows + 2), mostCell) * dpr;
  const pitch = Math.max(1, Math.floor(fit));
  const rootGap = Math.max(2, Math.round(pitch * 0.7));
  const grid: Grid = { pitch, rows, cols, rootGap };
  const image = gridSize(grid);
  // Cells smaller than a pixel: the image is shrunk as a whole.
  const scale = fit >= 1 ? 1 / dpr : Math.min(wide / image.width, high / image.height);
  const snap = (x: number) => Math.round(x * dpr) / dpr;
  const lanes = arms.map((arm, i): LaidWall => {
    const left = snap(i * (laneWidth + between));
    return {
      arm,
      left,
      top: 0,
      width: laneWidth,
      x: snap(left + gutter),
      y: snap(top),
      wide: image.width * scale,
      high: image.height * scale,
    };
  });
  const wordsY = top + image.height * scale + 12;
  return { lanes, grid, scale, fontSize, line, wordsY };
}

/** The cell under a point; null: none. `inner` is how near it is to the middle, 0 there and 1 at the edge. */
export function cellAt(
  layout: WallLayout,
  x: number,
  y: number,
): {
  readonly wall: LaidWall;
  readonly row: number;
  readonly col: number;
  readonly inner: number;
} | null {
  const { grid, scale } = layout;
  for (const wall of layout.lanes) {
    const px = (x - wall.x) / scale;
    const py = (y - wall.y) / scale;
    if (px < 0 || py < 0 || px >= grid.cols * grid.pitch) continue;
    const col = Math.floor(px / grid.pitch);
    const row = py < grid.pitch ? 0 : Math.floor((py - grid.rootGap) / grid.pitch);
    if (row < 0 || row > grid.rows || (row === 0 && py >= grid.pitch)) continue;
    const within = (p: number) => Math.abs(((p / grid.pitch) % 1) - 0.5) * 2;
    const inner = Math.max(within(px), within(row === 0 ? py : py - grid.rootGap));
    return { wall, row, col, inner };
  }
  return null;
}

/** The box of a cell, CSS px. */
export function cellBox(layout: WallLayout, wall: LaidWall, row: number, col: number) {
  const { grid, scale } = layout;
  const size = grid.pitch * scale;
  return {
    x: wall.x + col * size,
    y: wall.y + rowTop(grid, row) * scale,
    size,
  };
}
