// SPDX-License-Identifier: GPL-2.0-or-later
/** Grounds and borders of the page's boxes, and its drawn signs, as shapes. */

import { type Attributes, attributes, colourOf, ink } from './xml.ts';

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

/** Ground and border of one box. */
export function boxOf(box: DOMRect, style: CSSStyleDeclaration): string[] {
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

/** A drawn sign of the page. What is no shape of `geometry` is left out: a sign holds nothing else. */
export function signOf(sign: SVGSVGElement): string[] {
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
