// SPDX-License-Identifier: GPL-2.0-or-later
/** The whole run -> canvas: bars of work and waiting, the window as a bracket, the moment as a line. */

import type { Theme } from '../../base/theme.ts';
import { mix, type Pen } from '../paints.ts';
import type { Band, OverviewLayout } from './layout.ts';

export function drawOverview(
  pen: Pen,
  layout: OverviewLayout,
  theme: Theme,
  width: number,
  height: number,
): void {
  pen.globalAlpha = 1;
  pen.clearRect(0, 0, width, height);
  const [x0, x1] = layout.window;
  pen.fillStyle = mix(theme.ink, theme.paper, 0.07);
  pen.fillRect(x0, layout.top - 2, Math.max(3, x1 - x0), layout.bottom - layout.top + 4);
  for (const band of layout.bands) drawBand(pen, layout, band, theme);
  drawBracket(pen, layout, theme);
  pen.fillStyle = theme.ink;
  pen.fillRect(
    Math.round(layout.momentX) - 0.75,
    layout.top - 2,
    1.5,
    layout.bottom - layout.top + 4,
  );
  if (layout.flagX !== null) {
    pen.fillStyle = theme.soft;
    for (let y = layout.top; y < layout.axisY + 4; y += 6)
      pen.fillRect(Math.round(layout.flagX) - 0.5, y, 1, 2);
  }
  if (layout.axis) drawAxis(pen, layout, theme);
}

function drawAxis(pen: Pen, layout: OverviewLayout, theme: Theme): void {
  pen.font = `400 13px ${theme.font}`;
  pen.textBaseline = 'middle';
  pen.fillStyle = theme.soft;
  pen.textAlign = 'right';
  if (layout.titles) pen.fillText(layout.aligned, layout.left - 12, layout.axisY + 12);
  for (const [i, tick] of layout.ticks.entries()) {
    if (tick.x > layout.right - 18 && i > 0) pen.textAlign = 'right';
    else pen.textAlign = i === 0 ? 'left' : 'center';
    pen.fillText(tick.label, tick.x, layout.axisY + 12);
  }
}

function drawBand(pen: Pen, layout: OverviewLayout, band: Band, theme: Theme): void {
  const base = band.top + band.height;
  if (layout.titles) {
    pen.fillStyle = theme.soft;
    pen.font = `400 13px ${theme.font}`;
    pen.textAlign = 'right';
    pen.textBaseline = 'middle';
    pen.fillText(band.title, layout.left - 12, band.top + band.height / 2 + 1);
  }
  pen.fillStyle = theme.rule;
  pen.fillRect(layout.left, base, layout.right - layout.left, 1);
  pen.fillStyle = mix(theme.work, theme.paper, 0.75);
  for (const bar of band.bars) {
    const h = bar.work > 0 ? Math.max(1, bar.work * band.height) : 0;
    pen.fillRect(bar.x, base - h, Math.max(1, bar.w - 0.5), h);
  }
  pen.fillStyle = theme.wait;
  for (const bar of band.bars) {
    const below = bar.work > 0 ? Math.max(1, bar.work * band.height) : 0;
    const h = bar.wait > 0 ? Math.max(1, bar.wait * band.height) : 0;
    pen.fillRect(bar.x, base - below - h, Math.max(1, bar.w - 0.5), h);
  }
  pen.strokeStyle = theme.hazard;
  pen.lineWidth = 1.5;
  pen.beginPath();
  for (const x of band.lossXs) {
    const y = band.top + 4;
    pen.moveTo(x - 3, y - 3);
    pen.lineTo(x + 3, y + 3);
    pen.moveTo(x + 3, y - 3);
    pen.lineTo(x - 3, y + 3);
  }
  pen.stroke();
}

/** The window on the stage, with feet wide enough to take hold of. */
function drawBracket(pen: Pen, layout: OverviewLayout, theme: Theme): void {
  const [x0, wide] = layout.window;
  const x1 = Math.max(wide, x0 + 3);
  const top = layout.top - 2;
  const bottom = layout.bottom + 2;
  pen.fillStyle = theme.soft;
  for (const [x, dir] of [
    [x0, 1],
    [x1, -1],
  ] as const) {
    pen.fillRect(x - (dir > 0 ? 1.5 : 0), top, 1.5, bottom - top);
    pen.fillRect(dir > 0 ? x - 1.5 : x - 3, top, 4.5, 1.5);
    pen.fillRect(dir > 0 ? x - 1.5 : x - 3, bottom - 1.5, 4.5, 1.5);
  }
}
