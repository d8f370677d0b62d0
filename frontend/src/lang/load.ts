// SPDX-License-Identifier: GPL-2.0-or-later
/** The words of the visitor's language, before anything is said. */

import { setLessonTranslations } from '../base/lang/overlay.ts';
import { addCatalogue, speak, spoken } from '../base/lang/t.ts';
import { directionOf, english, firstOf, type Tag, tagOf } from '../base/lang/tags.ts';
import { readLang, withLang } from '../navigation/place.ts';
import { lessonWords, pageWords, partWords } from './catalogues.ts';

// Which language the page speaks: the address's, else what the visitor chose, else the browser's, else English.

const key = 'duet.lang';

export function wantedLanguage(
  search: string = location.search,
  browser: readonly string[] = navigator.languages ?? [],
): Tag {
  return tagOf(readLang(search) ?? '') ?? firstOf([read() ?? '']) ?? firstOf(browser) ?? english;
}

/**
 * The same place in another language, kept in this browser. The address names it only where the browser keeps nothing:
 * a link that is shared should speak the language of whoever opens it.
 */
export function chooseLanguage(tag: Tag): void {
  location.assign(location.pathname + withLang(location.search, write(tag) ? null : tag));
}

/** A page in a frame of a file may be forbidden its store. */
function read(): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

function write(tag: Tag): boolean {
  try {
    localStorage.setItem(key, tag);
    return true;
  } catch {
    return false;
  }
}

/** A page whose words do not come speaks English rather than not at all. */
const waitMs = 5000;

export async function languageLoaded(tag: Tag = wantedLanguage()): Promise<void> {
  document.documentElement.lang = tag;
  document.documentElement.dir = directionOf(tag);
  const [page, lessons] = await Promise.all([inTime(pageWords(tag)), inTime(lessonWords(tag))]);
  speak(tag, page ?? {});
  setLessonTranslations(lessons ?? {});
}

/** A folder of the page that is loaded on demand, after its words: its modules may say some as they load. */
export async function withWords<T>(folder: string, load: () => Promise<T>): Promise<T> {
  addCatalogue((await inTime(partWords(spoken(), folder))) ?? {});
  return load();
}

/** Null: it did not come, or not in time. */
function inTime<T>(words: Promise<T>): Promise<T | null> {
  const late = new Promise<null>((resolve) => setTimeout(() => resolve(null), waitMs));
  return Promise.race([words.catch(() => null), late]);
}
