// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The views' pen as an SVG writer. It implements only `Pen`, so a view that uses other parts of a canvas fails to
 * compile here. Operations that shapes cannot express (partial arcs, clearing) throw an error, because the picture
 * would be wrong.
 */

import type { Drawn, Pen } from '../views/paints.ts';
import {
  type Attributes,
  attributes,
  escaped,
  fontLook,
  ink,
  num,
  type Part,
  type Sheet,
  textElement,
} from './xml.ts';

// A canvas path as SVG shapes. Rectangles and circles stay separate shapes, so that an editor can move them.

class Path {
  readonly #shapes: string[] = [];
  #lines = '';

  get length(): number {
    return this.#shapes.length + this.#lines.length;
  }

  moveTo(x: number, y: number): void {
    if (finite(x, y)) this.#lines += `M${num(x)} ${num(y)}`;
  }

  lineTo(x: number, y: number): void {
    if (finite(x, y)) this.#lines += `${this.#lines === '' ? 'M' : 'L'}${num(x)} ${num(y)}`;
  }

  rect(x: number, y: number, w: number, h: number, r = 0): void {
    if (!finite(x, y, w, h)) return;
    const [width, height] = [Math.abs(w), Math.abs(h)];
    const at = { x: Math.min(x, x + w), y: Math.min(y, y + h), width, height };
    const rx = Math.min(r, width / 2, height / 2);
    this.#shapes.push(`rect${attributes({ ...at, rx: rx > 0 ? rx : null })}`);
  }

  circle(cx: number, cy: number, r: number): void {
    if (finite(cx, cy, r)) this.#shapes.push(`circle${attributes({ cx, cy, r })}`);
  }

  /** The tag and geometry of each shape, without angle brackets. */
  shapes(): readonly string[] {
    return this.#lines === '' ? this.#shapes : [...this.#shapes, `path d="${this.#lines}"`];
  }
}

/** Tell whether all numbers are finite. Like a canvas, the pen skips a shape with an infinite number or NaN. */
function finite(...numbers: readonly number[]): boolean {
  return numbers.every(Number.isFinite);
}

// The state of the pen that save() saves and restore() restores.

type Matrix = readonly [number, number, number, number, number, number];
type Style = string | CanvasGradient | CanvasPattern;

interface State {
  globalAlpha: number;
  fillStyle: Style;
  strokeStyle: Style;
  lineWidth: number;
  lineCap: CanvasLineCap;
  font: string;
  textAlign: CanvasTextAlign;
  textBaseline: CanvasTextBaseline;
  dash: readonly number[];
  matrix: Matrix;
}

function stateOf(pen: State): State {
  const { globalAlpha, fillStyle, strokeStyle, lineWidth, lineCap } = pen;
  const { font, textAlign, textBaseline, dash, matrix } = pen;
  const line = { globalAlpha, fillStyle, strokeStyle, lineWidth, lineCap, dash };
  return { ...line, font, textAlign, textBaseline, matrix };
}

/** Attributes of a line. SVG's default values are omitted. */
function lineLook({ lineWidth, lineCap, dash }: State): Attributes {
  return {
    'stroke-width': lineWidth === 1 ? null : lineWidth,
    'stroke-linecap': lineCap === 'butt' ? null : lineCap,
    'stroke-dasharray': dash.length === 0 ? null : dash.map(num).join(' '),
  };
}

/** The matrix as an attribute; null for the identity matrix. */
function matrixWords(matrix: Matrix): string | null {
  const words = matrix.map((n) => String(Math.round(n * 1e5) / 1e5 + 0)).join(' ');
  return words === '1 0 0 1 0 0' ? null : `matrix(${words})`;
}

const anchors: Readonly<Record<CanvasTextAlign, string | null>> = {
  left: null,
  start: null,
  center: 'middle',
  right: 'end',
  end: 'end',
};

// Writes lines of SVG. Consecutive shapes with the same look share a group, which keeps files small.

class Writer {
  readonly #out: string[] = [];
  #run: { readonly look: string; readonly shapes: string[] } = { look: '', shapes: [] };
  #depth = 0;

  /** Number of open groups. */
  get depth(): number {
    return this.#depth;
  }

  get empty(): boolean {
    return this.#out.length + this.#run.shapes.length === 0;
  }

  /** Add one shape. `shape` omits the opening bracket. */
  shape(look: string, shape: string): void {
    if (this.#run.look !== look) {
      this.#flush();
      this.#run = { look, shapes: [] };
    }
    this.#run.shapes.push(shape);
  }

  /** Add an element without changing it. */
  element(element: string): void {
    this.#flush();
    this.#out.push(element);
  }

  group(look: Attributes): void {
    this.element(`<g${attributes(look)}>`);
    this.#depth += 1;
  }

  /** Close groups until only `depth` groups are open. */
  closeTo(depth: number): void {
    while (this.#depth > depth) {
      this.element('</g>');
      this.#depth -= 1;
    }
  }

  /** Return the complete text with every group closed. */
  text(): string {
    this.closeTo(0);
    this.#flush();
    return this.#out.join('\n');
  }

  #flush(): void {
    const { look, shapes } = this.#run;
    this.#run = { look: '', shapes: [] };
    if (shapes.length === 1) this.#out.push(`<${shapes[0]!.replace(/(?=[ >/])/, () => look)}`);
    else if (shapes.length > 1) {
      this.#out.push(`<g${look}>`, ...shapes.map((shape) => `<${shape}`), '</g>');
    }
  }
}

// Writes shapes. A fill waits for the next stroke, so that fill and stroke of the same path become one element.

interface Filled {
  readonly path: Path;
  readonly length: number;
  readonly look: Attributes;
}

class Outlines {
  readonly #out: Writer;
  readonly #at: { readonly matrix: Matrix };
  /** A filled path that may still get a stroke. */
  #filled: Filled | null = null;

  /** @param at an object that contains the pen's current matrix */
  constructor(out: Writer, at: { readonly matrix: Matrix }) {
    this.#out = out;
    this.#at = at;
  }

  /** Write a path as it is. */
  put(path: Path, look: Attributes): void {
    const words = attributes({ ...look, transform: matrixWords(this.#at.matrix) });
    for (const shape of path.shapes()) this.#out.shape(words, `${shape}/>`);
  }

  fill(path: Path, look: () => Attributes): void {
    this.settle();
    this.#filled = { path, length: path.length, look: { ...look(), stroke: null } };
  }

  stroke(path: Path, look: () => Attributes): void {
    const filled = this.#filled;
    const together = filled?.path === path && filled.length === path.length;
    if (!together) this.settle();
    this.#filled = null;
    this.put(path, { ...(together ? filled!.look : { fill: 'none' }), ...look() });
  }

  /** Write a waiting fill that got no stroke. */
  settle(): void {
    const filled = this.#filled;
    this.#filled = null;
    if (filled !== null) this.put(filled.path, filled.look);
  }
}

// Images and patterns that were drawn in advance. Each of them is written to a sheet once and then referenced.

/** Runs a drawing with a new pen and returns the drawing's SVG. */
type Draw = (drawn: Drawn) => string;

function drawnOf(made: unknown): Drawn | null {
  return (made as { readonly drawn?: Drawn }).drawn ?? null;
}

class Pictures {
  readonly #sheet: Sheet;
  readonly #draw: Draw;

  constructor(sheet: Sheet, draw: Draw) {
    this.#sheet = sheet;
    this.#draw = draw;
  }

  /** Return a style as attributes. A pattern is defined on the sheet. */
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

  /** @param at arguments of drawImage() after the image: two, four or eight numbers */
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

  /** @param dpr number of device pixels per CSS px, as the view passes it to setTransform() */
  constructor(sheet: Sheet, dpr = 1) {
    this.#sheet = sheet;
    this.#dpr = dpr;
    this.#pictures = new Pictures(sheet, (drawn) => {
      const pen = new SvgPen(sheet);
      drawn.by(pen);
      return pen.finish();
    });
  }

  /** Return the complete drawing. The pen must not be used afterwards. */
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
