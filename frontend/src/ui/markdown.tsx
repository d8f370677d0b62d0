// SPDX-License-Identifier: GPL-2.0-or-later
/** Markdown. Until the parser is loaded, the text is shown in plain paragraphs of about the same height. */

import type { Options } from 'react-markdown';
import { afterwards } from '../base/later.tsx';

/** The words of a Markdown text without its markup, one string per paragraph. */
export function plainParagraphs(text: string): string[] {
  return text
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/^#+ |[*`]/gm, '')
    .split(/\n\s*\n/)
    .map((words) => words.trim())
    .filter((words) => words !== '');
}

function Plain({ children, components }: Options) {
  const P = components?.p ?? 'p';
  // biome-ignore lint/suspicious/noArrayIndexKey: paragraphs never move
  return plainParagraphs(children ?? '').map((words, i) => <P key={i}>{words}</P>);
}

export const Markdown = afterwards<Options>(
  () => import('react-markdown').then((module) => module.default),
  (options) => <Plain {...options} />,
);

/** Load the parser. Pages that measure their text wait for it. */
export async function markdownLoaded(): Promise<void> {
  await Markdown.load();
}
