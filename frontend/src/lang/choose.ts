// SPDX-License-Identifier: GPL-2.0-or-later
/** Which language the page speaks: the address's, else what the visitor chose, else the browser's, else English. */

import { english, firstOf, type Tag, tagOf } from '../base/lang/tags.ts';
import { readLang, withLang } from '../navigation/place.ts';

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
