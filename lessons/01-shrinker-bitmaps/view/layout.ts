// SPDX-License-Identifier: GPL-2.0-or-later
/** Lays out the walls side by side, with cells of equal size that fill the available space. */

import type { Size } from '@page/derive/types.ts';
import type { LaidLane } from '@page/views/contract.ts';
import { type Grid, gridSize, rowTop } from './paint.ts';

// Computes the size of a cell: as large as the space and the bounds allow, in whole pixels of the image.

/** Largest size of a cell, px, and its largest ratio of width to height or height to width. */
const mostCell = 46;
const mostStretch = 1.8;
/** If cells of whole pixels would fill less than this share of the space, draw the wall larger and scale it down. */
const leastShare = 0.9;

interface CellSize {
  readonly wide: number;
  readonly high: number;
}

/** Return the largest cell that fits into `wide` x `high` px and within the bounds. */
function stretched(wide: number, high: number): CellSize {
  const most = Math.min(wide, high, mostCell) * mostStretch;
  return { wide: Math.min(wide, mostCell, most), high: Math.min(high, most) };
}

/** Convert the size of a cell to whole pixels of the image. `scale` is the number of CSS px per pixel. */
function pixelsOf({ wide, high }: CellSize, dpr: number) {
  const least = Math.min(wide, high) * dpr;
  const whole = least >= 1 && Math.floor(least) >= least * leastShare;
  const share = whole ? 1 : least / Math.max(1, Math.ceil(least));
  const pixels = (px: number) => Math.max(1, Math.floor((px * dpr) / share + 1e-6));
  return { pitch: pixels(wide), tall: pixels(high), scale: share / dpr };
}

export interface LaidWall extends LaidLane {
  /** Position and size of the image, CSS px. */
  readonly x: number;
  readonly y: number;
  readonly wide: number;
  readonly high: number;
}

/** Position of a clearing's steps, relative to the left edge of a wall's image. */
export interface Steps {
  readonly dx: number;
  readonly y: number;
  readonly width: number;
  readonly fontSize: number;
  readonly line: number;
  /** Whether the times of the steps are written below the steps. */
  readonly timed: boolean;
}

export interface WallLayout {
  readonly lanes: readonly LaidWall[];
  readonly grid: Grid;
  /** CSS px per pixel of the image. */
  readonly scale: number;
  readonly fontSize: number;
  readonly line: number;
  /** Position and scale of a lane's words. Words are below each wall, or in larger text next to a single wall. */
  readonly words: { readonly dx: number; readonly y: number; readonly em: number };
  /** Position of a clearing's steps, next to the words or below them; null if the scene's step does not show them. */
  readonly clearing: Steps | null;
}

/** Least width of words next to a wall, without and with the steps of a clearing, px at 13 px text. */
const sideRoom = { words: 330, clearing: 400 };
/** Use an alternative layout only if its cells are at least this share of the usual cell size. */
const leastBeside = 0.95;
/** Scale of words next to a wall, and largest scale of words below walls that have spare room. */
const sideEm = 1.7;
/** Width of a usual line of text per px of font size: its number of letters times the width of a letter. */
const usualWidth = 34 * 0.5;
export interface Room {
  readonly rows: number;
  readonly cols: number;
}

/** Number of lines of words below a wall. */
export const wordLines = 3;
/** Number of text lines that a clearing's steps need, and the scale of the steps next to a wall. */
const clearingLines = 5.5;
const clearingEm = 1.25;
/** In a lane below this height (px at 13 px text), only the tooltip shows the times of a clearing's steps. */
const lowHeight = 460;
/** Largest width of a clearing's steps, px at 13 px text. */
const widestClearing = 460;

/** Lay out the walls side by side, or one below the other if the cells then are hardly smaller. */
export function layoutWalls(
  arms: readonly string[],
  room: Room,
  size: Size,
  headerHeight: number,
  fontSize: number,
  clears = false,
): WallLayout {
  const across = layoutRow(arms, room, size, headerHeight, fontSize, clears);
  if (arms.length < 2 || clears) return across;
  const each = size.height / arms.length;
  const one = layoutRow(arms.slice(0, 1), room, { ...size, height: each }, headerHeight, fontSize);
  const cell = ({ grid, scale }: WallLayout) => Math.min(grid.pitch, grid.tall) * scale;
  if (cell(one) < cell(across) * leastBeside) return across;
  const lanes = arms.map((arm, i) => ({
    ...one.lanes[0]!,
    arm,
    top: Math.round(i * each),
    y: one.lanes[0]!.y + Math.round(i * each),
  }));
  return { ...one, lanes };
}

function layoutRow(
  arms: readonly string[],
  { rows, cols }: Room,
  { width, height, dpr }: Size,
  headerHeight: number,
  fontSize: number,
  clears = false,
): WallLayout {
  const line = Math.round(fontSize * 1.5);
  const gutter = Math.round(fontSize * 3);
  const between = 22;
  const count = Math.max(1, arms.length);
  const laneWidth = (width - between * (count - 1)) / count;
  const top = headerHeight + line + 8;
  const wide = Math.max(8, laneWidth - gutter - 4);
  const timed = height > (lowHeight / 13) * fontSize;
  const extra = clears ? (clearingLines + (timed ? 0.5 : -0.5)) * line : 0;
  const under = Math.max(8, height - top - wordLines * line - 14 - extra);
  const fitIn = (high: number) => Math.min(wide / cols, high / (rows + 2), mostCell);
  const all = under + wordLines * line + extra;
  const side = (clears ? sideRoom.clearing : sideRoom.words) * (fontSize / 13);
  const fitBeside = Math.min(fitIn(all), (wide - side) / cols);
  const beside = count === 1 && fitBeside >= fitIn(under) * leastBeside;
  const high = beside ? all : under;
  const square = beside ? fitBeside : fitIn(under);
  // The words below the walls get their space first, and their text grows if space is left. The cells get the rest.
  const least = pixelsOf({ wide: square, high: square }, dpr);
  const left = height - top - least.tall * least.scale * (rows + 2) - 14 - extra;
  const em = clears
    ? 1
    : Math.min(sideEm, wide / (usualWidth * fontSize), left / (wordLines * line));
  const below = beside ? 0 : (Math.max(1, em) - 1) * wordLines * line;
  const across = beside ? wide - side : wide;
  const cell = stretched(across / cols, (high - below) / (rows + 2));
  const { pitch, tall, scale } = pixelsOf(cell, dpr);
  const rootGap = Math.max(2, Math.round(tall * 0.7));
  const grid: Grid = { pitch, tall, rows, cols, rootGap };
  const image = gridSize(grid);
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
  const words = beside
    ? {
        dx: image.width * scale + fontSize * 3,
        y: snap(top + image.height * scale * 0.3),
        em: Math.max(
          1,
          Math.min(sideEm, (wide - image.width * scale - fontSize * 3) / (usualWidth * fontSize)),
        ),
      }
    : { dx: 0, y: top + image.height * scale + 12, em: Math.max(1, em) };
  const stepsEm = beside ? clearingEm : 1;
  const clearing: Steps = {
    ...{ dx: words.dx, fontSize: Math.round(fontSize * stepsEm), line: Math.round(line * stepsEm) },
    y: words.y + (wordLines * words.em + (beside ? 1.5 : 0.5)) * line,
    width: Math.min((widestClearing / 13) * fontSize * stepsEm, wide - words.dx),
    timed: timed || beside,
  };
  return { lanes, grid, scale, fontSize, line, words, clearing: clears ? clearing : null };
}

/** Return the box of a cell, CSS px. */
export function cellBox(layout: WallLayout, wall: LaidWall, row: number, col: number) {
  const { grid, scale } = layout;
  const [wide, high] = [grid.pitch * scale, grid.tall * scale];
  return { x: wall.x + col * wide, y: wall.y + rowTop(grid, row) * scale, wide, high };
}
