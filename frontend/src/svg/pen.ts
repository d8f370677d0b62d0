// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The views' pen, writing SVG. Knows what `Pen` has and nothing else: a view that wants more of a canvas fails to
 * compile here first. What cannot be said in shapes (partial arcs, wiping out) is an error, never a wrong picture.
 */

import type { Pen } from '../views/paints.ts';
import { Outlines } from './outlines.ts';
import { Path } from './path.ts';
import { Pictures } from './pictures.ts';
import type { Sheet } from './sheet.ts';
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
import { type Attributes, attributes } from './xml.ts';

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
  readonly #outlines = new Outlines(this.#out, this);
  readonly #pictures: Pictures;
  readonly #stack: { readonly state: State; readonly depth: number }[] = [];
  #path = new Path();

  /** `dpr`: what setTransform counts in, pixels to one CSS px. */
  constructor(sheet: Sheet, dpr = 1) {
    this.#sheet = sheet;
    this.#dpr = dpr;
    this.#pictures = new Pictures(sheet, (drawn) => {
      const pen = new SvgPen(sheet);
      drawn.by(pen);
      return pen.finish();
    });
  }

  /** All that was drawn; nothing can be drawn after. */
  finish(): string {
    this.#outlines.settle();
    return this.#out.text();
  }

  save(): void {
    this.#outlines.settle();
    this.#stack.push({ state: stateOf(this), depth: this.#out.depth });
  }

  restore(): void {
    const saved = this.#stack.pop();
    if (saved === undefined) return;
    this.#outlines.settle();
    this.#out.closeTo(saved.depth);
    Object.assign(this, saved.state);
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
    this.#outlines.fill(this.#path, () => this.#ink('fill', this.fillStyle));
  }
  stroke(): void {
    this.#outlines.stroke(this.#path, () => this.#line());
  }
  fillRect(x: number, y: number, w: number, h: number): void {
    this.#outlines.settle();
    const path = new Path();
    path.rect(x, y, w, h);
    this.#outlines.put(path, this.#ink('fill', this.fillStyle));
  }
  strokeRect(x: number, y: number, w: number, h: number): void {
    this.#outlines.settle();
    const path = new Path();
    path.rect(x, y, w, h);
    this.#outlines.put(path, { fill: 'none', ...this.#line() });
  }
  clearRect(): void {
    this.#outlines.settle();
    if (!this.#out.empty) throw new Error('what was drawn cannot be wiped out of an SVG');
  }
  clip(): void {
    this.#outlines.settle();
    const transform = attributes(this.#transform());
    const shapes = this.#path.shapes().map((shape) => `<${shape}${transform}/>`);
    this.#out.group({ 'clip-path': `url(#${this.#sheet.clip(shapes.join(''))})` });
  }
  setLineDash(dash: Iterable<number>): void {
    this.dash = [...dash];
  }
  setTransform(...given: readonly unknown[]): void {
    this.#outlines.settle();
    if (given.length !== 6) throw new Error('setTransform is written with six numbers');
    this.matrix = (given as number[]).map((n) => n / this.#dpr) as unknown as Matrix;
  }

  measureText(text: string): TextMetrics {
    const { width } = this.#sheet.tools.measure(this.font, this.textBaseline, text);
    return { width } as TextMetrics;
  }
  fillText(text: string, x: number, y: number): void {
    this.#outlines.settle();
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
    this.#outlines.settle();
    this.#pictures.put(this.#out, image, at, this);
  }

  #transform(): Attributes {
    return { transform: matrixWords(this.matrix) };
  }

  #ink(what: 'fill' | 'stroke', style: Style): Attributes {
    return this.#pictures.ink(what, style, this.globalAlpha);
  }

  #line(): Attributes {
    return { ...this.#ink('stroke', this.strokeStyle), ...lineLook(this) };
  }
}
