// SPDX-License-Identifier: GPL-2.0-or-later
/** Layout and marks -> canvas. Knows no time but the frame's moment: the afterglow is computed from it. */

import { laneTime } from '../../derive/align.ts';
import type { Pen } from '../paints.ts';
import { brushRects, brushShares, paintOf } from './brush.ts';
import { paintChart } from './charts.ts';
import { type Easel, faintness, type Inked, type Inking, type Picture } from './easel.ts';
import { drawGround } from './ground.ts';
import { drawLabels } from './labels.ts';
import type { LaneBox } from './layout.ts';
import { drawAlignment, drawLinks, drawOutlines, drawPlayhead } from './over.ts';
import { paintPoints } from './point-marks.ts';
import type { RectList } from './rects.ts';

/** How strong is what the step does not speak of. */
export const mutedness = 0.5;

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
  for (const box of layout.lanes) drawExtras(pen, picture, box, easel.theme);
  drawLabels(pen, picture, easel);
  drawOutlines(pen, picture, easel);
  drawAlignment(pen, picture, easel);
  drawPlayhead(pen, picture, easel);
}

/** Lines that the view has added. */
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

/** Every mark of every lane, kind after kind. Kinds out of focus are muted. */
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
      // The state already says what runs in a function; the bracket only stands where it is the topic.
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
