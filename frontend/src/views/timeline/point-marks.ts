// SPDX-License-Identifier: GPL-2.0-or-later
/** Points -> canvas: a pin each, or columns of their number. */

import type { Theme } from '../../base/theme.ts';
import { colourOf, mix, type Pen } from '../paints.ts';
import { densityPx, type PointMarks } from './points.ts';

/** Nearer to each other than this on average, pins lose their heads, px. */
const headsApart = 9;

/** All points of one line. */
export function paintPoints(pen: Pen, marks: PointMarks, theme: Theme, left: number): void {
  const { line, xs, columns } = marks;
  const colour = colourOf(theme, marks.colour);
  if (columns !== null) return paintColumns(pen, marks, mix(colour, theme.paper, 0.7), left);
  pen.fillStyle = colour;
  const bottom = line.top + line.height;
  const span = xs.length < 2 ? Number.POSITIVE_INFINITY : xs.at(-1)! - xs[0]!;
  const heads = span / xs.length >= headsApart || xs.length < 40;
  const radius = Math.min(3.5, line.height / 3);
  for (const x of xs)
    pen.fillRect(
      x - 0.75,
      line.top + (heads ? radius : 1),
      1.5,
      line.height - (heads ? radius : 1),
    );
  if (!heads) return;
  pen.beginPath();
  for (const x of xs) {
    pen.moveTo(x + radius, bottom - line.height + radius);
    pen.arc(x, line.top + radius, radius, 0, 2 * Math.PI);
  }
  pen.fill();
}

/** A column is as high as its share of the fullest; one that has any is at least a pixel. */
function paintColumns(pen: Pen, marks: PointMarks, fill: string, left: number): void {
  const { line, columns, most } = marks;
  pen.fillStyle = fill;
  for (const [column, n] of columns!.entries()) {
    if (n === 0) continue;
    const h = Math.max(1, Math.round((n / most) * line.height));
    pen.fillRect(left + column * densityPx, line.top + line.height - h, densityPx, h);
  }
}
