// SPDX-License-Identifier: GPL-2.0-or-later
/** What stands over the marks: links, outlines of what is pointed at, the shared moment, the playhead. */

import { axisFlag } from '../../derive/align.ts';
import type { Mark } from '../../derive/types.ts';
import { drawFlag } from '../axis.ts';
import type { Fill, Pen } from '../paints.ts';
import { faintness, type Inking, type Picture, text, textWidth } from './easel.ts';
import type { LaneBox } from './layout.ts';
import { lineOf } from './line-of.ts';
import type { LaneMarks } from './marks.ts';

/** A link glows for this share of the window after its moment. */
const glowShare = 0.05;

export function drawLinks(
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

export function drawOutlines(pen: Pen, picture: Picture, easel: Inking): void {
  const { frame, hover } = picture;
  pen.setLineDash([5, 3]);
  for (const mark of frame.spoken ?? []) outline(pen, picture, mark, easel.theme.ink, 1.5);
  pen.setLineDash([]);
  if (hover !== null) outline(pen, picture, hover, easel.theme.soft, 1.5);
  if (frame.selection !== null) outline(pen, picture, frame.selection, easel.theme.ink, 2);
}

function outline(pen: Pen, picture: Picture, mark: Mark, colour: Fill, width: number): void {
  const { layout, score } = picture;
  const box = layout.lanes.find((b) => b.arm === mark.arm);
  const row = box && lineOf(box, mark, score);
  if (!box || !row) return;
  const x0 = Math.max(layout.left - 3, layout.left + (mark.t0 - box.t0) / layout.nsPerPx);
  const x1 = Math.min(layout.right + 3, layout.left + (mark.t1 - box.t0) / layout.nsPerPx);
  if (x1 < x0) return;
  pen.strokeStyle = colour;
  pen.lineWidth = width;
  pen.beginPath();
  pen.roundRect(x0 - 2.5, row.top - 3.5, Math.max(2, x1 - x0) + 5, row.height + 7, 4);
  pen.stroke();
}

export function drawPlayhead(pen: Pen, picture: Picture, easel: Inking): void {
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

/** What happens on every lane at once, where lanes are shifted. */
export function drawAlignment(pen: Pen, picture: Picture, easel: Inking): void {
  const { index, frame, layout, score } = picture;
  const flag = axisFlag(index, frame, score.operation.name);
  if (flag === null) return;
  const { left, right, axisY: bottom } = layout;
  const x = left + (flag.t - frame.start) / layout.nsPerPx;
  const at = { x, words: flag.words, left, right, top: 3, bottom };
  drawFlag(pen, easel.theme, at, layout.fontSize);
}
