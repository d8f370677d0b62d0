// SPDX-License-Identifier: GPL-2.0-or-later
/** Layout and marks -> canvas. Knows no time but the frame's moment: the afterglow is computed from it. */

import type { Theme } from '../../base/theme.ts';
import { axisFlag } from '../../derive/axis-words.ts';
import type { Frame, Mark, RunIndex } from '../../derive/types.ts';
import { shortTitle } from '../../derive/words.ts';
import { drawFlag } from '../axis-flag.ts';
import { type Fill, mix, type Pen, type TileMaker } from '../paints.ts';
import { functionNotes, operationNotes } from './annotate.ts';
import { brushRects, brushShares, paintOf } from './brush.ts';
import type { LaneBox, Layout, RowBox } from './layout.ts';
import type { LaneMarks, RectList } from './marks.ts';

export interface Picture {
  readonly index: RunIndex;
  readonly frame: Frame;
  readonly layout: Layout;
  readonly marks: readonly LaneMarks[];
  readonly hover: Mark | null;
  readonly ownHeaders: boolean;
  /** Name of one operation. */
  readonly operation: string;
}

/** A theme with the size of its text: 1 em is 13 px. */
type Inked = Theme & { readonly em: number };

export interface Easel {
  readonly theme: Theme;
  readonly tiles: TileMaker;
  /** The marks drawn once for this window, to be stamped; null draws them stroke by stroke. */
  readonly stamp: { readonly image: CanvasImageSource; readonly dpr: number } | null;
}

const faintness = 0.2;
const mutedness = 0.5;
/** A wake glows for this share of the window after its moment. */
const glowShare = 0.05;

type Inking = Easel & { readonly theme: Inked };

/** The whole picture at the frame's moment. */
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
  drawLabels(pen, picture, easel);
  drawOutlines(pen, picture, easel);
  drawAlignment(pen, picture, easel);
  drawPlayhead(pen, picture, easel);
}

/** What happens on every lane at once, where lanes are shifted. */
function drawAlignment(pen: Pen, picture: Picture, easel: Inking): void {
  const { index, frame, layout, operation } = picture;
  const flag = axisFlag(index, frame, operation);
  if (flag === null) return;
  const { left, right, axisY: bottom } = layout;
  const x = left + (flag.t - frame.start) / layout.nsPerPx;
  const at = { x, words: flag.words, left, right, top: 3, bottom };
  drawFlag(pen, easel.theme, at, layout.fontSize);
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

/** Every mark of every lane, kind after kind. Kinds out of focus are muted. */
export function paintMarks(pen: Pen, picture: Picture, easel: Easel, alpha: number): void {
  const { index, frame } = picture;
  const strength = (list: RectList) => {
    const name = index.kinds[list.style.kind]!.name;
    return frame.focus.size === 0 || frame.focus.has(name) || list.style.colour === 'hazard'
      ? 1
      : mutedness;
  };
  for (const lane of picture.marks) {
    for (const list of lane.shares) {
      pen.globalAlpha = alpha * strength(list);
      brushShares(pen, list, paintOf(list.style, easel.theme, easel.tiles));
    }
    for (const list of lane.rects) {
      // What runs in a function is told by the state already; the bracket only stands where it is the topic.
      const named = frame.focus.has(index.kinds[list.style.kind]!.name);
      if (list.style.texture === 'bracket' && !named) continue;
      pen.globalAlpha = alpha * strength(list);
      brushRects(pen, list, paintOf(list.style, easel.theme, easel.tiles));
    }
  }
  pen.globalAlpha = 1;
}

/** Crisp 1 px lines. */
function vertical(pen: Pen, x: number, y0: number, y1: number): void {
  pen.fillRect(Math.round(x), y0, 1, y1 - y0);
}

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
  for (const row of box.hogs) {
    pen.fillRect(left, Math.round(row.top + row.height / 2), right - left, 1);
  }
  for (const row of box.strips) {
    pen.fillRect(left, row.top + row.height, right - left, 1);
  }
  const first = box.hogs[0];
  const last = box.hogs.at(-1);
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
    note(pen, theme, 'not known yet', x0, x1, top + height / 2);
  }
  if (box.evictedTo !== null) {
    pen.fillStyle = tiles('dots', { ground: theme.sunk, ink: mix(theme.faint, theme.sunk, 0.4) });
    pen.fillRect(layout.left, top, box.evictedTo - layout.left, height);
    note(pen, theme, 'no longer kept', layout.left, box.evictedTo, top + height / 2);
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
    loss.events === null ? 'events lost' : `${loss.events.toLocaleString('en-US')} events lost`;
  if (w < textWidth(pen, theme, words) + 12) return;
  pen.fillStyle = theme.hazard;
  text(pen, theme, words, x, top + height / 2, 'center');
}

function text(
  pen: Pen,
  theme: Inked,
  words: string,
  x: number,
  y: number,
  align: CanvasTextAlign,
  weight = 400,
  size = 13,
  family = theme.font,
): void {
  pen.font = `${weight} ${Math.round(size * theme.em)}px ${family}`;
  pen.textAlign = align;
  pen.textBaseline = 'middle';
  pen.fillText(words, x, y);
}

function textWidth(
  pen: Pen,
  theme: Inked,
  words: string,
  weight = 400,
  size = 13,
  family = theme.font,
) {
  pen.font = `${weight} ${Math.round(size * theme.em)}px ${family}`;
  return pen.measureText(words).width;
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
  if (wide) text(pen, theme, 'ms', layout.left - 14, y + 15 * theme.em, 'right');
  else text(pen, theme, 'ms', 4, y + 15 * theme.em, 'left');
}

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
  // Single wakes are notes with stems; in a crowd they step back behind the staves.
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

function drawLabels(pen: Pen, picture: Picture, easel: Inking): void {
  const { layout } = picture;
  const { theme } = easel;
  for (const [i, box] of layout.lanes.entries()) {
    if (picture.ownHeaders) drawHeader(pen, layout, box, theme);
    drawRowLabels(pen, layout, box, theme);
    drawStripWords(pen, picture, box, picture.marks[i]!, theme);
    drawNotes(pen, picture, box, picture.marks[i]!, theme);
    if (picture.marks[i]!.linksHidden > 0) {
      pen.fillStyle = theme.soft;
      const words = `${picture.marks[i]!.linksHidden} wakes: too many to draw at this zoom`;
      text(pen, theme, words, layout.right, box.bottom + 10, 'right');
    }
  }
}

function drawHeader(pen: Pen, layout: Layout, box: LaneBox, theme: Inked): void {
  const y = box.top + box.headerHeight / 2 - 1;
  const x = layout.margin ? layout.left : 4;
  pen.fillStyle = theme.ink;
  text(pen, theme, box.title, x, y, 'left', 650, 17);
  const titleEnd = x + textWidth(pen, theme, box.title, 650, 17) + 14;
  const unitWidth = textWidth(pen, theme, box.countUnit);
  const countWidth = textWidth(pen, theme, box.count, 600, 19) + unitWidth + 30;
  pen.fillStyle = theme.soft;
  if (titleEnd + textWidth(pen, theme, box.subtitle) < layout.right - countWidth) {
    text(pen, theme, box.subtitle, titleEnd, y + 1, 'left');
  }
  text(pen, theme, box.countUnit, layout.right, y + 1, 'right');
  pen.fillStyle = theme.ink;
  text(pen, theme, box.count, layout.right - unitWidth - 8, y, 'right', 600, 19);
}

function drawRowLabels(pen: Pen, layout: Layout, box: LaneBox, theme: Inked): void {
  const wide = layout.margin;
  const pitch = box.hogs.length > 1 ? box.hogs[1]!.top - box.hogs[0]!.top : 20;
  const x = layout.left - 16;
  pen.fillStyle = theme.soft;
  if (pitch >= 14 * theme.em) {
    for (const row of box.hogs) {
      const words = wide ? row.label : row.label.replace(/^.*-/, '').slice(0, 2);
      text(pen, theme, words, x, row.top + row.height / 2 + 0.5, 'right');
    }
  } else if (box.hogs.length > 0) {
    const middle = (box.hogs[0]!.top + box.hogs.at(-1)!.top + box.hogs.at(-1)!.height) / 2;
    const n = box.hogs.filter((row) => row.role === 'thread').length;
    text(pen, theme, wide ? `${n} hogs` : String(n), x, middle, 'right');
  }
  for (const row of box.strips) {
    pen.fillStyle = theme.soft;
    const middle = row.top + row.height / 2;
    if (row.labelAbove) {
      const words = row.aside === '' ? row.label : `${row.label}, ${row.aside}`;
      text(pen, theme, words, layout.left, row.top - 8 * theme.em, 'left');
      continue;
    }
    text(pen, theme, row.label, x, middle, 'right');
    pen.fillStyle = theme.faint;
    if (row.aside !== '') text(pen, theme, row.aside, x, middle + 14 * theme.em, 'right');
  }
}

/** Names of operations and functions, each in the middle of the part of its bracket that is in view. */
function drawNotes(pen: Pen, picture: Picture, box: LaneBox, marks: LaneMarks, theme: Inked): void {
  const { index, frame, layout } = picture;
  const over = operationNotes(layout, box, picture.operation);
  const under = functionNotes(index, layout, box, marks, frame.focus);
  /** Where the last words on a line end: words never run into each other. */
  const ends = new Map<number, number>();
  for (const { x0, x1, y, under: below, words } of [...over, ...under]) {
    pen.globalAlpha = x0 < layout.revealX ? 1 : 0.35;
    const from = Math.max(layout.left, x0);
    const to = Math.min(layout.right, x1);
    pen.fillStyle = theme.soft;
    if (!below) {
      pen.fillRect(from, y - 1, to - from, 1);
      if (x0 >= layout.left) pen.fillRect(x0, y - 1, 1, 5);
      if (x1 <= layout.right) pen.fillRect(x1 - 1, y - 1, 1, 5);
    }
    const width = textWidth(pen, theme, words);
    if (width + 8 > to - from && !below) continue;
    const middle = Math.max(
      layout.left + width / 2,
      Math.min(layout.right - width / 2, (from + to) / 2),
    );
    const at = below ? y + 9 * theme.em : y - 9 * theme.em;
    if (middle - width / 2 < (ends.get(at) ?? 0)) continue;
    ends.set(at, middle + width / 2 + 12);
    text(pen, theme, words, middle, at, 'center');
  }
  pen.globalAlpha = 1;
}

/** Words on strip marks that are wide enough for them. */
function drawStripWords(
  pen: Pen,
  picture: Picture,
  box: LaneBox,
  marks: LaneMarks,
  theme: Inked,
): void {
  const { index, layout } = picture;
  const first = box.strips[0];
  if (first === undefined) return;
  for (const list of marks.rects) {
    const kind = index.kinds[list.style.kind]!;
    if (kind.layer !== 'track' || list.style.texture === 'solid' || !kind.lesson) continue;
    const words = shortTitle(kind).split(' (')[0]!;
    const wordsWidth = textWidth(pen, theme, words);
    for (let i = 0; i < list.n * 4; i += 4) {
      const x0 = Math.max(layout.left, list.at[i]!);
      const w = Math.min(layout.right, list.at[i]! + list.at[i + 2]!) - x0;
      if (w < wordsWidth + 14) continue;
      const y = list.at[i + 1]! + list.at[i + 3]! / 2 + 0.5;
      const past = x0 < layout.revealX;
      pen.globalAlpha = past ? 1 : 0.45;
      if (list.style.texture !== 'pale') plate(pen, theme, wordsWidth, x0, y);
      pen.fillStyle = theme.ink;
      text(pen, theme, words, x0 + 7, y, 'left');
    }
  }
  pen.globalAlpha = 1;
}

/** Quiet ground under words that stand on a texture. */
function plate(pen: Pen, theme: Inked, width: number, x: number, y: number): void {
  pen.fillStyle = theme.paper;
  pen.beginPath();
  pen.roundRect(x + 3, y - 7 * theme.em, width + 8, 13 * theme.em, 4);
  pen.fill();
}

function drawOutlines(pen: Pen, picture: Picture, easel: Inking): void {
  const { frame, hover } = picture;
  if (hover !== null) outline(pen, picture, hover, easel.theme.soft, 1.5);
  if (frame.selection !== null) outline(pen, picture, frame.selection, easel.theme.ink, 2);
}

function outline(pen: Pen, picture: Picture, mark: Mark, colour: Fill, width: number): void {
  const { layout } = picture;
  const box = layout.lanes.find((b) => b.arm === mark.arm);
  const row: RowBox | undefined =
    box && [...box.hogs, ...box.strips].find((r) => r.row === mark.row);
  if (box === undefined || row === undefined) return;
  const x0 = Math.max(layout.left - 3, layout.left + (mark.t0 - box.t0) / layout.nsPerPx);
  const x1 = Math.min(layout.right + 3, layout.left + (mark.t1 - box.t0) / layout.nsPerPx);
  if (x1 < x0) return;
  pen.strokeStyle = colour;
  pen.lineWidth = width;
  pen.beginPath();
  pen.roundRect(x0 - 2.5, row.top - 3.5, Math.max(2, x1 - x0) + 5, row.height + 7, 4);
  pen.stroke();
}

function drawPlayhead(pen: Pen, picture: Picture, easel: Inking): void {
  const { layout } = picture;
  const { theme } = easel;
  if (layout.playheadX === null) return;
  const x = Math.round(layout.playheadX);
  pen.globalAlpha = 1;
  pen.fillStyle = theme.ink;
  // Strong where there is music, thin where there are words.
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
