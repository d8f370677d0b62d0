// SPDX-License-Identifier: GPL-2.0-or-later
/** What marks stand on: paper, axis, staves, and where a lane is not known, over, or has lost events. */

import { locale, t as tr } from '../../base/lang/t.ts';
import { mix, type Pen } from '../paints.ts';
import { type Inked, type Inking, type Picture, text, textWidth, vertical } from './easel.ts';
import type { LaneBox, Layout } from './layout.ts';

export function drawGround(pen: Pen, picture: Picture, easel: Inking): void {
  const { layout } = picture;
  const { theme } = easel;
  pen.globalAlpha = 1;
  pen.fillStyle = theme.paper;
  pen.fillRect(0, 0, layout.width, layout.height);
  drawAxis(pen, picture, easel);
  for (const box of layout.lanes) {
    drawGrid(pen, layout, box, theme);
    drawStaff(pen, layout, box, theme);
    drawZones(pen, layout, box, easel);
  }
}

/** Ticks of the lane where they are known, the axis's lines where not. */
function drawGrid(pen: Pen, layout: Layout, box: LaneBox, theme: Inked): void {
  const known = box.ticks.length > 0;
  pen.fillStyle = known ? mix(theme.mechanism, theme.paper, 0.3) : theme.rule;
  const xs = known ? box.ticks : layout.ticks.map((t) => t.x);
  for (const x of xs) vertical(pen, x, box.bodyTop - 2, box.bottom);
}

function drawStaff(pen: Pen, layout: Layout, box: LaneBox, theme: Inked): void {
  const { left, right } = layout;
  pen.fillStyle = theme.rule;
  for (const row of box.rows) {
    pen.fillRect(left, Math.round(row.top + row.height / 2), right - left, 1);
  }
  for (const row of box.lines) {
    if (row.what === 'row' || row.what === 'function') continue;
    pen.fillRect(left, row.top + row.height, right - left, 1);
  }
  const first = box.rows[0];
  const last = box.lines.findLast((line) => line.what === 'row' || line.what === 'function');
  if (first === undefined || last === undefined) return;
  // The brace that joins the staves of one kernel.
  pen.fillStyle = theme.soft;
  const top = first.top - 3;
  const bottom = last.top + last.height + 3;
  pen.fillRect(left - 9, top, 2, bottom - top);
  pen.fillRect(left - 9, top, 6, 1.5);
  pen.fillRect(left - 9, bottom - 1.5, 6, 1.5);
}

/** Unknown, lost, evicted and over look different from each other and from idle, which is the bare staff. */
function drawZones(pen: Pen, layout: Layout, box: LaneBox, easel: Inking): void {
  const { theme, tiles } = easel;
  const top = box.bodyTop - 2;
  const height = box.bottom - top;
  if (box.unknown !== null) {
    const [x0, x1] = box.unknown;
    pen.fillStyle = tiles('fog', { ground: theme.sunk, ink: mix(theme.faint, theme.sunk, 0.22) });
    pen.fillRect(x0, top, x1 - x0, height);
    note(pen, theme, tr('not known yet'), x0, x1, top + height / 2);
  }
  if (box.evictedTo !== null) {
    pen.fillStyle = tiles('dots', { ground: theme.sunk, ink: mix(theme.faint, theme.sunk, 0.4) });
    pen.fillRect(layout.left, top, box.evictedTo - layout.left, height);
    note(pen, theme, tr('no longer kept'), layout.left, box.evictedTo, top + height / 2);
  }
  if (box.endX !== null) {
    pen.fillStyle = theme.soft;
    pen.fillRect(box.endX + 3, top, 1, height);
    pen.fillRect(box.endX + 6, top, 3, height);
  }
  for (const loss of box.losses) drawLoss(pen, theme, loss, top, height);
}

function drawLoss(
  pen: Pen,
  theme: Inked,
  loss: LaneBox['losses'][number],
  top: number,
  height: number,
): void {
  const w = loss.x1 - loss.x0;
  pen.fillStyle = mix(theme.hazard, theme.paper, 0.1);
  pen.fillRect(loss.x0, top, w, height);
  pen.strokeStyle = theme.hazard;
  pen.lineWidth = 1;
  pen.setLineDash([3, 3]);
  pen.strokeRect(loss.x0 + 0.5, top + 0.5, Math.max(1, w - 1), height - 1);
  pen.setLineDash([]);
  const x = loss.x0 + w / 2;
  pen.lineWidth = 1.75;
  pen.beginPath();
  for (const y of [top + height * 0.25, top + height * 0.75]) {
    pen.moveTo(x - 4, y - 4);
    pen.lineTo(x + 4, y + 4);
    pen.moveTo(x + 4, y - 4);
    pen.lineTo(x - 4, y + 4);
  }
  pen.stroke();
  const words =
    loss.events === null
      ? tr('events lost')
      : tr('{count} events lost', { count: loss.events.toLocaleString(locale()) });
  if (w < textWidth(pen, theme, words) + 12) return;
  pen.fillStyle = theme.hazard;
  text(pen, theme, words, x, top + height / 2, 'center');
}

function note(pen: Pen, theme: Inked, words: string, x0: number, x1: number, y: number): void {
  if (x1 - x0 < textWidth(pen, theme, words) + 16) return;
  pen.fillStyle = theme.soft;
  text(pen, theme, words, (x0 + x1) / 2, y, 'center');
}

function drawAxis(pen: Pen, picture: Picture, easel: Inking): void {
  const { layout } = picture;
  const { theme } = easel;
  const y = layout.axisY;
  pen.fillStyle = theme.faint;
  pen.fillRect(layout.left, y, layout.right - layout.left, 1);
  for (const tick of layout.ticks) {
    pen.fillStyle = theme.faint;
    vertical(pen, tick.x, y, y + 5);
    pen.fillStyle = theme.soft;
    const edge =
      tick.x > layout.right - 20 ? 'right' : tick.x < layout.left + 8 ? 'left' : 'center';
    text(pen, theme, tick.label, tick.x, y + 15 * theme.em, edge);
  }
  pen.fillStyle = theme.soft;
  const wide = layout.margin;
  if (wide) text(pen, theme, layout.unit, layout.left - 14, y + 15 * theme.em, 'right');
  else text(pen, theme, layout.unit, 4, y + 15 * theme.em, 'left');
}
