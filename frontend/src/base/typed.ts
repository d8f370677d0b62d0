// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Resolves a typed lesson or step: a number, or a part of its name. Pure; backend/src/duet/lessons/document.py has the
 * same rules.
 */

/** Normalise a typed word to the form of names. */
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
 * The one name that a word matches: the name, its number, its beginning (with or without the number), or the beginning
 * of a later word in it. Null: no match, or several.
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

/** The step that a word matches, by its position from 1 or by its name. */
export function resolveStep(word: string, ids: readonly string[]): string | null {
  const text = plain(word);
  if (ids.includes(text)) return text;
  return /^\d+$/.test(text) ? (ids[Number(text) - 1] ?? null) : resolveName(text, ids);
}
