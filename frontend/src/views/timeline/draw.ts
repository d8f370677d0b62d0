// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Draws layout and marks. Everything that changes with time depends only on the frame's moment, including the
 * afterglow.
 */

import { locale, t as tr } from '../../base/lang/t.ts';
import type { Theme } from '../../base/theme.ts';
import { axisFlag, laneTime } from '../../derive/align.ts';
import type { Mark } from '../../derive/types.ts';
import { drawFlag } from '../axis.ts';
import { outline } from '../items.ts';
import { colourOf, mix, type Pen } from '../paints.ts';
import {
  brushRects,
  brushShares,
  type Easel,
  faintness,
  type Inked,
  type Inking,
  type Picture,
  paintOf,
  text,
  textWidth,
  vertical,
} from './easel.ts';
import { drawLabels } from './labels.ts';
import { boxesOf, type LaneBox, type Layout } from './layout.ts';
import { type Chart, densityPx, type LaneMarks, type PointMarks } from './marks.ts';
import type { RectList } from './score.ts';

// Background of the marks: paper, axis, staves, and zones in which a lane is unknown, has ended, or lost events.

function drawGround(pen: Pen, picture: Picture, easel: Inking): void {
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

/** Draw the lane's ticks if they are known, otherwise the lines of the axis. */
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
  // Draw the brace that joins the staves of one kernel.
  pen.fillStyle = theme.soft;
  const top = first.top - 3;
  const bottom = last.top + last.height + 3;
  pen.fillRect(left - 9, top, 2, bottom - top);
  pen.fillRect(left - 9, top, 6, 1.5);
  pen.fillRect(left - 9, bottom - 1.5, 6, 1.5);
}

/** Unknown, lost, evicted and ended time have different looks. None of them looks like idle time, an empty staff. */
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
    note(pen, theme, tr('no longer stored'), layout.left, box.evictedTo, top + height / 2);
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

// Draws counters. Each counter is an area up to the value, with a line on top.

/**
 * Draw one chart, starting at `left`, with one column per pixel. Neighbouring columns of equal height are merged into
 * one rectangle.
 */
function paintChart(pen: Pen, chart: Chart, theme: Theme, left: number): void {
  const { line, low, high, top } = chart;
  const colour = colourOf(theme, chart.series.colour);
  const bottom = line.top + line.height;
  const height = (value: number) => (Math.max(0, value) / top) * (line.height - 1);
  const area = mix(colour, theme.paper, 0.2);
  const spread = mix(colour, theme.paper, 0.4);
  eachRun(low, high, (x0, x1, least, most) => {
    const base = height(least);
    const peak = height(most);
    pen.fillStyle = area;
    if (base > 0) pen.fillRect(left + x0, bottom - base, x1 - x0, base);
    // The range of the values within this pixel column.
    pen.fillStyle = spread;
    if (peak > base) pen.fillRect(left + x0, bottom - peak, x1 - x0, peak - base);
    pen.fillStyle = colour;
    if (peak > 0) pen.fillRect(left + x0, bottom - peak - 0.5, x1 - x0, 1.5);
  });
}

function eachRun(
  low: Float64Array,
  high: Float64Array,
  draw: (x0: number, x1: number, least: number, most: number) => void,
): void {
  let from = 0;
  for (let x = 1; x <= low.length; x++) {
    if (x < low.length && low[x] === low[from] && high[x] === high[from]) continue;
    if (!Number.isNaN(low[from]!)) draw(from, x, low[from]!, high[from]!);
    from = x;
  }
}

// Draws points, either as one pin per point or as columns of counts.

/** Pins have heads only if their average distance is at least this, px. */
const headsApart = 9;

/** Draw all points of one line. */
function paintPoints(pen: Pen, marks: PointMarks, theme: Theme, left: number): void {
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

/**
 * Draw counts as columns. A column's height is relative to the fullest column; a column with points is at least one
 * pixel high.
 */
function paintColumns(pen: Pen, marks: PointMarks, fill: string, left: number): void {
  const { line, columns, most } = marks;
  pen.fillStyle = fill;
  for (const [column, n] of columns!.entries()) {
    if (n === 0) continue;
    const h = Math.max(1, Math.round((n / most) * line.height));
    pen.fillRect(left + column * densityPx, line.top + line.height - h, densityPx, h);
  }
}

// Draws what lies over the marks: links, outlines of hovered marks, the aligned moment, and the playhead.

/** How long a link glows after its moment, as a share of the window. */
const glowShare = 0.05;

function drawLinks(
  pen: Pen,
  picture: Picture,
  marks: LaneMarks,
  box: LaneBox,
  easel: Inking,
): void {
  const { frame, layout } = picture;
  const { gain } = easel.theme;
  const shift = frame.offset.get(box.arm) ?? 0;
  pen.fillStyle = gain;
  // A few links look like notes with stems. If there are many, links fade behind the staves.
  const crowd = Math.min(1, Math.max(0, (marks.links.length - 40) / 160));
  const radius = 2.5 - crowd;
  const stem = 0.5 - 0.32 * crowd;
  for (const link of marks.links) {
    const age = (frame.moment - (link.t + shift)) / frame.span;
    const past = frame.reveal === 'window' || age >= 0;
    const glow = past && age >= 0 && age < glowShare ? 1 - age / glowShare : 0;
    if (link.x < layout.left - 1 || link.x > layout.right + 1) continue;
    pen.globalAlpha = past ? stem + (1 - stem) * glow * (1 - crowd / 2) : faintness * 0.6;
    const w = 1 + glow * (1 - crowd);
    pen.fillRect(
      link.x - w / 2,
      Math.min(link.fromY, link.toY),
      w,
      Math.abs(link.fromY - link.toY),
    );
    pen.globalAlpha = past ? 1 : faintness;
    pen.beginPath();
    pen.arc(link.x, link.toY, radius + 1.8 * glow * (1 - crowd), 0, 2 * Math.PI);
    pen.fill();
  }
  pen.globalAlpha = 1;
}

function drawPlayhead(pen: Pen, picture: Picture, easel: Inking): void {
  const { layout } = picture;
  const { theme } = easel;
  if (layout.playheadX === null) return;
  const x = Math.round(layout.playheadX);
  pen.globalAlpha = 1;
  pen.fillStyle = theme.ink;
  // The playhead's line is strong over marks, and thin over text.
  let y = 3 + 21 * theme.em;
  for (const box of layout.lanes) {
    pen.globalAlpha = 0.16;
    pen.fillRect(x - 0.5, y, 1, box.bodyTop - 3 - y);
    pen.globalAlpha = 1;
    pen.fillRect(x - 0.75, box.bodyTop - 3, 1.5, box.bottom - box.bodyTop + 3);
    y = box.bottom;
  }
  pen.fillRect(x - 0.75, y, 1.5, layout.axisY + 6 - y);
  const words = layout.readout;
  const w = textWidth(pen, theme, words, 500, 13, theme.mono) + 18;
  pen.fillStyle = theme.ink;
  const left = Math.max(layout.left - 8, Math.min(layout.right + 8 - w, x - w / 2));
  pen.beginPath();
  pen.roundRect(left, 3, w, 22 * theme.em, 11 * theme.em);
  pen.fill();
  pen.fillStyle = theme.paper;
  text(pen, theme, words, left + w / 2, 3 + 11.5 * theme.em, 'center', 500, 13, theme.mono);
}

/** Draw a flag at the aligned moment, if lanes are shifted. */
function drawAlignment(pen: Pen, picture: Picture, easel: Inking): void {
  const { index, frame, layout, score } = picture;
  const flag = axisFlag(index, frame, score.operation.name);
  if (flag === null) return;
  const { left, right, axisY: bottom } = layout;
  const x = left + (flag.t - frame.start) / layout.nsPerPx;
  const at = { x, words: flag.words, left, right, top: 3, bottom };
  drawFlag(pen, easel.theme, at, layout.fontSize);
}

/** Opacity of kinds that are not in the step's focus. */
export const mutedness = 0.5;

/** Distance of an outline from its mark, and the outline's corner radius, px. */
const rim = { x: 2.5, y: 3.5, radius: 4 } as const;

/** Draw the complete picture at the frame's moment. */
export function drawPicture(pen: Pen, picture: Picture, given: Easel): void {
  const { layout } = picture;
  const easel: Inking = { ...given, theme: { ...given.theme, em: layout.fontSize / 13 } };
  drawGround(pen, picture, easel);
  stampMarks(pen, picture, easel, faintness, layout.right + 10);
  if (layout.revealX > layout.left) {
    pen.save();
    pen.beginPath();
    pen.rect(layout.left - 4, 0, layout.revealX - layout.left + 4, layout.height);
    pen.clip();
    stampMarks(pen, picture, easel, 1, layout.revealX);
    pen.restore();
  }
  for (const [i, box] of layout.lanes.entries())
    drawLinks(pen, picture, picture.marks[i]!, box, easel);
  for (const box of layout.lanes) drawExtras(pen, picture, box, easel.theme);
  drawLabels(pen, picture, easel);
  const boxes = (mark: Mark) => boxesOf(layout, picture.score, mark);
  outline(pen, { ...picture, theme: easel.theme }, picture.hover, boxes, rim);
  drawAlignment(pen, picture, easel);
  drawPlayhead(pen, picture, easel);
}

/** Draw the lines that a view adds. */
function drawExtras(
  pen: Pen,
  { index, frame, layout, score }: Picture,
  box: LaneBox,
  theme: Inked,
) {
  const { left, right, revealX, nsPerPx } = layout;
  const { lane, rows, t0: from } = box;
  const x = (t: number) => left + (t - from) / nsPerPx;
  const to = from + (right - left) * nsPerPx;
  const now = laneTime(frame.offset, box.arm, frame.moment);
  const operation = score.operation.name;
  const at = { index, lane, from, to, now, x, left, right, revealX, rows, theme, operation };
  for (const { what, points, top, height } of box.lines) {
    if (what !== 'extra') continue;
    score.extras.find(({ part }) => part === points[0])?.draw(pen, { ...at, top, height });
  }
}

function stampMarks(pen: Pen, picture: Picture, easel: Easel, alpha: number, toX: number): void {
  const { layout } = picture;
  if (easel.stamp === null) {
    pen.save();
    pen.beginPath();
    pen.rect(layout.left, 0, layout.right - layout.left, layout.height);
    pen.clip();
    paintMarks(pen, picture, easel, alpha);
    pen.restore();
    return;
  }
  const { image, dpr } = easel.stamp;
  const x = layout.left;
  const w = Math.min(toX, layout.right) - x;
  if (w <= 0) return;
  pen.globalAlpha = alpha;
  pen.drawImage(image, x * dpr, 0, w * dpr, layout.height * dpr, x, 0, w, layout.height);
  pen.globalAlpha = 1;
}

/** Draw every mark of every lane, grouped by kind. Kinds that are not in focus are muted. */
export function paintMarks(pen: Pen, picture: Picture, easel: Easel, alpha: number): void {
  const { index, frame } = picture;
  const strength = (list: RectList) => {
    const name = index.kinds[list.style.kind]!.name;
    return frame.focus.size === 0 || frame.focus.has(name) || list.style.colour === 'hazard'
      ? 1
      : mutedness;
  };
  const pointNamed = picture.score.points.some(({ name }) => frame.focus.has(name));
  const pointStrength = (name: string) => (!pointNamed || frame.focus.has(name) ? 1 : mutedness);
  for (const lane of picture.marks) {
    for (const list of lane.shares) {
      pen.globalAlpha = alpha * strength(list);
      brushShares(pen, list, paintOf(list.style, easel.theme, easel.tiles));
    }
    for (const list of lane.rects) {
      // The state already shows that a thread runs in a function, so only brackets of kinds in focus are drawn.
      const named = frame.focus.has(index.kinds[list.style.kind]!.name);
      if (list.style.texture === 'bracket' && !named) continue;
      pen.globalAlpha = alpha * strength(list);
      brushRects(pen, list, paintOf(list.style, easel.theme, easel.tiles));
    }
    pen.globalAlpha = alpha;
    for (const chart of lane.charts) paintChart(pen, chart, easel.theme, picture.layout.left);
    for (const marks of lane.points) {
      pen.globalAlpha = alpha * pointStrength(marks.kind);
      paintPoints(pen, marks, easel.theme, picture.layout.left);
    }
  }
  pen.globalAlpha = 1;
}
