// SPDX-License-Identifier: GPL-2.0-or-later
/** The languages of the page, and the choice of a language by its tag. Pure. */

export const english = 'en';
/**
 * A pseudo-language for layout tests. Its texts are longer English, displayed from right to left. The language menu
 * does not list it.
 */
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

/** The direction in which a language is written: left to right, or right to left. */
export function directionOf(tag: Tag): 'ltr' | 'rtl' {
  return isPseudo(tag) ? 'rtl' : 'ltr';
}

/**
 * The page's language for a language tag; null if the page lacks it. For example, `de-AT` gives `de`, and `zh-CN` gives
 * `zh-Hans`.
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

/** The first of these languages that the page has; null if the page has none of them. */
export function firstOf(wanted: readonly string[]): Tag | null {
  for (const one of wanted) {
    const tag = tagOf(one);
    if (tag !== null && !isPseudo(tag)) return tag;
  }
  return null;
}

/** Parse a language tag and add the most likely script; null if the tag is invalid. */
function likely(tag: string): Intl.Locale | null {
  try {
    return new Intl.Locale(tag).maximize();
  } catch {
    return null;
  }
}
