// SPDX-License-Identifier: GPL-2.0-or-later
/** What people type for a lesson or a step: a number, a part of its name. Pure; backend/src/duet/lessons/document.py decides alike. */

/** A word as names are written. */
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
 * The one name that a word means: the name, its number, the beginning of it (with or without the number), or of a later
 * word of it. Null: it means none, or several.
 */
export function meantBy(word: string, names: readonly string[]): string | null {
  const text = plain(word);
  if (names.includes(text)) return text;
  const [number, begin] = parts(text);
  const fit = names.filter((name) => number === null || parts(name)[0] === number);
  const first = fit.filter((name) => parts(name)[1].startsWith(begin));
  const found = first.length > 0 ? first : fit.filter((n) => parts(n)[1].includes(`-${begin}`));
  return text !== '' && found.length === 1 ? (found[0] ?? null) : null;
}

/** The step that a word means, by its place from 1 or by its name. */
export function stepMeant(word: string, ids: readonly string[]): string | null {
  const text = plain(word);
  if (ids.includes(text)) return text;
  return /^\d+$/.test(text) ? (ids[Number(text) - 1] ?? null) : meantBy(text, ids);
}
