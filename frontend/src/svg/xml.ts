// SPDX-License-Identifier: GPL-2.0-or-later
/** Text and numbers as they may stand in XML. Every string that comes from outside goes through `escaped`. */

/** Characters that XML 1.0 does not have, not even escaped. */
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

/** Hundredths are finer than any display. */
export function num(n: number): string {
  return String(Math.round(n * 100) / 100 + 0);
}

export type Attributes = Readonly<Record<string, string | number | null>>;

/** ` a="1" b="x"`; null leaves one out. */
export function attributes(given: Attributes): string {
  return Object.entries(given)
    .filter(([, value]) => value !== null)
    .map(([key, v]) => ` ${key}="${typeof v === 'number' ? num(v) : escaped(String(v))}"`)
    .join('');
}

export interface Colour {
  /** As every program reads it: #rrggbb, or a word. */
  readonly colour: string;
  readonly opacity: number;
}

function hex(parts: readonly number[]): string {
  return `#${parts.map((n) => Math.round(n).toString(16).padStart(2, '0')).join('')}`;
}

/** A colour of CSS taken apart: programs for slides do not read rgba(). */
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

/** Fill or stroke of one colour. */
export function ink(what: 'fill' | 'stroke', css: string, alpha = 1): Attributes {
  const { colour, opacity } = colourOf(css);
  const all = opacity * alpha;
  return {
    [what]: colour,
    [`${what}-opacity`]: all < 1 ? String(Math.round(all * 1e4) / 1e4) : null,
  };
}
