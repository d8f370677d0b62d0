// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Places of the boxes, the budget and the words. Lanes are below each other. Cells have the same size and the same
 * places in all lanes.
 */

import type { Size } from '@page/derive/types.ts';
import type { LaidLane } from '@page/views/contract.ts';

export interface Grid {
  readonly x: number;
  readonly y: number;
  readonly columns: number;
  readonly rows: number;
  /** Width of a cell including its gap, and width of the gap, px. */
  readonly cell: number;
  readonly gap: number;
  /** Height of a row, and of the boxes in it. */
  readonly pitch: number;
  readonly high: number;
  readonly boxes: number;
  /** Whether a cell has room for its letter. */
  readonly lettered: boolean;
}

export interface StripLane extends LaidLane {
  readonly grid: Grid;
  /** Top of the bar of the budget. The words are next to the bar or below it. */
  readonly meterY: number;
  readonly unit: number;
  readonly wordsX: number;
  readonly wordsY: number;
  /**
   * Number of lines of words. With 1, all words are on one line. With 2, the sums are on the second line. With 3, the
   * budget, the scan and the sums have a line each.
   */
  readonly wordLines: number;
}

export interface StripLayout {
  readonly lanes: readonly StripLane[];
  readonly gutter: number;
  readonly fontSize: number;
  readonly headerHeight: number;
}

export interface LayoutInput {
  readonly arms: readonly string[];
  readonly boxes: number;
  /** Budget of a scan, in units. */
  readonly budget: number;
  readonly size: Size;
  readonly headerHeight: number;
  readonly fontSize: number;
}

/** Possible numbers of boxes in a row. All are multiples of 16, which is half a scan of 32. */
const columnChoices = [32, 48, 64, 80, 96, 112, 128, 144, 160, 192, 224, 256, 320, 384, 512];
const mostCell = 26;
/** Gap between two lanes, px. */
const between = 16;

/** Return the height of the bar of the budget with this number of lines of words below the bar. */
export function footHeight(fontSize: number, lines: number): number {
  return Math.round(fontSize * (1.9 + lines * 1.6)) + 6;
}

/** Largest width of a lane's words, in em: on one line, and on two lines, where the sums have their own line. */
const oneLine = 55;
const twoLines = 33;

/** Height of a letter with its border and the gap to the next row, as a multiple of the text size. */
const letteredRow = 1.2;
/** Largest width of a box, as a multiple of its height. It exceeds 1 so that a low lane still fills its stage. */
const widest = 1.6;

/**
 * Return the grid with the largest cells, but prefer cells that have room for letters. If cells are equally large,
 * return the wider grid.
 */
export function gridFor(boxes: number, width: number, height: number, fontSize: number) {
  let best = { columns: 32, rows: 1, wide: 0, high: 0, lettered: false };
  for (const columns of columnChoices) {
    const rows = Math.max(1, Math.ceil(boxes / columns));
    const wide = wholePixels(Math.min(width / columns, mostCell));
    const high = wholePixels(Math.min(Math.max(20, height) / rows, mostCell * 1.25));
    const lettered = wide >= fontSize && high >= Math.floor(fontSize * letteredRow);
    const larger = Math.min(wide, high) >= Math.min(best.wide, best.high);
    if (lettered === best.lettered ? larger : lettered)
      best = { columns, rows, wide, high, lettered };
  }
  const { columns, rows, high, lettered } = best;
  const cell = wholePixels(Math.min(width / columns, high * widest));
  // Leave a gap between lettered rows, because the list is drawn there.
  return { columns, rows, cell, lettered, pitch: Math.min(high, lettered ? cell * 1.25 : cell) };
}

function wholePixels(cell: number): number {
  return cell >= 4 ? Math.floor(cell) : Math.max(0.5, cell);
}

/** A unit of the budget is as wide as a box, so the budget is as long as the row of entries that it pays for. */
function unitWidth(cell: number, budget: number, width: number): number {
  const most = width / Math.max(1, budget);
  return Math.max(2, Math.floor(Math.min(Math.max(cell, 7), most)));
}

export function layoutStrip(input: LayoutInput): StripLayout {
  const { arms, boxes, size, headerHeight, fontSize } = input;
  const gutter = Math.round(fontSize * (size.width >= 600 ? 5 : 3.6));
  const width = Math.max(120, size.width - gutter - 6);
  const n = Math.max(1, arms.length);
  const each = size.height / n;
  const gridOver = (foot: number) =>
    gridFor(boxes, width, each - headerHeight - foot - between, fontSize);
  // Put the words next to the budget if they fit.
  const wide = unitWidth(gridOver(footHeight(fontSize, 0)).cell, input.budget, width);
  const below = width - wide * input.budget < fontSize * oneLine;
  const wordLines =
    !below || width >= fontSize * oneLine ? 1 : width >= fontSize * twoLines ? 2 : 3;
  const foot = footHeight(fontSize, below ? wordLines : 0);
  const grid = gridOver(foot);
  const gap = gapOf(grid.cell);
  const pitch = grid.cell < 4 ? grid.pitch : Math.floor(grid.pitch);
  const high = pitch - (grid.lettered ? Math.max(3, Math.min(4, pitch - fontSize)) : gap);
  const used = headerHeight + grid.rows * pitch + foot + between;
  // Distribute spare room evenly between the lanes and above the first lane.
  const spare = Math.max(0, Math.min(each - used, 56));
  const unit = unitWidth(grid.cell, input.budget, width);
  const lanes = arms.map((arm, i): StripLane => {
    const top = Math.round(i * (used + spare) + (spare / 2) * (n === 1 ? 2 : 1));
    const y = top + headerHeight + 4;
    const meterY = Math.round(y + grid.rows * pitch + 8);
    return {
      arm,
      left: gutter,
      top,
      width: size.width - gutter,
      grid: { x: gutter, y, ...grid, pitch, gap, high, boxes },
      meterY,
      unit,
      wordsX: below ? gutter : gutter + unit * input.budget + fontSize * 1.2,
      wordsY: below ? meterY + Math.round(fontSize * 1.8) : meterY,
      wordLines,
    };
  });
  return { lanes, gutter, fontSize, headerHeight };
}

function gapOf(cell: number): number {
  if (cell >= 16) return 3;
  return cell >= 12 ? 2 : cell >= 5 ? 1 : 0;
}

/** Return the upper left corner of a box. */
export function cellAt(grid: Grid, box: number): { readonly x: number; readonly y: number } {
  const row = Math.floor(box / grid.columns);
  return { x: grid.x + (box - row * grid.columns) * grid.cell, y: grid.y + row * grid.pitch };
}

/** Return the index of the box at a point; -1 if there is no box. */
export function boxAt(grid: Grid, x: number, y: number): number {
  const column = Math.floor((x - grid.x) / grid.cell);
  const row = Math.floor((y - grid.y) / grid.pitch);
  if (column < 0 || column >= grid.columns || row < 0 || row >= grid.rows) return -1;
  const box = row * grid.columns + column;
  return box < grid.boxes ? box : -1;
}
