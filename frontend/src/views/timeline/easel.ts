// SPDX-License-Identifier: GPL-2.0-or-later
/** Drawing tools: the easel, and small strokes that all parts of the picture use. */

import type { Theme } from '../../base/theme.ts';
import type { Frame, Mark, RunIndex } from '../../derive/types.ts';
import { colourOf, mix, type Paint, type Pen, type TileMaker } from '../paints.ts';
import type { Layout } from './layout.ts';
import type { LaneMarks } from './marks.ts';
import type { MarkStyle, RectList, Score } from './score.ts';

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
  /**
   * An image of the window's marks, painted once and copied into each frame. Null if each frame draws the marks anew.
   */
  readonly stamp: { readonly image: CanvasImageSource; readonly dpr: number } | null;
}

/** A theme that also contains the text size. 1 em is 13 px. */
export type Inked = Theme & { readonly em: number };

export type Inking = Easel & { readonly theme: Inked };

/** Opacity of marks after the moment. */
export const faintness = 0.2;
/** Opacity of text on marks after the moment. The contrast is still 4.5:1, for ink and for soft ink. */
export const faintInk = 0.68;
export const faintSoft = 0.85;

/** Draw a vertical line that is exactly 1 px wide. */
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

/** Shorten the text to the longest prefix that fits, and append an ellipsis. */
export function fitted(pen: Pen, theme: Inked, words: string, width: number): string {
  if (textWidth(pen, theme, words) <= width) return words;
  let short = words;
  while (short.length > 1 && textWidth(pen, theme, `${short}…`) > width) short = short.slice(0, -1);
  return `${short.trimEnd()}…`;
}

/** Draw text on a background of paper, so that no line crosses it. The part after `|` is drawn only if it fits. */
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

// Draws the rectangles of a kind. The picture and the legend's swatches use the same brush.

/**
 * Minimum width of a mark with texture, px. Narrower marks are flat, because a texture would flicker. The second
 * minimum is for kinds outside the lesson.
 */
const texturedFrom = 6;
const dismissedFrom = 14;
/**
 * Share of ink in the outline that separates a pale mark from the page. It is high, because a step may be about a pale
 * mark.
 */
const edge = 0.97;
/** Shares of the colour in a band. They are small, because names are written on the band. */
const bandShares = [0.24, 0.4, 0.12];

export function paintOf(style: MarkStyle, theme: Theme, tiles: TileMaker): Paint {
  const colour = colourOf(theme, style.colour);
  const ground = theme.paper;
  const ink = mix(colour, ground, 0.92);
  switch (style.texture) {
    case 'solid':
    case 'bracket':
      return { wide: colour, border: null, narrow: colour };
    case 'band': {
      const share = bandShares[style.shade % bandShares.length]!;
      const flat = mix(colour, ground, Math.min(1, share + 0.25));
      return { wide: mix(colour, ground, share), border: flat, narrow: flat };
    }
    case 'line':
      return {
        wide: mix(theme.work, ground, 0.62),
        border: null,
        narrow: mix(theme.work, ground, 0.62),
      };
    case 'hatch':
      return {
        wide: tiles('slash', { ground: mix(colour, ground, 0.13), ink }),
        border: colour,
        narrow: colour,
      };
    case 'backhatch':
      return {
        wide: tiles('backslash', { ground: mix(colour, ground, 0.3), ink }),
        border: colour,
        narrow: colour,
      };
    case 'dots':
      return {
        wide: tiles('dots', {
          ground: mix(theme.vain, ground, 0.06),
          ink: mix(theme.vain, ground, 0.75),
        }),
        border: mix(theme.vain, ground, edge),
        narrow: mix(theme.vain, ground, 0.4),
      };
    case 'dashes':
      return {
        wide: tiles('dashes', {
          ground: mix(theme.vain, ground, 0.06),
          ink: mix(theme.vain, ground, 0.75),
        }),
        border: mix(theme.vain, ground, edge),
        narrow: mix(theme.vain, ground, 0.4),
      };
    case 'outline':
    case 'hollow':
      return {
        wide: mix(theme.vain, ground, 0.04),
        border: mix(theme.vain, ground, 0.6),
        narrow: mix(theme.vain, ground, 0.3),
      };
    case 'pale':
      return {
        wide: mix(colour, ground, 0.2),
        // The colour of kinds outside the lesson would be too faint in an outline on a projector.
        border:
          style.colour === 'other' ? mix(theme.vain, ground, edge) : mix(colour, ground, 0.85),
        narrow: mix(colour, ground, 0.5),
      };
    case 'paledots':
      return {
        wide: tiles('dots', { ground: mix(colour, ground, 0.1), ink: mix(colour, ground, 0.7) }),
        border: mix(colour, ground, 0.85),
        narrow: mix(colour, ground, 0.5),
      };
    case 'stripes':
      return {
        wide: tiles('stripes', { ground: mix(colour, ground, 0.35), ink: colour }),
        border: colour,
        narrow: colour,
      };
    case 'cross':
      return { wide: mix(colour, ground, 0.12), border: colour, narrow: colour };
  }
}

/** Draw all rectangles of one kind. */
export function brushRects(pen: Pen, list: RectList, paint: Paint): void {
  const { texture } = list.style;
  if (texture === 'line') return brushLines(pen, list, paint);
  if (texture === 'bracket') return brushBrackets(pen, list, paint);
  const { at, n } = list;
  const wideFrom = list.style.colour === 'other' ? dismissedFrom : texturedFrom;
  pen.fillStyle = paint.narrow;
  let wide = 0;
  for (let i = 0; i < n * 4; i += 4) {
    if (at[i + 2]! < wideFrom) pen.fillRect(at[i]!, at[i + 1]!, at[i + 2]!, at[i + 3]!);
    else wide += 1;
  }
  if (wide === 0) return;
  pen.beginPath();
  for (let i = 0; i < n * 4; i += 4) {
    const w = at[i + 2]!;
    if (w < wideFrom) continue;
    const inset = paint.border === null ? 0 : 0.5;
    const radius = Math.min(3, at[i + 3]! / 4, w / 5);
    pen.roundRect(
      at[i]! + inset,
      at[i + 1]! + inset,
      w - 2 * inset,
      at[i + 3]! - 2 * inset,
      radius,
    );
  }
  pen.fillStyle = paint.wide;
  pen.fill();
  if (paint.border === null) return;
  pen.strokeStyle = paint.border;
  pen.lineWidth = texture === 'cross' ? 1.5 : 1;
  pen.stroke();
  if (texture === 'cross') brushCrosses(pen, list);
}

/** Draw the state "runnable, but not running" as a thin line in the middle of the row. */
function brushLines(pen: Pen, list: RectList, paint: Paint): void {
  const { at, n } = list;
  pen.fillStyle = paint.wide;
  for (let i = 0; i < n * 4; i += 4) {
    pen.fillRect(at[i]!, Math.round(at[i + 1]! + at[i + 3]! / 2) - 1, at[i + 2]!, 2);
  }
}

/** Draw the time inside a function as a line below the row, with feet at both ends. */
function brushBrackets(pen: Pen, list: RectList, paint: Paint): void {
  const { at, n } = list;
  pen.fillStyle = paint.wide;
  for (let i = 0; i < n * 4; i += 4) {
    const [x, w] = [at[i]!, at[i + 2]!];
    const y = at[i + 1]! + at[i + 3]! + 1;
    pen.fillRect(x, y, w, 1.5);
    if (w < 4) continue;
    pen.fillRect(x, y - 2, 1.5, 3);
    pen.fillRect(x + w - 1.5, y - 2, 1.5, 3);
  }
}

function brushCrosses(pen: Pen, list: RectList): void {
  const { at, n } = list;
  pen.beginPath();
  for (let i = 0; i < n * 4; i += 4) {
    const w = at[i + 2]!;
    if (w < 10) continue;
    const x = at[i]! + Math.min(w / 2, 9);
    const y = at[i + 1]! + at[i + 3]! / 2;
    const r = Math.min(4, at[i + 3]! / 3);
    pen.moveTo(x - r, y - r);
    pen.lineTo(x + r, y + r);
    pen.moveTo(x + r, y - r);
    pen.lineTo(x - r, y + r);
  }
  pen.lineWidth = 1.75;
  pen.stroke();
}

/** Draw the shares of columns in flat colours, because a column is only 3 px wide. */
export function brushShares(pen: Pen, list: RectList, paint: Paint): void {
  const { at, n } = list;
  pen.fillStyle = paint.narrow;
  for (let i = 0; i < n * 4; i += 4) pen.fillRect(at[i]!, at[i + 1]!, at[i + 2]!, at[i + 3]!);
}
