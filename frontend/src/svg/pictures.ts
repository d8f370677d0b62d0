// SPDX-License-Identifier: GPL-2.0-or-later
/** What a view has drawn beforehand, as a picture or a pattern: written once to a sheet and used from there. */

import type { Drawn } from '../views/paints.ts';
import type { Part, Sheet } from './sheet.ts';
import { type Matrix, matrixWords, type State, type Style } from './state.ts';
import type { Writer } from './writer.ts';
import { type Attributes, attributes, escaped, ink } from './xml.ts';

/** Draws with a pen of its own -> SVG. */
type Draw = (drawn: Drawn) => string;

function drawnOf(made: unknown): Drawn | null {
  return (made as { readonly drawn?: Drawn }).drawn ?? null;
}

export class Pictures {
  readonly #sheet: Sheet;
  readonly #draw: Draw;

  constructor(sheet: Sheet, draw: Draw) {
    this.#sheet = sheet;
    this.#draw = draw;
  }

  /** A style as attributes; patterns are defined on the sheet. */
  ink(what: 'fill' | 'stroke', style: Style, alpha: number): Attributes {
    if (typeof style === 'string') return ink(what, style, alpha);
    const drawn = drawnOf(style);
    if (drawn === null) throw new Error('a pattern does not say what it was drawn by');
    const { width, height } = drawn;
    const id = this.#sheet.define(style, (name) => {
      const size = attributes({ patternUnits: 'userSpaceOnUse', width, height });
      return `<pattern id="${name}"${size}>${this.#draw(drawn)}</pattern>`;
    });
    return { ...ink(what, '#000000', alpha), [what]: `url(#${id})` };
  }

  /** @param at as drawImage() of a canvas is given it: two, four or eight numbers */
  put(out: Writer, image: CanvasImageSource, at: readonly number[], state: State): void {
    const { width, height } = image as OffscreenCanvas;
    const whole = [0, 0, width, height];
    const given = at.length === 8 ? at : [...whole, ...at, ...(at.length === 2 ? whole : [])];
    const [sx, sy, sw, sh, x, y, w, h] = given as [...Matrix, number, number];
    const drawn = drawnOf(image);
    const part = { x: sx, y: sy, w: sw, h: sh };
    if (drawn === null) return this.#pixels(out, image, part, { x, y, w, h }, state);
    const id = this.#sheet.define(image, (name) => `<g id="${name}">\n${this.#draw(drawn)}\n</g>`);
    const scale = [((w / sw) * width) / drawn.width, ((h / sh) * height) / drawn.height] as const;
    const moved = [scale[0], 0, 0, scale[1], x - (sx * w) / sw, y - (sy * h) / sh] as const;
    const clip = `<rect${attributes({ x, y, width: w, height: h })}/>`;
    const clipped = { 'clip-path': `url(#${this.#sheet.clip(clip)})` };
    out.group({ transform: matrixWords(state.matrix), ...clipped });
    const transform = matrixWords(moved);
    const opacity = opacityOf(state);
    out.element(`<use${attributes({ 'xlink:href': `#${id}`, opacity, transform })}/>`);
    out.closeTo(out.depth - 1);
  }

  #pixels(out: Writer, image: CanvasImageSource, part: Part, to: Part, state: State): void {
    const place = { x: to.x, y: to.y, width: to.w, height: to.h, opacity: opacityOf(state) };
    const at = { ...place, transform: matrixWords(state.matrix) };
    const saved = { preserveAspectRatio: 'none', 'image-rendering': 'pixelated' };
    const href = escaped(this.#sheet.tools.pixels(image, part));
    out.element(`<image${attributes({ ...at, ...saved })} xlink:href="${href}"/>`);
  }
}

function opacityOf({ globalAlpha }: State): string | null {
  return globalAlpha < 1 ? String(globalAlpha) : null;
}
