// SPDX-License-Identifier: GPL-2.0-or-later
/** Where the walls stand: side by side, with equal cells, which are as high and as wide as there is room. */

import type { Size } from '@page/derive/types.ts';
import type { LaidLane } from '@page/views/contract.ts';
import { type Grid, gridSize, rowTop } from './paint.ts';

// How large a cell of a wall is: as its room has it, within bounds, and in pixels of an image.

/** A cell is at most so large, px, and at most so many times as high as it is wide, or as wide as it is high. */
const mostCell = 46;
const mostStretch = 1.8;
/** A wall that whole pixels would make smaller than this share of its room is drawn larger and shrunk. */
const leastShare = 0.9;

interface CellSize {
  readonly wide: number;
  readonly high: number;
}

/** The largest cell in such a room that is still a cell. */
function stretched(wide: number, high: number): CellSize {
  const most = Math.min(wide, high, mostCell) * mostStretch;
  return { wide: Math.min(wide, mostCell, most), high: Math.min(high, most) };
}

/** A cell in pixels of the image, and CSS px per pixel: the image is shrunk as a whole where whole pixels do not do. */
function pixelsOf({ wide, high }: CellSize, dpr: number) {
  const least = Math.min(wide, high) * dpr;
  const whole = least >= 1 && Math.floor(least) >= least * leastShare;
  const share = whole ? 1 : least / Math.max(1, Math.ceil(least));
  const pixels = (px: number) => Math.max(1, Math.floor((px * dpr) / share + 1e-6));
  return { pitch: pixels(wide), tall: pixels(high), scale: share / dpr };
}

export interface LaidWall extends LaidLane {
  /** Of the image, CSS px. */
  readonly x: number;
  readonly y: number;
  readonly wide: number;
  readonly high: number;
}

/** Where the steps of a clearing stand, from the left edge of a wall's image. */
export interface Steps {
  readonly dx: number;
  readonly y: number;
  readonly width: number;
  readonly fontSize: number;
  readonly line: number;
  /** Their times are written below. */
  readonly timed: boolean;
}

export interface WallLayout {
  readonly lanes: readonly LaidWall[];
  readonly grid: Grid;
  /** CSS px per pixel of the image. */
  readonly scale: number;
  readonly fontSize: number;
  readonly line: number;
  /** Where the words begin, below a lane's top: under each wall, or, at the side of one that is alone, larger. */
  readonly words: { readonly dx: number; readonly y: number; readonly em: number };
  /** Where the steps of a clearing are drawn, beside or below the words; null: the step does not ask for them. */
  readonly clearing: Steps | null;
}

/** Words at the side of one wall take at least so much, and with the steps of a clearing, px at 13 px text. */
const sideRoom = { words: 330, clearing: 400 };
/** Cells at the side of words may be so much smaller than cells above words. */
const leastBeside = 0.95;
/** Words at the side are so much larger, and those under walls that leave room at most so. */
const sideEm = 1.7;
/** Letters of a line of words that is usual, and the width of one at 1 px. */
const usualWidth = 34 * 0.5;
export interface Room {
  readonly rows: number;
  readonly cols: number;
}

/** Lines of words under a wall. */
export const wordLines = 3;
/** Lines of text that the steps of a clearing take, and how much larger they are at the side. */
const clearingLines = 5.5;
const clearingEm = 1.25;
/** Below this height, px at 13 px text, their times are left to the tip. */
const lowHeight = 460;
/** They are at most so wide, px at 13 px text. */
const widestClearing = 460;

/** Walls beside each other, or one below the other where their cells are hardly smaller so. */
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
  // Words below come first: they are larger where there is room, and what is left then is the cells'.
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

/** The box of a cell, CSS px. */
export function cellBox(layout: WallLayout, wall: LaidWall, row: number, col: number) {
  const { grid, scale } = layout;
  const [wide, high] = [grid.pitch * scale, grid.tall * scale];
  return { x: wall.x + col * wide, y: wall.y + rowTop(grid, row) * scale, wide, high };
}
