// SPDX-License-Identifier: GPL-2.0-or-later
/** Dots -> canvas. One dot is one operation; the tick is the median. */

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

function drawRow(pen: Pen, layout: DotsLayout, row: DotRow, theme: Theme): void {
  const y = row.top + 11;
  pen.fillStyle = theme.ink;
  pen.font = `550 13px ${theme.font}`;
  pen.textAlign = 'left';
  pen.fillText(row.title, layout.left, y);
  pen.fillStyle = theme.soft;
  pen.font = `400 13px ${theme.font}`;
  pen.textAlign = 'right';
  pen.fillText(row.median === '' ? row.n : `${row.median}, ${row.n}`, layout.right, y);
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
  if (row.medianX === null) return;
  pen.fillStyle = mix(theme.ink, theme.paper, 0.95);
  pen.fillRect(row.medianX - 1, row.bandTop - 2, 2, row.bandHeight + 5);
}

function drawAxis(pen: Pen, layout: DotsLayout, theme: Theme): void {
  pen.font = `400 13px ${theme.font}`;
  pen.fillStyle = theme.soft;
  for (const [i, tick] of layout.ticks.entries()) {
    pen.textAlign = i === 0 ? 'left' : i === layout.ticks.length - 1 ? 'right' : 'center';
    pen.fillText(tick.label, tick.x, layout.axisY + 10);
  }
}
