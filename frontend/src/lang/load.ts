// SPDX-License-Identifier: GPL-2.0-or-later
/** The words of the visitor's language, before anything is said. */

import { haveLessonWords } from '../base/lang/overlay.ts';
import { learn, speak, spoken } from '../base/lang/t.ts';
import { directionOf, type Tag } from '../base/lang/tags.ts';
import { lessonWords, pageWords, partWords } from './catalogues.ts';
import { wantedLanguage } from './choose.ts';

/** A page whose words do not come speaks English rather than not at all. */
const waitMs = 5000;

export async function languageLoaded(tag: Tag = wantedLanguage()): Promise<void> {
  document.documentElement.lang = tag;
  document.documentElement.dir = directionOf(tag);
  const [page, lessons] = await Promise.all([inTime(pageWords(tag)), inTime(lessonWords(tag))]);
  speak(tag, page ?? {});
  haveLessonWords(lessons ?? {});
}

/** A part of the page that is loaded on demand, after its words: its modules may say some as they load. */
export async function withWords<T>(part: string, load: () => Promise<T>): Promise<T> {
  learn((await inTime(partWords(spoken(), part))) ?? {});
  return load();
}

/** Null: it did not come, or not in time. */
function inTime<T>(words: Promise<T>): Promise<T | null> {
  const late = new Promise<null>((resolve) => setTimeout(() => resolve(null), waitMs));
  return Promise.race([words.catch(() => null), late]);
}
