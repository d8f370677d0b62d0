// SPDX-License-Identifier: GPL-2.0-or-later
/** Where the words of a language come from: a chunk of the page, and the server for those of its lessons. */

import type { LessonWords } from '../base/lang/overlay.ts';
import type { Catalogue } from '../base/lang/t.ts';
import { english, type Tag } from '../base/lang/tags.ts';

const chunks: Partial<Record<Tag, () => Promise<{ default: Catalogue }>>> = {
  de: () => import('./de.json'),
  'zh-Hans': () => import('./zh-Hans.json'),
};

export async function pageWords(tag: Tag): Promise<Catalogue> {
  return (await chunks[tag]?.())?.default ?? {};
}

export async function lessonWords(tag: Tag): Promise<LessonWords> {
  if (tag === english || !(tag in chunks)) return {};
  const answer = await fetch(`api/words/${tag}`);
  return answer.ok ? ((await answer.json()) as LessonWords) : {};
}
