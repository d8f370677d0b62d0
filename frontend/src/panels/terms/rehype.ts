// SPDX-License-Identifier: GPL-2.0-or-later
/** Marks terms in Markdown: the first of each in a paragraph becomes a `dfn`, titled by the term's name. */

import type { Matcher } from './matcher.ts';

/** Of a tree of HTML, as far as it matters here. */
export interface Node {
  type: string;
  tagName?: string;
  value?: string;
  properties?: Record<string, unknown>;
  children?: Node[];
}

/** What begins anew; what stands between them in one list item belongs to the paragraph there. */
const paragraphs = new Set(['p', 'li', 'td', 'th']);
/** Code is quoted, a link or a heading has another purpose. */
const left = new Set(['code', 'pre', 'a', 'h1', 'h2', 'h3', 'h4']);

export function markTerms(matcher: Matcher) {
  const marked = (children: readonly Node[], seen: Set<string>): Node[] =>
    children.flatMap((child) => {
      if (child.type === 'text') return pieces(child.value ?? '', seen);
      if (child.children && !left.has(child.tagName ?? '')) {
        const own = paragraphs.has(child.tagName ?? '') ? new Set<string>() : seen;
        child.children = marked(child.children, own);
      }
      return [child];
    });
  const pieces = (text: string, seen: Set<string>): Node[] =>
    matcher.split(text, seen).map((piece) =>
      typeof piece === 'string'
        ? { type: 'text', value: piece }
        : {
            type: 'element',
            tagName: 'dfn',
            properties: { title: piece.name },
            children: [{ type: 'text', value: piece.text }],
          },
    );
  return () => (tree: Node) => {
    tree.children = marked(tree.children ?? [], new Set());
  };
}
