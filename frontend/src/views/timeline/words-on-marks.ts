// SPDX-License-Identifier: GPL-2.0-or-later
/** Words on marks that are wide enough for them. */

import { touching } from '../../derive/query.ts';
import { shortTitle } from '../../derive/words.ts';
import type { Pen } from '../paints.ts';
import { faintInk, type Inked, type Picture, text, textWidth } from './easel.ts';
import type { LaneBox } from './layout.ts';
import type { LaneMarks } from './marks.ts';

/** Words on phases and calls that are wide enough for them. */
export function drawSpanWords(
  pen: Pen,
  picture: Picture,
  box: LaneBox,
  marks: LaneMarks,
  theme: Inked,
): void {
  const { index, layout } = picture;
  // Where the name of a line stands on it, words begin behind it.
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

/** Who has the CPU, where rows are CPUs. */
export function drawCpuWords(pen: Pen, picture: Picture, box: LaneBox, theme: Inked): void {
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

/** Quiet ground under words that stand on a texture. */
function plate(pen: Pen, theme: Inked, width: number, x: number, y: number): void {
  pen.globalAlpha = 1;
  pen.fillStyle = theme.paper;
  pen.beginPath();
  pen.roundRect(x + 3, y - 7 * theme.em, width + 8, 13 * theme.em, 4);
  pen.fill();
}
