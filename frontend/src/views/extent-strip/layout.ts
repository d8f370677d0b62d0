// SPDX-License-Identifier: GPL-2.0-or-later
/** Where boxes, budget and words stand. Lanes lie under each other, with equal cells at equal places. */

import type { Size } from '../../derive/types.ts';
import type { LaidLane } from '../lane-canvas.tsx';

export interface Grid {
  readonly x: number;
  readonly y: number;
  readonly columns: number;
  readonly rows: number;
  /** Edge of a cell with its gap, px. */
  readonly cell: number;
  readonly gap: number;
  readonly boxes: number;
  /** Cells are large enough for their letter. */
  readonly lettered: boolean;
}

export interface StripLane extends LaidLane {
  readonly grid: Grid;
  /** The budget stands here, and the words beside or below it. */
  readonly meterY: number;
  readonly unit: number;
  readonly wordsX: number;
  readonly wordsY: number;
}

export interface StripLayout {
  readonly lanes: readonly StripLane[];
  readonly gutter: number;
  readonly margin: number;
  readonly fontSize: number;
  readonly headerHeight: number;
}

export interface LayoutInput {
  readonly arms: readonly string[];
  readonly boxes: number;
  /** Budget of a scan. */
  readonly budget: number;
  readonly size: Size;
  readonly headerHeight: number;
  readonly fontSize: number;
}

const columnChoices = [32, 64, 96, 128, 160, 192, 256, 384, 512];
const mostCell = 26;
/** Room between two lanes. */
const between = 14;

export function footHeight(fontSize: number, twoLines: boolean): number {
  return Math.round(fontSize * (twoLines ? 3.5 : 1.9)) + 6;
}

/** As many columns as give the largest cells: whole scans of 32 to a row. */
export function gridFor(boxes: number, width: number, height: number, fontSize: number) {
  let best = { columns: 32, cell: 0 };
  for (const columns of columnChoices) {
    const rows = Math.max(1, Math.ceil(boxes / columns));
    const cell = Math.min(width / columns, height / rows, mostCell);
    // Fewer rows read better; more must pay.
    if (cell > best.cell + 0.2) best = { columns, cell };
  }
  const cell = best.cell >= 6 ? Math.floor(best.cell) : Math.max(0.5, best.cell);
  const lettered = cell >= fontSize;
  return { columns: best.columns, rows: Math.ceil(boxes / best.columns), cell, lettered };
}

export function layoutStrip(input: LayoutInput): StripLayout {
  const { arms, boxes, size, headerHeight, fontSize } = input;
  const gutter = Math.round(fontSize * 3.4);
  const margin = size.width >= 700 ? Math.round(fontSize * 7.5) : 8;
  const width = Math.max(120, size.width - gutter - margin);
  const n = Math.max(1, arms.length);
  const each = size.height / n;
  const unit = Math.max(
    3,
    Math.min(Math.round(fontSize * 0.8), Math.floor((width * 0.45) / Math.max(1, input.budget))),
  );
  const meterWidth = unit * input.budget;
  const twoLines = width - meterWidth < fontSize * 40;
  const foot = footHeight(fontSize, twoLines);
  const room = Math.max(20, each - headerHeight - foot - between);
  const grid = gridFor(boxes, width, room, fontSize);
  const used = headerHeight + grid.rows * grid.cell + foot + between;
  const spare = Math.max(0, Math.min(each - used, 24));
  const lanes = arms.map((arm, i): StripLane => {
    const top = Math.round(i * (used + spare));
    const y = top + headerHeight + 2;
    const meterY = Math.round(y + grid.rows * grid.cell + 8);
    const meterX = gutter;
    return {
      arm,
      left: gutter,
      top,
      width: size.width - gutter,
      grid: { x: gutter, y, ...grid, gap: grid.cell >= 12 ? 2 : grid.cell >= 5 ? 1 : 0, boxes },
      meterY,
      unit,
      wordsX: twoLines ? meterX : meterX + meterWidth + fontSize * 1.2,
      wordsY: twoLines ? meterY + Math.round(fontSize * 1.7) : meterY,
    };
  });
  return { lanes, gutter, margin, fontSize, headerHeight };
}

/** Left upper corner of a box. */
export function cellAt(grid: Grid, box: number): { readonly x: number; readonly y: number } {
  const row = Math.floor(box / grid.columns);
  return { x: grid.x + (box - row * grid.columns) * grid.cell, y: grid.y + row * grid.cell };
}

/** The box at a point; -1: none. */
export function boxAt(grid: Grid, x: number, y: number): number {
  const column = Math.floor((x - grid.x) / grid.cell);
  const row = Math.floor((y - grid.y) / grid.cell);
  if (column < 0 || column >= grid.columns || row < 0 || row >= grid.rows) return -1;
  const box = row * grid.columns + column;
  return box < grid.boxes ? box : -1;
}

/** The unit of the budget at a point; -1: none. */
export function unitAt(
  lane: StripLane,
  budget: number,
  fontSize: number,
  x: number,
  y: number,
): number {
  if (y < lane.meterY - 2 || y > lane.meterY + fontSize + 4) return -1;
  const unit = Math.floor((x - lane.grid.x) / lane.unit);
  return unit >= 0 && unit < budget ? unit : -1;
}

/** The box beside one in a direction of the keyboard. */
export function boxBeside(grid: Grid, box: number, key: string): number {
  const to = {
    ArrowLeft: box - 1,
    ArrowRight: box + 1,
    ArrowUp: box - grid.columns,
    ArrowDown: box + grid.columns,
    Home: box - (box % grid.columns),
    End: box - (box % grid.columns) + grid.columns - 1,
  }[key];
  if (to === undefined) return box;
  if (key === 'Home' || key === 'End') return Math.min(grid.boxes - 1, to);
  return to;
}
