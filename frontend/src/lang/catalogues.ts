// SPDX-License-Identifier: GPL-2.0-or-later
/** Loads translated texts. The page's texts are in chunks of its code, and lessons' texts come from the server. */

import type { LessonWords } from '../base/lang/overlay.ts';
import type { Catalogue } from '../base/lang/t.ts';
import { english, type Tag } from '../base/lang/tags.ts';

type Chunk = () => Promise<{ default: Catalogue }>;

const chunks: Partial<Record<Tag, Chunk>> = {
  de: () => import('./de/index.ts'),
  'zh-Hans': () => import('./zh-Hans/index.ts'),
};
/** Catalogues of folders that the page loads on demand. */
const later = import.meta.glob<{ default: Catalogue }>([
  '../gallery/lang/*.json',
  '../plugins/*/*/lang/*.json',
]);

/** The translated texts that the page needs immediately. */
export async function pageWords(tag: Tag): Promise<Catalogue> {
  return (await chunks[tag]?.())?.default ?? {};
}

/** The translated texts of a folder that the page loads on demand. */
export async function partWords(tag: Tag, folder: string): Promise<Catalogue> {
  return (await later[`../${folder}/lang/${tag}.json`]?.())?.default ?? {};
}

export async function lessonWords(tag: Tag): Promise<LessonWords> {
  if (tag === english || !(tag in chunks)) return {};
  const answer = await fetch(`api/words/${tag}`);
  return answer.ok ? ((await answer.json()) as LessonWords) : {};
}
