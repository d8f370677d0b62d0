// SPDX-License-Identifier: GPL-2.0-or-later
/** Writes text and numbers as XML. Every external string is escaped by `escaped`. */

/** Characters that are invalid in XML 1.0 even when escaped. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones that are taken out
const forbidden = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|\p{Surrogate}/gu;

const named: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

export function escaped(text: string): string {
  return text.replace(forbidden, '\ufffd').replace(/[&<>"]/g, (c) => named[c]!);
}

/** Round to hundredths of a px, which no display can distinguish. */
export function num(n: number): string {
  return String(Math.round(n * 100) / 100 + 0);
}

export type Attributes = Readonly<Record<string, string | number | null>>;

/** Write attributes as ` a="1" b="x"`. Attributes with the value null are omitted. */
export function attributes(given: Attributes): string {
  return Object.entries(given)
    .filter(([, value]) => value !== null)
    .map(([key, v]) => ` ${key}="${typeof v === 'number' ? num(v) : escaped(String(v))}"`)
    .join('');
}

export interface Colour {
  /** The colour in a form that all programs can read: #rrggbb, or a colour's name. */
  readonly colour: string;
  readonly opacity: number;
}

function hex(parts: readonly number[]): string {
  return `#${parts.map((n) => Math.round(n).toString(16).padStart(2, '0')).join('')}`;
}

/** Split a CSS colour into colour and opacity, because presentation programs cannot read rgba(). */
export function colourOf(css: string): Colour {
  const parts = css.match(/[\d.]+%?/g) ?? [];
  const value = (part: string | undefined) =>
    part === undefined ? 1 : Number.parseFloat(part) / (part.endsWith('%') ? 100 : 1);
  const [r, g, b, a] = parts.map(value);
  const opacity = a ?? 1;
  if (/^rgba?\(/.test(css)) return { colour: hex([r!, g!, b!]), opacity };
  if (/^color\(srgb /.test(css)) {
    return { colour: hex([r! * 255, g! * 255, b! * 255]), opacity };
  }
  if (css === 'transparent') return { colour: '#000000', opacity: 0 };
  return { colour: css, opacity: 1 };
}

/** Attributes for a fill or stroke of one colour. */
export function ink(what: 'fill' | 'stroke', css: string, alpha = 1): Attributes {
  const { colour, opacity } = colourOf(css);
  const all = opacity * alpha;
  return {
    [what]: colour,
    [`${what}-opacity`]: all < 1 ? String(Math.round(all * 1e4) / 1e4) : null,
  };
}

// Writes text as SVG text, not as shapes. The text has fallback font families, and the same width as on the page.

export interface Measured {
  readonly width: number;
  /** Distance from the y of the text down to its alphabetic baseline. */
  readonly drop: number;
  /** Distance from the alphabetic baseline up to the top of the line box. */
  readonly ascent: number;
}

/** Measures text in the same way as the page's own canvases. */
export type Measure = (font: string, baseline: CanvasTextBaseline, text: string) => Measured;

const font = /^(italic )?(?:(normal|bold|\d+) )?([\d.]+)px(?:\/\S+)? (.+)$/;

/** Font families with fallbacks: the page's "Inter Variable" falls back to an installed "Inter". */
export function families(css: string): string {
  const names = css.split(',').flatMap((part) => {
    const name = part.trim().replaceAll('"', '');
    return name.endsWith(' Variable') ? [name, name.replace(/ Variable$/, '')] : [name];
  });
  return names.map((name) => (/^[\w-]+$/.test(name) ? name : `'${name}'`)).join(', ');
}

/** Attributes for a canvas font. */
export function fontLook(css: string): Attributes {
  const found = font.exec(css);
  if (found === null) throw new Error(`no font that can be written as SVG: ${css}`);
  const [, italic, weight, size, family] = found;
  return {
    'font-family': families(family!),
    'font-size': size!,
    'font-weight': weight === undefined || weight === '400' ? null : weight,
    'font-style': italic === undefined ? null : 'italic',
  };
}

/** A <text> that is `width` wide in any font, so that text next to it keeps its place. */
export function textElement(
  text: string,
  at: { readonly x: number; readonly y: number; readonly width: number },
  look = '',
): string {
  const words = text.replace(/\s/g, ' ');
  const spaced = /^ | {2}| $/.test(words);
  const fitted = [...words].length > 1;
  const given = attributes({
    x: at.x,
    y: at.y,
    textLength: fitted ? at.width : null,
    lengthAdjust: fitted ? 'spacingAndGlyphs' : null,
    'xml:space': spaced ? 'preserve' : null,
  });
  return `<text${look}${given}>${escaped(words)}</text>`;
}

// The shared parts of one picture: definitions with ids, and functions that need a browser.

export interface Part {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

export interface Tools {
  readonly measure: Measure;
  /** Returns a part of an image as a data: URL. */
  readonly pixels: (image: CanvasImageSource, part: Part) => string;
}

export class Sheet {
  readonly tools: Tools;
  readonly #prefix: string;
  readonly #ids = new Map<unknown, string>();
  readonly #made: string[] = [];

  /** @param prefix keeps the ids of two pictures in the same document distinct */
  constructor(prefix: string, tools: Tools) {
    this.#prefix = prefix;
    this.tools = tools;
  }

  /** The id of the definition for `key`. The first call for a key creates the definition. */
  define(key: unknown, make: (id: string) => string): string {
    const known = this.#ids.get(key);
    if (known !== undefined) return known;
    const id = `${this.#prefix}-${this.#ids.size + 1}`;
    this.#ids.set(key, id);
    const made = make(id);
    this.#made.push(made);
    return id;
  }

  clip(shapes: string): string {
    return this.define(shapes, (id) => `<clipPath id="${id}">${shapes}</clipPath>`);
  }

  defs(): string {
    return this.#made.length === 0 ? '' : `<defs>\n${this.#made.join('\n')}\n</defs>\n`;
  }
}
