// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Finds the lesson or step that a person has typed, by number or by a part of its name. Pure.
 * backend/src/duet/lessons/document.py implements the same rules.
 */

/**
 * Convert a typed word to the form of names: lower case, hyphens instead of spaces, and without a leading "lesson" or
 * "step".
 */
export function plain(word: string): string {
  const text = word
    .trim()
    .toLowerCase()
    .replace(/\s+/g, '-')
    .replace(/[/.,;:)]+$/, '');
  return text.replace(/^(?:lesson|step)-?(?=\d)/, '');
}

/** Matches a complete slug; all links of the page use complete slugs. */
export const completeSlug = /^\d+(-[a-z0-9]+){2,}$/;

function parts(name: string): readonly [number: number | null, words: string] {
  const [, number, words = ''] = /^(?:(\d+)(?:-|$))?(.*)$/.exec(name) ?? [];
  return [number === undefined ? null : Number(number), words];
}

/**
 * Find the only name that fits a typed text; null if no name or several names fit. An identical name always fits. If
 * the text has a number, names must have the same number. After the number, the name must begin with the text's words.
 * If no name begins with these words, names that contain the words in a later place fit.
 */
export function resolveName(word: string, names: readonly string[]): string | null {
  const text = plain(word);
  if (names.includes(text)) return text;
  const [number, begin] = parts(text);
  const fit = names.filter((name) => number === null || parts(name)[0] === number);
  const first = fit.filter((name) => parts(name)[1].startsWith(begin));
  const found = first.length > 0 ? first : fit.filter((n) => parts(n)[1].includes(`-${begin}`));
  return text !== '' && found.length === 1 ? (found[0] ?? null) : null;
}

/** Find the step that a word matches, by the step's position counted from 1 or by its name. */
export function resolveStep(word: string, ids: readonly string[]): string | null {
  const text = plain(word);
  if (ids.includes(text)) return text;
  return /^\d+$/.test(text) ? (ids[Number(text) - 1] ?? null) : resolveName(text, ids);
}
