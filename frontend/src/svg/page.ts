// SPDX-License-Identifier: GPL-2.0-or-later
/** Converts the page's DOM to SVG in painting order: boxes, icons, text, and canvases that are redrawn as shapes. */

import { redrawEvent } from '../views/paints.ts';
import { SvgPen } from './pen.ts';
import {
  type Attributes,
  attributes,
  colourOf,
  fontLook,
  ink,
  type Measure,
  num,
  type Sheet,
  textElement,
} from './xml.ts';

// Backgrounds and borders of boxes, and icons, as SVG shapes.

const sides = ['Top', 'Right', 'Bottom', 'Left'] as const;

interface Edge {
  readonly width: number;
  readonly colour: string;
  readonly style: string;
}

function edgeOf(style: CSSStyleDeclaration, side: (typeof sides)[number]): Edge {
  const kind = style[`border${side}Style`];
  const colour = style[`border${side}Color`];
  const shown = kind !== 'none' && kind !== 'hidden' && colourOf(colour).opacity > 0;
  return { width: shown ? Number.parseFloat(style[`border${side}Width`]) : 0, colour, style: kind };
}

function rect(box: DOMRect, inset: number, radius: number, look: Attributes): string {
  const width = box.width - 2 * inset;
  const height = box.height - 2 * inset;
  const rx = Math.max(0, Math.min(radius - inset, width / 2, height / 2));
  const at = { x: box.x + inset, y: box.y + inset, width, height, rx: rx > 0 ? rx : null };
  return `<rect${attributes({ ...at, ...look })}/>`;
}

/** Draw the background and border of one box. */
function boxOf(box: DOMRect, style: CSSStyleDeclaration): string[] {
  const radius = Number.parseFloat(style.borderTopLeftRadius) || 0;
  const out: string[] = [];
  if (colourOf(style.backgroundColor).opacity > 0) {
    out.push(rect(box, 0, radius, ink('fill', style.backgroundColor)));
  }
  const [top, right, bottom, left] = sides.map((side) => edgeOf(style, side));
  const edges = [top!, right!, bottom!, left!];
  if (edges.every((e) => e.width > 0 && e.width === top!.width && e.colour === top!.colour)) {
    const dash = top!.style === 'dashed' ? `${3 * top!.width} ${2 * top!.width}` : null;
    const line = { ...ink('stroke', top!.colour), 'stroke-width': top!.width };
    const look = { fill: 'none', ...line, 'stroke-dasharray': dash };
    return [...out, rect(box, top!.width / 2, radius, look)];
  }
  const { x, y, width: w, height: h } = box;
  const places = [
    { x, y, width: w, height: top!.width },
    { x: x + w - right!.width, y, width: right!.width, height: h },
    { x, y: y + h - bottom!.width, width: w, height: bottom!.width },
    { x, y, width: left!.width, height: h },
  ];
  for (const [i, edge] of edges.entries()) {
    if (edge.width === 0) continue;
    out.push(`<rect${attributes({ ...places[i]!, ...ink('fill', edge.colour) })}/>`);
  }
  return out;
}

const geometry: Readonly<Record<string, readonly string[]>> = {
  path: ['d'],
  rect: ['x', 'y', 'width', 'height', 'rx', 'ry'],
  circle: ['cx', 'cy', 'r'],
  line: ['x1', 'y1', 'x2', 'y2'],
};

/** Draw an icon of the page. Only elements in `geometry` are drawn, because icons contain no others. */
function signOf(sign: SVGSVGElement): string[] {
  const box = sign.getBoundingClientRect();
  const view = sign.viewBox.baseVal;
  const wide = view.width || box.width;
  const moved = `translate(${box.x} ${box.y}) scale(${box.width / wide})`;
  const shapes = [...sign.querySelectorAll(Object.keys(geometry).join(','))].map((shape) => {
    const style = getComputedStyle(shape);
    const names = geometry[shape.localName]!;
    const at = Object.fromEntries(names.map((name) => [name, shape.getAttribute(name)]));
    const look = {
      ...(style.fill === 'none' ? { fill: 'none' } : ink('fill', style.fill)),
      ...(style.stroke === 'none' ? {} : ink('stroke', style.stroke)),
      'stroke-width': style.stroke === 'none' ? null : style.strokeWidth.replace('px', ''),
      'stroke-linecap': style.strokeLinecap,
      'stroke-linejoin': style.strokeLinejoin,
    };
    return `<${shape.localName}${attributes({ ...at, ...look })}/>`;
  });
  return [`<g${attributes({ transform: moved })}>`, ...shapes, '</g>'];
}

// Splits a text node into the lines that the browser laid out.

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

/** Merge neighbouring characters into lines, and remove spaces at both ends of each line. */
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

/** The part of a line that remains visible before an ellipsis at `limit`. */
export function cut(glyphs: readonly Glyph[], limit: number, dots: number): readonly Glyph[] {
  if (glyphs.every((glyph) => glyph.right <= limit + 0.5)) return glyphs;
  const fitting = glyphs.filter((glyph) => glyph.right + dots <= limit);
  const last = fitting.at(-1);
  if (last === undefined) return [];
  return [...fitting, { text: '…', left: last.right, right: last.right + dots, top: last.top }];
}

/** The characters of a text node with their positions. Collapsed white space has no box, so it is omitted. */
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

/** The right edge of an element that cuts off its text with an ellipsis; null if the element cuts off nothing. */
function ellipsisAt(element: Element): number | null {
  const box = element.closest<HTMLElement>('*');
  if (box === null || getComputedStyle(box).textOverflow !== 'ellipsis') return null;
  return box.scrollWidth > box.clientWidth ? box.getBoundingClientRect().right : null;
}

/** CSS for the underline of a text: its colour, pattern and position. */
function decorationOf(style: CSSStyleDeclaration): readonly string[] {
  if (style.textDecorationLine === 'none') return [];
  return [
    `text-decoration:${style.textDecoration}`,
    `text-underline-offset:${style.textUnderlineOffset}`,
  ];
}

function textsOf(node: Text, style: CSSStyleDeclaration, measure: Measure): string[] {
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

/**
 * Tell whether an element is invisible. Elements for screen readers only, and elements without a box, are invisible.
 */
function unseen(style: CSSStyleDeclaration, box: DOMRect): boolean {
  if (style.display === 'contents') return false;
  if (style.display === 'none' || style.opacity === '0') return true;
  return style.overflow === 'hidden' && box.width <= 1 && box.height <= 1;
}

export function elementOf(element: Element, sheet: Sheet): string[] {
  const style = getComputedStyle(element);
  const box = element.getBoundingClientRect();
  if (unseen(style, box)) return [];
  const out = insideOf(element, style, box, sheet);
  if (out.length === 0 || style.opacity === '1') return out;
  return [`<g${attributes({ opacity: style.opacity })}>`, ...out, '</g>'];
}

function insideOf(
  element: Element,
  style: CSSStyleDeclaration,
  box: DOMRect,
  sheet: Sheet,
): string[] {
  const shown = style.visibility === 'visible';
  if (element instanceof HTMLCanvasElement) return shown ? canvasOf(element, box, sheet) : [];
  if (element instanceof SVGSVGElement) return shown ? signOf(element) : [];
  const grounds = shown ? [...element.getClientRects()].flatMap((part) => boxOf(part, style)) : [];
  const inner = [...element.childNodes].flatMap((node) => {
    if (node instanceof Element) return elementOf(node, sheet);
    return shown && node instanceof Text ? textsOf(node, style, sheet.tools.measure) : [];
  });
  const clipped = style.overflow !== 'visible' && overflows(element) && inner.length > 0;
  return [...grounds, ...(clipped ? clippedTo(box, inner, sheet) : inner)];
}

/**
 * Tell whether an element's content is larger than its box. Width is ignored if the text ends in an ellipsis, because
 * this text has already been shortened.
 */
function overflows(element: Element): boolean {
  const { scrollWidth, clientWidth, scrollHeight, clientHeight } = element;
  const ends = getComputedStyle(element).textOverflow === 'ellipsis';
  return (scrollWidth > clientWidth && !ends) || scrollHeight > clientHeight;
}

function clippedTo(box: DOMRect, inner: readonly string[], sheet: Sheet): string[] {
  const { x, y, width, height } = box;
  const id = sheet.clip(`<rect${attributes({ x, y, width, height })}/>`);
  return [`<g clip-path="url(#${id})">`, ...inner, '</g>'];
}

/**
 * Let a canvas redraw itself with an SVG pen. dispatchEvent does not propagate errors of listeners, so the pen's error
 * is caught and rethrown.
 */
function canvasOf(canvas: HTMLCanvasElement, box: DOMRect, sheet: Sheet): string[] {
  if (box.width === 0 || box.height === 0) return [];
  const pen = new SvgPen(sheet, canvas.width / box.width);
  const errors: unknown[] = [];
  const onError = (event: ErrorEvent) => errors.push(event.error ?? event.message);
  addEventListener('error', onError);
  canvas.dispatchEvent(new CustomEvent(redrawEvent, { detail: pen }));
  removeEventListener('error', onError);
  if (errors.length > 0) throw errors[0];
  const drawn = pen.finish();
  if (drawn === '') throw new Error('a canvas drew nothing');
  const clip = `<rect${attributes({ width: box.width, height: box.height })}/>`;
  // Browsers align a canvas to whole device pixels, even if its box begins between them.
  const whole = (at: number) => Math.round(at * devicePixelRatio) / devicePixelRatio;
  const moved = `translate(${num(whole(box.x))} ${num(whole(box.y))})`;
  return [
    `<g${attributes({ transform: moved, 'clip-path': `url(#${sheet.clip(clip)})` })}>`,
    drawn,
    '</g>',
  ];
}
