// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The views' pen, writing SVG. Knows what `Pen` has and nothing else: a view that wants more of a canvas fails to
 * compile here first. What cannot be said in shapes (partial arcs, wiping out) is an error, never a wrong picture.
 */

import type { Drawn, Pen } from '../views/paints.ts';
import { Path } from './path.ts';
import type { Part, Sheet } from './sheet.ts';
import {
  anchors,
  lineLook,
  type Matrix,
  matrixWords,
  type State,
  type Style,
  stateOf,
} from './state.ts';
import { fontLook, textElement } from './type.ts';
import { Writer } from './writer.ts';
import { type Attributes, attributes, escaped, ink } from './xml.ts';

function drawnOf(made: unknown): Drawn | null {
  return (made as { readonly drawn?: Drawn }).drawn ?? null;
}

export class SvgPen implements Pen, State {
  globalAlpha = 1;
  fillStyle: Style = '#000000';
  strokeStyle: Style = '#000000';
  lineWidth = 1;
  lineCap: CanvasLineCap = 'butt';
  font = '10px sans-serif';
  textAlign: CanvasTextAlign = 'left';
  textBaseline: CanvasTextBaseline = 'alphabetic';
  dash: readonly number[] = [];
  matrix: Matrix = [1, 0, 0, 1, 0, 0];

  readonly #sheet: Sheet;
  readonly #dpr: number;
  readonly #out = new Writer();
  readonly #stack: { readonly state: State; readonly depth: number }[] = [];
  #path = new Path();
  /** A path that was filled; a stroke that follows goes with it. */
  #filled: { readonly path: Path; readonly length: number; readonly look: Attributes } | null =
    null;

  /** `dpr`: what setTransform counts in, pixels to one CSS px. */
  constructor(sheet: Sheet, dpr = 1) {
    this.#sheet = sheet;
    this.#dpr = dpr;
  }

  /** All that was drawn; nothing can be drawn after. */
  finish(): string {
    this.#settle();
    return this.#out.text();
  }

  save(): void {
    this.#settle();
    this.#stack.push({ state: stateOf(this), depth: this.#out.depth });
  }

  restore(): void {
    const kept = this.#stack.pop();
    if (kept === undefined) return;
    this.#settle();
    this.#out.closeTo(kept.depth);
    Object.assign(this, kept.state);
  }

  beginPath(): void {
    this.#path = new Path();
  }
  moveTo(x: number, y: number): void {
    this.#path.moveTo(x, y);
  }
  lineTo(x: number, y: number): void {
    this.#path.lineTo(x, y);
  }
  rect(x: number, y: number, w: number, h: number): void {
    this.#path.rect(x, y, w, h);
  }
  roundRect(x: number, y: number, w: number, h: number, radii: unknown = 0): void {
    if (typeof radii !== 'number') throw new Error('roundRect is written with one radius');
    this.#path.rect(x, y, w, h, radii);
  }
  arc(x: number, y: number, r: number, from: number, to: number): void {
    if (Math.abs(to - from) < 2 * Math.PI - 1e-6) throw new Error('only full circles are written');
    this.#path.circle(x, y, r);
  }

  fill(): void {
    this.#settle();
    const look = { ...this.#ink('fill', this.fillStyle), stroke: null };
    this.#filled = { path: this.#path, length: this.#path.length, look };
  }
  stroke(): void {
    const filled = this.#filled;
    const together = filled?.path === this.#path && filled.length === this.#path.length;
    if (!together) this.#settle();
    this.#filled = null;
    this.#put(this.#path, { ...(together ? filled!.look : { fill: 'none' }), ...this.#line() });
  }
  fillRect(x: number, y: number, w: number, h: number): void {
    this.#settle();
    const path = new Path();
    path.rect(x, y, w, h);
    this.#put(path, this.#ink('fill', this.fillStyle));
  }
  strokeRect(x: number, y: number, w: number, h: number): void {
    this.#settle();
    const path = new Path();
    path.rect(x, y, w, h);
    this.#put(path, { fill: 'none', ...this.#line() });
  }
  clearRect(): void {
    this.#settle();
    if (!this.#out.empty) throw new Error('what was drawn cannot be wiped out of an SVG');
  }
  clip(): void {
    this.#settle();
    const transform = attributes(this.#transform());
    const shapes = this.#path.shapes().map((shape) => `<${shape}${transform}/>`);
    this.#out.group({ 'clip-path': `url(#${this.#sheet.clip(shapes.join(''))})` });
  }
  setLineDash(dash: Iterable<number>): void {
    this.dash = [...dash];
  }
  setTransform(...given: readonly unknown[]): void {
    this.#settle();
    if (given.length !== 6) throw new Error('setTransform is written with six numbers');
    this.matrix = (given as number[]).map((n) => n / this.#dpr) as unknown as Matrix;
  }

  measureText(text: string): TextMetrics {
    const { width } = this.#sheet.tools.measure(this.font, this.textBaseline, text);
    return { width } as TextMetrics;
  }
  fillText(text: string, x: number, y: number): void {
    this.#settle();
    if (text.trim() === '' || !Number.isFinite(x + y)) return;
    const { width, drop } = this.#sheet.tools.measure(this.font, this.textBaseline, text);
    const look = {
      ...this.#ink('fill', this.fillStyle),
      ...fontLook(this.font),
      'text-anchor': anchors[this.textAlign],
      ...this.#transform(),
    };
    this.#out.shape(attributes(look), textElement(text, { x, y: y + drop, width }).slice(1));
  }

  drawImage(image: CanvasImageSource, ...at: readonly number[]): void {
    this.#settle();
    const { width, height } = image as OffscreenCanvas;
    const whole = [0, 0, width, height];
    const given = at.length === 8 ? at : [...whole, ...at, ...(at.length === 2 ? whole : [])];
    const [sx, sy, sw, sh, x, y, w, h] = given as [...Matrix, number, number];
    const drawn = drawnOf(image);
    if (drawn === null) return this.#pixels(image, { x: sx, y: sy, w: sw, h: sh }, { x, y, w, h });
    const id = this.#sheet.define(image, (name) => {
      const pen = new SvgPen(this.#sheet);
      drawn.by(pen);
      return `<g id="${name}">\n${pen.finish()}\n</g>`;
    });
    const scale = [((w / sw) * width) / drawn.width, ((h / sh) * height) / drawn.height] as const;
    const moved = [scale[0], 0, 0, scale[1], x - (sx * w) / sw, y - (sy * h) / sh] as const;
    const clip = `<rect${attributes({ x, y, width: w, height: h })}/>`;
    this.#out.group({ ...this.#transform(), 'clip-path': `url(#${this.#sheet.clip(clip)})` });
    const opacity = this.globalAlpha < 1 ? String(this.globalAlpha) : null;
    const transform = matrixWords(moved);
    this.#out.element(`<use${attributes({ 'xlink:href': `#${id}`, opacity, transform })}/>`);
    this.#out.closeTo(this.#out.depth - 1);
  }

  #pixels(image: CanvasImageSource, part: Part, to: Part): void {
    const opacity = this.globalAlpha < 1 ? String(this.globalAlpha) : null;
    const at = { x: to.x, y: to.y, width: to.w, height: to.h, opacity, ...this.#transform() };
    const kept = { preserveAspectRatio: 'none', 'image-rendering': 'pixelated' };
    const href = escaped(this.#sheet.tools.pixels(image, part));
    this.#out.element(`<image${attributes({ ...at, ...kept })} xlink:href="${href}"/>`);
  }

  #transform(): Attributes {
    return { transform: matrixWords(this.matrix) };
  }

  #ink(what: 'fill' | 'stroke', style: Style): Attributes {
    if (typeof style === 'string') return ink(what, style, this.globalAlpha);
    const drawn = drawnOf(style);
    if (drawn === null) throw new Error('a pattern does not say what it was drawn by');
    const { width, height } = drawn;
    const id = this.#sheet.define(style, (name) => {
      const pen = new SvgPen(this.#sheet);
      drawn.by(pen);
      const size = attributes({ patternUnits: 'userSpaceOnUse', width, height });
      return `<pattern id="${name}"${size}>${pen.finish()}</pattern>`;
    });
    return { ...ink(what, '#000000', this.globalAlpha), [what]: `url(#${id})` };
  }

  #line(): Attributes {
    return { ...this.#ink('stroke', this.strokeStyle), ...lineLook(this) };
  }

  #put(path: Path, look: Attributes): void {
    const words = attributes({ ...look, ...this.#transform() });
    for (const shape of path.shapes()) this.#out.shape(words, `${shape}/>`);
  }

  /** A fill that no stroke followed is drawn. */
  #settle(): void {
    const filled = this.#filled;
    this.#filled = null;
    if (filled !== null) this.#put(filled.path, filled.look);
  }
}
