// SPDX-License-Identifier: GPL-2.0-or-later
/** Theme colours, and textures as canvas patterns. */

import type { Theme } from '../base/theme.ts';

/** The part of a 2D context that views can use. Tests record calls to it. */
export type Pen = Pick<
  CanvasRenderingContext2D,
  | 'save'
  | 'restore'
  | 'beginPath'
  | 'moveTo'
  | 'lineTo'
  | 'rect'
  | 'roundRect'
  | 'arc'
  | 'clip'
  | 'fill'
  | 'stroke'
  | 'fillRect'
  | 'strokeRect'
  | 'clearRect'
  | 'fillText'
  | 'measureText'
  | 'setLineDash'
  | 'setTransform'
  | 'drawImage'
  | 'globalAlpha'
  | 'fillStyle'
  | 'strokeStyle'
  | 'lineWidth'
  | 'lineCap'
  | 'font'
  | 'textAlign'
  | 'textBaseline'
>;

export type Fill = string | CanvasPattern;

/** Event that makes a canvas redraw itself with the pen in the event's `detail`. */
export const redrawEvent = 'duet-redraw';

/** A pattern or image that can be drawn again: the SVG pen (svg/) repeats the drawing with shapes instead of pixels. */
export interface Drawn {
  readonly width: number;
  readonly height: number;
  readonly by: (pen: Pen) => void;
}

export function drawnBy<T extends object>(made: T, drawn: Drawn): T & { readonly drawn: Drawn } {
  return Object.assign(made, { drawn });
}

function channels(hex: string): [number, number, number] {
  const n = Number.parseInt(hex.slice(1), 16);
  return [(n >> 16) & 255, (n >> 8) & 255, n & 255];
}

/** Mix `share` of a colour into a ground colour, as #rrggbb. */
export function mix(colour: string, ground: string, share: number): string {
  const a = channels(colour);
  const b = channels(ground);
  const parts = a.map((c, i) => Math.round(c * share + b[i]! * (1 - share)));
  return `#${parts.map((c) => c.toString(16).padStart(2, '0')).join('')}`;
}

export type Tile = 'slash' | 'backslash' | 'dots' | 'dashes' | 'stripes' | 'fog';

export interface TileInk {
  readonly ground: string;
  readonly ink: string;
}

/** Creates a fill that repeats a tile. Tests have no canvas, so they use the tile's name as the fill. */
export type TileMaker = (tile: Tile, ink: TileInk) => Fill;

export const namedTiles: TileMaker = (tile, { ground, ink }) => `${tile} ${ink} on ${ground}`;

const tileSizes: Readonly<Record<Tile, readonly [number, number]>> = {
  slash: [7, 7],
  backslash: [5, 5],
  dots: [6, 6],
  dashes: [8, 6],
  stripes: [4, 4],
  fog: [12, 12],
};

type TilePen = Pick<
  Pen,
  | 'beginPath'
  | 'moveTo'
  | 'lineTo'
  | 'arc'
  | 'fill'
  | 'stroke'
  | 'fillRect'
  | 'fillStyle'
  | 'strokeStyle'
  | 'lineWidth'
>;

function drawTile(ctx: TilePen, tile: Tile, { ground, ink }: TileInk): void {
  const [w, h] = tileSizes[tile];
  ctx.fillStyle = ground;
  ctx.fillRect(0, 0, w, h);
  ctx.fillStyle = ink;
  ctx.strokeStyle = ink;
  const diagonal = (up: boolean, width: number) => {
    ctx.lineWidth = width;
    ctx.beginPath();
    for (const shift of [-w, 0, w]) {
      ctx.moveTo(shift - 1, up ? h + 1 : -1);
      ctx.lineTo(shift + w + 1, up ? -1 : h + 1);
    }
    ctx.stroke();
  };
  switch (tile) {
    case 'slash':
      return diagonal(true, 2);
    case 'backslash':
      return diagonal(false, 1.3);
    case 'fog':
      return diagonal(true, 1);
    case 'dots':
      ctx.beginPath();
      ctx.arc(1.5, 1.5, 0.9, 0, 7);
      ctx.arc(4.5, 4.5, 0.9, 0, 7);
      return ctx.fill();
    case 'dashes':
      ctx.fillRect(1, 2.5, 4, 1);
      return;
    case 'stripes':
      ctx.fillRect(0, 0, 2, h);
      return;
  }
}

/** Creates patterns at the display's resolution, and caches them. */
export function canvasTiles(dpr: number): TileMaker {
  if (typeof OffscreenCanvas === 'undefined') return namedTiles;
  const made = new Map<string, Fill>();
  return (tile, ink) => {
    const key = `${tile}${ink.ground}${ink.ink}`;
    const known = made.get(key);
    if (known !== undefined) return known;
    const [w, h] = tileSizes[tile];
    const canvas = new OffscreenCanvas(Math.round(w * dpr), Math.round(h * dpr));
    const ctx = canvas.getContext('2d');
    const fill = ((): Fill => {
      if (ctx === null) return ink.ground;
      ctx.scale(canvas.width / w, canvas.height / h);
      drawTile(ctx, tile, ink);
      const pattern = ctx.createPattern(canvas, 'repeat');
      if (pattern === null) return ink.ground;
      pattern.setTransform(new DOMMatrix().scale(w / canvas.width, h / canvas.height));
      return drawnBy(pattern, { width: w, height: h, by: (pen) => drawTile(pen, tile, ink) });
    })();
    made.set(key, fill);
    return fill;
  };
}

/** The fills for one kind of mark. */
export interface Paint {
  /** Fill for marks at least 6 px wide. */
  readonly wide: Fill;
  readonly border: string | null;
  /** Fill for narrower marks: one flat colour. */
  readonly narrow: string;
}

/** Look up the colour of the theme that has this meaning, for text and lines. */
export function colourOf(theme: Theme, colour: string): string {
  const known = (theme as unknown as Record<string, string>)[colour];
  return known ?? theme.other;
}

// Choose a wording that fits the width of its picture.

/**
 * Return the first wording that fits the width. The list is ordered from long to short; if none fits, return the last.
 */
export function fitting(
  pen: { measureText(text: string): { readonly width: number } },
  wordings: readonly string[],
  room: number,
): string {
  return wordings.find((words) => pen.measureText(words).width <= room) ?? wordings.at(-1) ?? '';
}
