// SPDX-License-Identifier: GPL-2.0-or-later
/** Words of a picture: headers, names of rows, names on marks that have room for them. */

import { t as tr } from '../../base/lang/t.ts';
import { formatFigure, plural } from '../../base/units.ts';
import { laneTime } from '../../derive/align.ts';
import { steady } from '../../derive/figures.ts';
import { severalOf } from '../../derive/words.ts';
import type { Pen } from '../paints.ts';
import { functionNotes, operationNotes } from './annotate.ts';
import {
  faintSoft,
  fitted,
  type Inked,
  type Inking,
  type Picture,
  plated,
  text,
  textWidth,
} from './easel.ts';
import { type LaneBox, type Layout, namedPitch } from './layout.ts';
import type { LaneMarks } from './marks.ts';
import { valueAt } from './series.ts';
import { drawCpuWords, drawSpanWords } from './words-on-marks.ts';

export function drawLabels(pen: Pen, picture: Picture, easel: Inking): void {
  const { layout } = picture;
  const { theme } = easel;
  for (const [i, box] of layout.lanes.entries()) {
    if (picture.score.ownHeaders) drawHeader(pen, layout, box, theme);
    drawRowLabels(pen, picture, box, theme);
    drawSpanWords(pen, picture, box, picture.marks[i]!, theme);
    drawChartWords(pen, picture, box, picture.marks[i]!, theme);
    if (picture.score.rows === 'cpus') drawCpuWords(pen, picture, box, theme);
    drawNotes(pen, picture, box, theme);
    if (picture.marks[i]!.linksHidden > 0) {
      pen.fillStyle = theme.soft;
      const words = tr('{linksHidden} links: too many to draw at this zoom', {
        linksHidden: picture.marks[i]!.linksHidden,
      });
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

function drawRowLabels(pen: Pen, picture: Picture, box: LaneBox, theme: Inked): void {
  const { layout, score } = picture;
  const wide = layout.margin;
  const x = layout.left - 16;
  const name = (words: string, y: number) =>
    text(pen, theme, fitted(pen, theme, words, x - 2), x, y, 'right');
  pen.fillStyle = theme.soft;
  if (pitchOf(box) >= namedPitch * theme.em) {
    for (const row of box.rows) {
      const words = wide ? row.label : row.label.replace(/^.*[- ]/, '').slice(0, 2);
      name(words, row.top + row.height / 2 + 0.5);
    }
  } else if (box.rows.length > 0) {
    const middle = (box.rows[0]!.top + box.rows.at(-1)!.top + box.rows.at(-1)!.height) / 2;
    const n = box.rows.filter((row) => row.role === 'thread').length;
    const words =
      score.rows === 'cpus' ? `${n} CPUs` : plural(n, score.thread, severalOf(score.thread));
    text(pen, theme, wide ? words : String(n), x, middle, 'right');
  }
  for (const row of box.lines) {
    if (row.what === 'row' || row.what === 'function' || row.what === 'counter') continue;
    pen.fillStyle = theme.soft;
    const middle = row.top + row.height / 2;
    if (row.labelOn) {
      if (row.label !== '') plated(pen, theme, row.label, layout.left + 4, middle, Infinity);
      continue;
    }
    if (row.labelAbove) {
      const words = row.aside === '' ? row.label : `${row.label}, ${row.aside}`;
      text(pen, theme, words, layout.left, row.top - 8 * theme.em, 'left');
      continue;
    }
    name(row.label, middle);
    pen.fillStyle = theme.faint;
    if (row.aside !== '') text(pen, theme, row.aside, x, middle + 14 * theme.em, 'right');
  }
}

/** The least distance between two rows, px. */
function pitchOf(box: LaneBox): number {
  const tops = box.rows.map((row) => row.top);
  return Math.min(...tops.slice(1).map((top, i) => top - tops[i]!), tops.length === 1 ? 20 : 1e3);
}

/** Names of operations and functions, each in the middle of the part of its bracket that is in view. */
function drawNotes(pen: Pen, picture: Picture, box: LaneBox, theme: Inked): void {
  const { index, frame, layout } = picture;
  const over = operationNotes(layout, box, picture.score.operation.name);
  const brackets = picture.score.look.functions === 'brackets';
  const under = brackets ? functionNotes(index, layout, box, frame.focus) : [];
  /** Where the last words on a line end: words never run into each other. */
  const ends = new Map<number, number>();
  for (const { x0, x1, y, under: below, words } of [...over, ...under]) {
    pen.globalAlpha = x0 < layout.revealX ? 1 : faintSoft;
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

/** Of each counter its name, its value at the moment, and the top of its scale. */
function drawChartWords(
  pen: Pen,
  picture: Picture,
  box: LaneBox,
  marks: LaneMarks,
  theme: Inked,
): void {
  const { frame, layout } = picture;
  const x = layout.left - 16;
  for (const { line, series, top } of marks.charts) {
    const t = Math.min(laneTime(frame.offset, box.arm, frame.moment), box.lane.watermark);
    const value = t < box.t0 ? null : valueAt(box.lane, series, box.t0, t);
    const now = value === null ? '–' : `${formatFigure(value)}${series.adds ? tr(' in view') : ''}`;
    const words = steady(`counter ${series.name} ${box.arm}`, now);
    pen.fillStyle = theme.soft;
    if (line.labelAbove) {
      text(pen, theme, `${line.label}: ${words}`, layout.left, line.top - 8 * theme.em, 'left');
    } else {
      const middle = line.top + line.height / 2;
      const two = line.height >= 32 * theme.em;
      text(
        pen,
        theme,
        fitted(pen, theme, line.label, x - 2),
        x,
        middle - (two ? 9 * theme.em : 0),
        'right',
      );
      pen.fillStyle = theme.ink;
      if (two) text(pen, theme, words, x, middle + 9 * theme.em, 'right', 500, 13, theme.mono);
    }
    pen.fillStyle = theme.faint;
    const [scaleX, side] = line.labelAbove
      ? [layout.right - 4, 'right' as const]
      : [layout.left + 5, 'left' as const];
    text(pen, theme, formatFigure(top), scaleX, line.top + 6 * theme.em, side);
  }
}
