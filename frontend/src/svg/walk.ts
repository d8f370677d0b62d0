// SPDX-License-Identifier: GPL-2.0-or-later
/** The page's tree as SVG, in the order in which it is painted: boxes, signs, text, and canvases drawn anew. */

import { redrawEvent } from '../views/paints.ts';
import { boxOf, signOf } from './boxes.ts';
import { textsOf } from './lines.ts';
import { SvgPen } from './pen.ts';
import type { Sheet } from './sheet.ts';
import { attributes, num } from './xml.ts';

/** Elements that only those hear who do not see, and those that have no box. */
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

/** Text that ends in an ellipsis is short enough by then. */
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

/** Errors of a listener do not reach who dispatches, so the pen's are caught and thrown here. */
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
  // The browser shows a canvas at whole pixels of the screen, wherever its box begins.
  const whole = (at: number) => Math.round(at * devicePixelRatio) / devicePixelRatio;
  const moved = `translate(${num(whole(box.x))} ${num(whole(box.y))})`;
  return [
    `<g${attributes({ transform: moved, 'clip-path': `url(#${sheet.clip(clip)})` })}>`,
    drawn,
    '</g>',
  ];
}
