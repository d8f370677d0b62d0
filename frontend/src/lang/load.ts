// SPDX-License-Identifier: GPL-2.0-or-later
/** Loads the texts of the visitor's language before the page shows any text. */

import { setLessonTranslations } from '../base/lang/overlay.ts';
import { addCatalogue, speak, spoken } from '../base/lang/t.ts';
import { directionOf, english, firstOf, type Tag, tagOf } from '../base/lang/tags.ts';
import { readLang, withLang } from '../navigation/place.ts';
import { lessonWords, pageWords, partWords } from './catalogues.ts';

// The page's language comes from the address, the visitor's stored choice, or the browser's language, in this order.
// The default language is English.

const key = 'duet.lang';

export function wantedLanguage(
  search: string = location.search,
  browser: readonly string[] = navigator.languages ?? [],
): Tag {
  return tagOf(readLang(search) ?? '') ?? firstOf([read() ?? '']) ?? firstOf(browser) ?? english;
}

/**
 * Open the same place in another language, and store the choice in this browser. Shared links should open in their
 * reader's own language, so the address names the language only if the browser cannot store it.
 */
export function chooseLanguage(tag: Tag): void {
  location.assign(location.pathname + withLang(location.search, write(tag) ? null : tag));
}

/** A browser may deny storage to this page if a local file shows the page in a frame. */
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

/** Maximum time to wait for texts, ms. After that, the page uses English. */
const waitMs = 5000;

export async function languageLoaded(tag: Tag = wantedLanguage()): Promise<void> {
  document.documentElement.lang = tag;
  document.documentElement.dir = directionOf(tag);
  const [page, lessons] = await Promise.all([inTime(pageWords(tag)), inTime(lessonWords(tag))]);
  speak(tag, page ?? {});
  setLessonTranslations(lessons ?? {});
}

/** Load the texts of a folder before the folder's modules, because modules may call t() while they load. */
export async function withWords<T>(folder: string, load: () => Promise<T>): Promise<T> {
  addCatalogue((await inTime(partWords(spoken(), folder))) ?? {});
  return load();
}

/** Returns null if the texts do not arrive within `waitMs`. */
function inTime<T>(words: Promise<T>): Promise<T | null> {
  const late = new Promise<null>((resolve) => setTimeout(() => resolve(null), waitMs));
  return Promise.race([words.catch(() => null), late]);
}
