// SPDX-License-Identifier: GPL-2.0-or-later
/** Outlines of the regions that a sentence mentions. A region is a box, or a set of cells in a grid. */

import type { Theme } from '../base/theme.ts';
import type { Pen } from './paints.ts';

/** A line along the edges of cells, between the corners (c0, r0) and (c1, r1). */
export interface Edge {
  readonly c0: number;
  readonly r0: number;
  readonly c1: number;
  readonly r1: number;
}

/** Edges between cells inside and outside the set, merged into lines that are as long as possible. */
export function edgesOf(
  rows: number,
  cols: number,
  holds: (row: number, col: number) => boolean,
): readonly Edge[] {
  const edges: Edge[] = [];
  const has = (row: number, col: number) =>
    row >= 0 && row < rows && col >= 0 && col < cols && holds(row, col);
  const along = (
    outer: number,
    inner: number,
    differs: (o: number, i: number) => boolean,
    put: (o: number, from: number, to: number) => void,
  ) => {
    for (let o = 0; o <= outer; o++) {
      let from = -1;
      for (let i = 0; i <= inner; i++) {
        const edge = i < inner && differs(o, i);
        if (edge && from < 0) from = i;
        if (!edge && from >= 0) {
          put(o, from, i);
          from = -1;
        }
      }
    }
  };
  along(
    rows,
    cols,
    (row, col) => has(row - 1, col) !== has(row, col),
    (row, from, to) => edges.push({ c0: from, r0: row, c1: to, r1: row }),
  );
  along(
    cols,
    rows,
    (col, row) => has(row, col - 1) !== has(row, col),
    (col, from, to) => edges.push({ c0: col, r0: from, c1: col, r1: to }),
  );
  return edges;
}

/** Draw the lines as one dashed path. */
export function strokeRegion(
  pen: Pen,
  theme: Theme,
  lines: readonly (readonly [x0: number, y0: number, x1: number, y1: number])[],
  width = 1.5,
): void {
  if (lines.length === 0) return;
  pen.save();
  pen.strokeStyle = theme.ink;
  pen.lineWidth = width;
  pen.setLineDash([5, 3]);
  pen.beginPath();
  for (const [x0, y0, x1, y1] of lines) {
    pen.moveTo(x0, y0);
    pen.lineTo(x1, y1);
  }
  pen.stroke();
  pen.setLineDash([]);
  pen.restore();
}

/** The four sides of a box, moved slightly outwards. */
export function sidesOf(
  {
    x,
    y,
    w,
    h,
  }: { readonly x: number; readonly y: number; readonly w: number; readonly h: number },
  by = 2,
): readonly (readonly [number, number, number, number])[] {
  const [left, top, right, bottom] = [x - by, y - by, x + w + by, y + h + by];
  return [
    [left, top, right, top],
    [right, top, right, bottom],
    [right, bottom, left, bottom],
    [left, bottom, left, top],
  ];
}
