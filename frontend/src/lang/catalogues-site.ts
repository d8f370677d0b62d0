// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Translated texts for a page without a server. A script in the page's folder contains the texts of the page and of its
 * lesson.
 */

import type { LessonWords } from '../base/lang/overlay.ts';
import type { Catalogue } from '../base/lang/t.ts';
import type { Tag } from '../base/lang/tags.ts';
import { siteOf } from '../base/site.ts';
import { loadPart, unpackPart } from '../protocol/site-socket.ts';

interface Words {
  readonly page: Catalogue;
  readonly lessons: LessonWords;
}

async function words(tag: Tag): Promise<Words> {
  const site = siteOf();
  const name = `words-${tag}`;
  if (!site || !(name in site.parts)) return { page: {}, lessons: {} };
  const [packed] = await unpackPart(await loadPart(site, name));
  return JSON.parse(new TextDecoder().decode(packed)) as Words;
}

export async function pageWords(tag: Tag): Promise<Catalogue> {
  return (await words(tag)).page;
}

/** The page is a single script, and so are its translated texts, so no texts are loaded later. */
export async function partWords(_tag: Tag, _folder: string): Promise<Catalogue> {
  return {};
}

export async function lessonWords(tag: Tag): Promise<LessonWords> {
  return (await words(tag)).lessons;
}
