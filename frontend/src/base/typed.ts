// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Finds the lesson or step that a person typed, by its number or a part of its name. Pure.
 * backend/src/duet/lessons/document.py has the same rules.
 */

/** Convert a typed word to the form of names: lower case, hyphens for spaces, and no leading "lesson" or "step". */
export function plain(word: string): string {
  const text = word
    .trim()
    .toLowerCase()
    .replace(/\s+/g, '-')
    .replace(/[/.,;:)]+$/, '');
  return text.replace(/^(?:lesson|step)-?(?=\d)/, '');
}

function parts(name: string): readonly [number: number | null, words: string] {
  const [, number, words = ''] = /^(?:(\d+)(?:-|$))?(.*)$/.exec(name) ?? [];
  return [number === undefined ? null : Number(number), words];
}

/**
 * The one name that a word matches; null if it matches none or several. A word matches a name if it is identical to the
 * name or is the name's number. It also matches if the name (with or without its number) or one of the name's later
 * words begins with it.
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

/** The step that a word matches, either by its position counted from 1 or by its name. */
export function resolveStep(word: string, ids: readonly string[]): string | null {
  const text = plain(word);
  if (ids.includes(text)) return text;
  return /^\d+$/.test(text) ? (ids[Number(text) - 1] ?? null) : resolveName(text, ids);
}
