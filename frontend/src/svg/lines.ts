// SPDX-License-Identifier: GPL-2.0-or-later
/** A text node as the lines that the browser has made of it, each where it stands. */

import { fontLook, type Measure, textElement } from './type.ts';
import { attributes, ink } from './xml.ts';

export interface Glyph {
  readonly text: string;
  readonly left: number;
  readonly right: number;
  readonly top: number;
}

export interface Line {
  readonly text: string;
  readonly left: number;
  readonly right: number;
  readonly top: number;
}

/** Characters that stand beside each other, without the spaces at both ends. */
export function linesOf(glyphs: readonly Glyph[]): readonly Line[] {
  const rows: Glyph[][] = [];
  for (const glyph of glyphs) {
    const row = rows.at(-1);
    if (row !== undefined && Math.abs(row[0]!.top - glyph.top) < 1) row.push(glyph);
    else rows.push([glyph]);
  }
  return rows.flatMap((row) => {
    const first = row.findIndex((glyph) => glyph.text.trim() !== '');
    const last = row.findLastIndex((glyph) => glyph.text.trim() !== '');
    if (first < 0) return [];
    const { left, top } = row[first]!;
    const text = row
      .slice(first, last + 1)
      .map((glyph) => glyph.text)
      .join('');
    return [{ text, left, right: row[last]!.right, top }];
  });
}

/** What is left of a line that ends in an ellipsis at `limit`. */
export function cut(glyphs: readonly Glyph[], limit: number, dots: number): readonly Glyph[] {
  if (glyphs.every((glyph) => glyph.right <= limit + 0.5)) return glyphs;
  const fitting = glyphs.filter((glyph) => glyph.right + dots <= limit);
  const last = fitting.at(-1);
  if (last === undefined) return [];
  return [...fitting, { text: '…', left: last.right, right: last.right + dots, top: last.top }];
}

/** Glyphs of a text node; white space that the browser folded away has no box. */
function glyphsOf(node: Text): readonly Glyph[] {
  const range = document.createRange();
  const glyphs: Glyph[] = [];
  let at = 0;
  for (const text of node.data) {
    range.setStart(node, at);
    at += text.length;
    range.setEnd(node, at);
    const box = [...range.getClientRects()].at(-1);
    if (box === undefined || box.width === 0) continue;
    glyphs.push({ text, left: box.left, right: box.right, top: box.top });
  }
  return glyphs;
}

/** Right edge of the nearest box that ends its text with an ellipsis. */
function ellipsisAt(element: Element): number | null {
  const box = element.closest<HTMLElement>('*');
  if (box === null || getComputedStyle(box).textOverflow !== 'ellipsis') return null;
  return box.scrollWidth > box.clientWidth ? box.getBoundingClientRect().right : null;
}

/** The line under a text, with its colour, pattern and place. */
function decorationOf(style: CSSStyleDeclaration): readonly string[] {
  if (style.textDecorationLine === 'none') return [];
  return [
    `text-decoration:${style.textDecoration}`,
    `text-underline-offset:${style.textUnderlineOffset}`,
  ];
}

export function textsOf(node: Text, style: CSSStyleDeclaration, measure: Measure): string[] {
  const parent = node.parentElement;
  if (parent === null || node.data.trim() === '') return [];
  const slant = style.fontStyle === 'italic' ? 'italic ' : '';
  const font = `${slant}${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  const limit = ellipsisAt(parent);
  const all = glyphsOf(node);
  const dots = limit === null ? 0 : measure(font, 'alphabetic', '…').width;
  const glyphs = limit === null ? all : cut(all, limit, dots);
  const { letterSpacing, fontVariantNumeric } = style;
  const css = [
    ...(fontVariantNumeric === 'normal' ? [] : [`font-variant-numeric:${fontVariantNumeric}`]),
    ...decorationOf(style),
  ];
  const look = attributes({
    ...ink('fill', style.color),
    ...fontLook(font),
    'letter-spacing': letterSpacing === 'normal' ? null : letterSpacing.replace('px', ''),
    style: css.length === 0 ? null : css.join(';'),
  });
  const { ascent } = measure(font, 'alphabetic', 'x');
  return linesOf(glyphs).map(({ text, left, right, top }) =>
    textElement(text, { x: left, y: top + ascent, width: right - left }, look),
  );
}
