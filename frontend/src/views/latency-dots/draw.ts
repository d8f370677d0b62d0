// SPDX-License-Identifier: GPL-2.0-or-later
/** Dots -> canvas. One dot is one operation; the triangle points at the mean, the tick is the median. */

import type { Theme } from '../../base/theme.ts';
import { mix, type Pen } from '../paints.ts';
import type { DotRow, DotsLayout } from './layout.ts';

export function drawDots(
  pen: Pen,
  layout: DotsLayout,
  theme: Theme,
  width: number,
  height: number,
): void {
  pen.globalAlpha = 1;
  pen.clearRect(0, 0, width, height);
  pen.textBaseline = 'middle';
  for (const tick of layout.ticks) {
    pen.fillStyle = theme.rule;
    for (const row of layout.rows) pen.fillRect(Math.round(tick.x), row.bandTop, 1, row.bandHeight);
  }
  for (const row of layout.rows) drawRow(pen, layout, row, theme);
  drawAxis(pen, layout, theme);
}

/** Of the triangle that points at the mean. */
const meanPx = 9;

function drawRow(pen: Pen, layout: DotsLayout, row: DotRow, theme: Theme): void {
  const y = row.top + 11;
  pen.fillStyle = theme.ink;
  pen.font = `550 13px ${theme.font}`;
  pen.textAlign = 'left';
  pen.fillText(row.title, layout.left, y);
  const title = pen.measureText(`${row.title}  `).width;
  pen.fillStyle = theme.soft;
  pen.font = `400 13px ${theme.font}`;
  pen.textAlign = 'right';
  const room = layout.right - layout.left - title;
  pen.fillText(figuresOf(pen, row, room), layout.right, y);
  pen.fillStyle = theme.rule;
  pen.fillRect(layout.left, row.bandTop + row.bandHeight, layout.right - layout.left, 1);
  pen.fillStyle = theme.work;
  pen.globalAlpha = row.dots.length > 150 ? 0.35 : 0.6;
  for (const dot of row.dots) {
    pen.beginPath();
    pen.arc(dot.x, dot.y, 1.9, 0, 2 * Math.PI);
    pen.fill();
  }
  pen.globalAlpha = 1;
  if (row.medianX === null || row.meanX === null) return;
  pen.fillStyle = mix(theme.ink, theme.paper, 0.95);
  pen.fillRect(row.medianX - 1, row.bandTop - 2, 2, row.bandHeight + 5);
  pen.beginPath();
  pen.moveTo(row.meanX, row.bandTop + row.bandHeight - meanPx);
  pen.lineTo(row.meanX - meanPx * 0.7, row.bandTop + row.bandHeight + 2);
  pen.lineTo(row.meanX + meanPx * 0.7, row.bandTop + row.bandHeight + 2);
  pen.fill();
}

/** As many figures as there is room for; the header over the lane has their number, too. */
function figuresOf(pen: Pen, { mean, median, n }: DotRow, room: number): string {
  if (mean === '') return n;
  const wordings = [`▴ ${mean}  | ${median}  ${n}`, `▴ ${mean}  | ${median}`, `▴ ${mean}`];
  return wordings.find((words) => pen.measureText(words).width <= room) ?? mean;
}

function drawAxis(pen: Pen, layout: DotsLayout, theme: Theme): void {
  pen.font = `400 13px ${theme.font}`;
  pen.fillStyle = theme.soft;
  for (const [i, tick] of layout.ticks.entries()) {
    pen.textAlign = i === 0 ? 'left' : i === layout.ticks.length - 1 ? 'right' : 'center';
    pen.fillText(tick.label, tick.x, layout.axisY + 10);
  }
}
