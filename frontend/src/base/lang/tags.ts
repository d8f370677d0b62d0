// SPDX-License-Identifier: GPL-2.0-or-later
/** The languages of the page, and which of them a language tag selects. Pure. */

export const english = 'en';
/** A pseudo-language for layout tests: longer English, written from right to left. It is not in the language menu. */
export const pseudoTag = 'ar-XB';

export const languages = [
  { tag: english, name: 'English' },
  { tag: 'de', name: 'Deutsch' },
  { tag: 'zh-Hans', name: '简体中文' },
] as const;

export type Tag = (typeof languages)[number]['tag'] | typeof pseudoTag;

export function isPseudo(tag: Tag): tag is typeof pseudoTag {
  return tag === pseudoTag;
}

/** The direction in which a language is written. */
export function directionOf(tag: Tag): 'ltr' | 'rtl' {
  return isPseudo(tag) ? 'rtl' : 'ltr';
}

/**
 * The page's language for a tag; null if there is none. For example, `de-AT` gives `de`, and `zh-CN` gives `zh-Hans`.
 */
export function tagOf(wanted: string): Tag | null {
  if (wanted === pseudoTag) return pseudoTag;
  const asked = likely(wanted);
  if (asked === null) return null;
  const found = languages.find(({ tag }) => {
    const own = likely(tag);
    return own?.language === asked.language && own.script === asked.script;
  });
  return found?.tag ?? null;
}

/** The first of several languages that the page has; null if it has none of them. */
export function firstOf(wanted: readonly string[]): Tag | null {
  for (const one of wanted) {
    const tag = tagOf(one);
    if (tag !== null && !isPseudo(tag)) return tag;
  }
  return null;
}

/** Add the script that is likely for a tag; null if it is not a language tag. */
function likely(tag: string): Intl.Locale | null {
  try {
    return new Intl.Locale(tag).maximize();
  } catch {
    return null;
  }
}
