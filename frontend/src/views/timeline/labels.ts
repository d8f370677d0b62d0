// SPDX-License-Identifier: GPL-2.0-or-later
/** Text in a picture: headers, row names, and names on marks that are wide enough. */

import { firstAtLeast } from '../../base/columns.ts';
import { t as tr } from '../../base/lang/t.ts';
import { formatFigure, plural } from '../../base/units.ts';
import { laneTime } from '../../derive/align.ts';
import { frozenText, lengthOf } from '../../derive/figures.ts';
import { touching } from '../../derive/query.ts';
import type { Mark, RunIndex } from '../../derive/types.ts';
import { severalOf, shortTitle } from '../../derive/words.ts';
import type { Pen } from '../paints.ts';
import { opMark, spanMark } from './describe.ts';
import {
  faintInk,
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
import { type Line, openFunctions, valueAt } from './lines.ts';
import type { LaneMarks } from './marks.ts';
import { stylesFor } from './score.ts';

// The name of an operation or function in the picture.
// With few threads, operation names fit above the row, and function names below the row.

export interface Note {
  /** Both ends of the bracket between the name and its row, px. The bracket is open towards the row. */
  readonly x0: number;
  readonly x1: number;
  readonly y: number;
  /** Whether the bracket is below the row; otherwise it is above the row. */
  readonly under: boolean;
  readonly words: string;
}

const leastPx = 24;
const most = 40;

/** Names of operations that touch the window, above the operations' rows. */
function operationNotes(layout: Layout, box: LaneBox, name: string): Note[] {
  if (!box.annotated) return [];
  const { ops, opsByEnd } = box.lane;
  const { order, length } = opsByEnd;
  const end = box.t0 + (layout.right - layout.left) * layout.nsPerPx;
  const notes: Note[] = [];
  const rows = new Map(box.rows.map((row) => [row.row, row]));
  const x = (t: number) => layout.left + (t - box.t0) / layout.nsPerPx;
  let p = firstAtLeast(length, (i) => ops.t1[order[i]!]!, box.t0);
  for (; p < length && notes.length < most; p++) {
    const i = order[p]!;
    const row = rows.get(ops.row[i]!);
    // Operations are sorted by their end, so an operation that ends after the window can still begin inside the window.
    if (ops.t1[i]! > end + (end - box.t0)) break;
    const [x0, x1] = [x(ops.t0[i]!), x(ops.t1[i]!)];
    if (row === undefined || x0 > layout.right || x1 - x0 < leastPx) continue;
    const words = `${name}, ${lengthOf(opMark(box.lane, i))}`;
    notes.push({ x0, x1, y: row.top - 6, under: false, words });
  }
  return notes;
}

/**
 * Names of the functions in focus, below their rows, if the bracket is wide enough. Each name is followed by the
 * duration of the complete call, even if part of the call is outside the window.
 */
function functionNotes(
  index: RunIndex,
  layout: Layout,
  box: LaneBox,
  focus: ReadonlySet<string>,
): Note[] {
  if (!box.annotated) return [];
  const { lane, t0 } = box;
  const styles = stylesFor(index.kinds, 'brackets');
  const width = layout.right - layout.left;
  const x = (t: number) => layout.left + Math.max(0, Math.min(width, (t - t0) / layout.nsPerPx));
  const notes: Note[] = [];
  const add = (row: Line, mark: Mark) => {
    const kind = index.kinds[mark.kind]!;
    const [x0, x1] = [x(mark.t0), x(mark.t1)];
    if (styles[mark.kind]!.texture !== 'bracket' || !focus.has(kind.name)) return;
    if (x1 - x0 < leastPx || notes.length >= most) return;
    const words = `${shortTitle(kind)}, ${lengthOf(mark)}${mark.open ? tr(' so far') : ''}`;
    notes.push({ x0, x1, y: row.top + row.height + 4, under: true, words });
  };
  for (const row of box.rows) {
    const strand = lane.strand(row.row, 'function');
    if (strand !== null) {
      const { from, to } = touching(lane.spans, strand, t0, t0 + width * layout.nsPerPx);
      // If a row has too many calls in the window, no brackets are drawn, so names are omitted too.
      if (to - from > width / 3) continue;
      for (let p = from; p < to; p++) add(row, spanMark(lane, strand.order[p]!, false));
    }
    for (const i of openFunctions(lane, row.row)) add(row, spanMark(lane, i, true));
  }
  return notes;
}

// Text on marks that are wide enough.

/** Write text on phases and calls that are wide enough. */
function drawSpanWords(
  pen: Pen,
  picture: Picture,
  box: LaneBox,
  marks: LaneMarks,
  theme: Inked,
): void {
  const { index, layout } = picture;
  // If a line's name is drawn on the line itself, text on marks begins after the name.
  const named = box.lines.filter((line) => line.labelOn && line.label !== '');
  const leftAt = (y: number) => {
    const line = named.find(({ top, height }) => y >= top - 1 && y <= top + height);
    return layout.left + (line === undefined ? 0 : textWidth(pen, theme, line.label, 500) + 14);
  };
  for (const list of marks.rects) {
    const kind = index.kinds[list.style.kind]!;
    const { texture } = list.style;
    const band = kind.layer === 'function' && texture === 'band';
    if (!band && (kind.layer !== 'track' || texture === 'solid' || !kind.lesson)) continue;
    const words = shortTitle(kind).split(' (')[0]!;
    const wordsWidth = textWidth(pen, theme, words);
    for (let i = 0; i < list.n * 4; i += 4) {
      const x0 = Math.max(leftAt(list.at[i + 1]!), list.at[i]!);
      const w = Math.min(layout.right, list.at[i]! + list.at[i + 2]!) - x0;
      if (w < wordsWidth + 14 || (band && list.at[i + 3]! < 13 * theme.em)) continue;
      const y = list.at[i + 1]! + list.at[i + 3]! / 2 + 0.5;
      const past = x0 < layout.revealX;
      if (texture !== 'pale' && !band) plate(pen, theme, wordsWidth, x0, y);
      pen.globalAlpha = past ? 1 : faintInk;
      pen.fillStyle = theme.ink;
      text(pen, theme, words, x0 + 7, y, 'left');
    }
  }
  pen.globalAlpha = 1;
}

/** If rows are CPUs, write the name of the thread that the CPU is running. */
function drawCpuWords(pen: Pen, picture: Picture, box: LaneBox, theme: Inked): void {
  const { layout } = picture;
  const { spans } = box.lane;
  const end = box.t0 + (layout.right - layout.left) * layout.nsPerPx;
  for (const { strand, top, height } of box.rows) {
    if (strand === null || height < 13 * theme.em) continue;
    const { from, to } = touching(spans, strand, box.t0, end);
    if (to - from > layout.right - layout.left) continue;
    for (let p = from; p < to; p++) {
      const i = strand.order[p]!;
      const x0 = Math.max(layout.left, layout.left + (spans.t0[i]! - box.t0) / layout.nsPerPx);
      const x1 = Math.min(layout.right, layout.left + (spans.t1[i]! - box.t0) / layout.nsPerPx);
      if (x1 - x0 < 24) continue;
      const words = box.lane.rows.find(({ row }) => row === spans.row[i])?.name ?? '';
      if (x1 - x0 < textWidth(pen, theme, words) + 12) continue;
      pen.globalAlpha = x0 < layout.revealX ? 1 : faintInk;
      pen.fillStyle = theme.ink;
      text(pen, theme, words, x0 + 6, top + height / 2 + 0.5, 'left');
    }
  }
  pen.globalAlpha = 1;
}

/** Draw a plain background, so that text on a texture is readable. */
function plate(pen: Pen, theme: Inked, width: number, x: number, y: number): void {
  pen.globalAlpha = 1;
  pen.fillStyle = theme.paper;
  pen.beginPath();
  pen.roundRect(x + 3, y - 7 * theme.em, width + 8, 13 * theme.em, 4);
  pen.fill();
}

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

/** Minimum distance between the tops of two rows, px. */
function pitchOf(box: LaneBox): number {
  const tops = box.rows.map((row) => row.top);
  return Math.min(...tops.slice(1).map((top, i) => top - tops[i]!), tops.length === 1 ? 20 : 1e3);
}

/** Write the names of operations and functions, each centred in the visible part of its bracket. */
function drawNotes(pen: Pen, picture: Picture, box: LaneBox, theme: Inked): void {
  const { index, frame, layout } = picture;
  const over = operationNotes(layout, box, picture.score.operation.name);
  const brackets = picture.score.look.functions === 'brackets';
  const under = brackets ? functionNotes(index, layout, box, frame.focus) : [];
  /** End of the last text at each height, so that texts never overlap. */
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

/** Write each counter's name, its value at the moment, and the top of its scale. */
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
    const words = frozenText(`counter ${series.name} ${box.arm}`, now);
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
    pen.fillStyle = theme.soft;
    const scale = formatFigure(top);
    const wide = textWidth(pen, theme, scale, 500);
    const scaleX = line.labelAbove ? layout.right - 4 - wide : layout.left + 5;
    // The chart may reach the top, so the number has a plate.
    plated(pen, theme, scale, scaleX, line.top + 7 * theme.em, wide);
  }
}
