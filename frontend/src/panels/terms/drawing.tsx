// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * A drawing of a term, built element by element from its text. Only shapes, words and their looks are taken over, so
 * nothing of it can act, load or be styled from outside; the server refuses such files already (lessons/drawings.py).
 */

import { createElement, memo, type ReactNode, useMemo } from 'react';

const elements = new Set([
  ...['g', 'path', 'rect', 'circle', 'ellipse', 'line', 'polyline', 'polygon', 'text', 'tspan'],
]);
const attributes = new Set([
  ...['d', 'x', 'y', 'x1', 'y1', 'x2', 'y2', 'cx', 'cy', 'r', 'rx', 'ry', 'dx', 'dy', 'width'],
  ...['height', 'points', 'transform', 'fill', 'stroke', 'stroke-width', 'stroke-dasharray'],
  ...['stroke-linecap', 'stroke-linejoin', 'opacity', 'text-anchor', 'font-size', 'font-weight'],
  ...['font-style', 'font-family'],
]);
const plain = /^[A-Za-z0-9\s.,()+-]*$/;

interface Drawn {
  readonly title: string;
  readonly box: string;
  readonly parts: readonly ReactNode[];
}

/** The drawing's parts for React; null where the text is none. */
export function drawn(svg: string): Drawn | null {
  const root = new DOMParser().parseFromString(svg, 'image/svg+xml').documentElement;
  const box = root.getAttribute('viewBox') ?? '';
  if (root.localName !== 'svg' || !plain.test(box)) return null;
  const title = [...root.children].find((child) => child.localName === 'title');
  return { title: title?.textContent?.trim() ?? '', box, parts: [...root.children].map(part) };
}

function part(element: Element, key: number): ReactNode {
  if (!elements.has(element.localName)) return null;
  const looks = [...element.attributes].filter(
    ({ name, value }) => attributes.has(name) && plain.test(value),
  );
  const props = Object.fromEntries(looks.map(({ name, value }) => [camel(name), value]));
  const children = [...element.childNodes].map((node, i) =>
    node.nodeType === 3 ? node.textContent : node.nodeType === 1 ? part(node as Element, i) : null,
  );
  return createElement(element.localName, { ...props, key }, ...children);
}

const camel = (name: string) => name.replaceAll(/-([a-z])/g, (_all, c: string) => c.toUpperCase());

export const Drawing = memo(({ svg }: { readonly svg: string }) => {
  const found = useMemo(() => drawn(svg), [svg]);
  if (found === null) return null;
  return (
    <svg className="term-drawing" viewBox={found.box} role="img" aria-label={found.title}>
      {found.parts}
    </svg>
  );
});
Drawing.displayName = 'Drawing';
