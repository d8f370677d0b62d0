// SPDX-License-Identifier: GPL-2.0-or-later
/** The languages that the page has, and which of them is meant by a language tag. Pure. */

export const english = 'en';
/** English, longer and from right to left: for tests of the layout. In no menu. */
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

/** Which way a language is written. */
export function directionOf(tag: Tag): 'ltr' | 'rtl' {
  return isPseudo(tag) ? 'rtl' : 'ltr';
}

/** The language that a tag means, as `de-AT` means `de` and `zh-CN` `zh-Hans`; null: the page does not have it. */
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

/** The first of several that the page has; null: none of them. */
export function firstOf(wanted: readonly string[]): Tag | null {
  for (const one of wanted) {
    const tag = tagOf(one);
    if (tag !== null && !isPseudo(tag)) return tag;
  }
  return null;
}

/** With the script that people who write no script mean; null: it is no language tag. */
function likely(tag: string): Intl.Locale | null {
  try {
    return new Intl.Locale(tag).maximize();
  } catch {
    return null;
  }
}
