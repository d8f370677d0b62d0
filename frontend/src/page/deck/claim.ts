// SPDX-License-Identifier: GPL-2.0-or-later
/** What a step says in one sentence. Pure. */

import type { Lesson, Scene } from '../../protocol/lesson.ts';

/** The step's claim; a step without one has the first sentence of its text. */
export function claimOf(
  { content }: Pick<Lesson, 'content'>,
  { id, claim }: Pick<Scene, 'id' | 'claim'>,
): string {
  return claim || firstSentence(content[id] ?? '');
}

/** Of Markdown, as plain words: up to the first full stop that a space or the end follows. */
export function firstSentence(markdown: string): string {
  const [paragraph = ''] = markdown.trim().split(/\n\s*\n/);
  const words = paragraph
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/[*`_#>]/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return /^.*?[.?!](?=\s|$)/.exec(words)?.[0] ?? words;
}
