// SPDX-License-Identifier: GPL-2.0-or-later
/** What a drawing is made of, and small strokes that all its parts use. */

import type { Theme } from '../../base/theme.ts';
import type { Frame, Mark, RunIndex } from '../../derive/types.ts';
import type { Pen, TileMaker } from '../paints.ts';
import type { Layout } from './layout.ts';
import type { LaneMarks } from './marks.ts';
import type { Score } from './score.ts';

export interface Picture {
  readonly index: RunIndex;
  readonly frame: Frame;
  readonly layout: Layout;
  readonly marks: readonly LaneMarks[];
  readonly hover: Mark | null;
  readonly score: Score;
}

export interface Easel {
  readonly theme: Theme;
  readonly tiles: TileMaker;
  /** The marks drawn once for this window, to be stamped; null draws them stroke by stroke. */
  readonly stamp: { readonly image: CanvasImageSource; readonly dpr: number } | null;
}

/** A theme with the size of its text: 1 em is 13 px. */
export type Inked = Theme & { readonly em: number };

export type Inking = Easel & { readonly theme: Inked };

/** Of what has not happened yet at the moment. */
export const faintness = 0.2;
/** Words on it are to be read all the same: 4.5:1 for ink, and for soft ink. */
export const faintInk = 0.68;
export const faintSoft = 0.85;

/** Crisp 1 px lines. */
export function vertical(pen: Pen, x: number, y0: number, y1: number): void {
  pen.fillRect(Math.round(x), y0, 1, y1 - y0);
}

export function text(
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

export function textWidth(
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

/** As much of the words as has room, with an ellipsis for the rest. */
export function fitted(pen: Pen, theme: Inked, words: string, width: number): string {
  if (textWidth(pen, theme, words) <= width) return words;
  let short = words;
  while (short.length > 1 && textWidth(pen, theme, `${short}…`) > width) short = short.slice(0, -1);
  return `${short.trimEnd()}…`;
}

/** Words on a plate of paper, so that lines do not run through them; those behind `|` only where there is room. */
export function plated(pen: Pen, theme: Inked, said: string, x: number, y: number, width: number) {
  const [first, rest] = said.split('|') as [string, string?];
  const all = first + (rest ?? '');
  const words = textWidth(pen, theme, all, 500) <= width ? all : first;
  const ink = pen.fillStyle;
  pen.globalAlpha = 0.8;
  pen.fillStyle = theme.paper;
  pen.fillRect(x - 2, y - 8 * theme.em, textWidth(pen, theme, words, 500) + 6, 16 * theme.em);
  pen.globalAlpha = 1;
  pen.fillStyle = ink;
  text(pen, theme, words, x, y, 'left', 500);
}
