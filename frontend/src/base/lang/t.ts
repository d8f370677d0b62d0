// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The page's own words in the visitor's language. The English text is the key: what has no translation stays English.
 * Texts are ICU messages, so that a language has its own plurals: t('{n, plural, one {# hog} other {# hogs}}', { n }).
 *
 * The language stands before the first word is asked for and stays for the page's life; another one reloads the page.
 */

import { IntlMessageFormat } from 'intl-messageformat';
import { createElement, Fragment, type ReactNode } from 'react';
import { english, isPseudo, type Tag } from './tags.ts';

// English as a language that is written from right to left and needs more room, for tests of the layout. Pure.

/** Right-to-left override, and its end: letters stand as those of Arabic would. */
const begin = '\u202e';
const end = '\u202c';

/** Translations are longer by a third; short labels by more. */
function mirrored(text: string): string {
  if (text.trim() === '') return text;
  const longer = text.replaceAll(/[aeiou](?=[a-z])/g, (letter) => letter + letter);
  return longer.replace(/\S.*\S|\S/s, (words) => `${begin}${words}${end}`);
}

/** What stands in the braces of a text; numbers without a plural come as text already. */
export type Values = Readonly<Record<string, string | number | null | undefined>>;

/** English text -> the text in another language. */
export type Catalogue = Readonly<Record<string, string>>;

let tag: Tag = english;
let words: Catalogue = {};
const formats = new Map<string, IntlMessageFormat>();

/** Say all from now on in this language; before anything is said. */
export function speak(language: Tag, catalogue: Catalogue): void {
  tag = language;
  words = catalogue;
  formats.clear();
}

/** Words of a part of the page that is loaded now. */
export function learn(catalogue: Catalogue): void {
  words = { ...words, ...catalogue };
  formats.clear();
}

/** The language in force. */
export function spoken(): Tag {
  return tag;
}

/** Texts are in the words of the sources, whose letters may be changed. */
export function isEnglish(): boolean {
  return locale() === english;
}

/** What Intl takes for the numbers and dates of the language in force. */
export function locale(): string {
  return isPseudo(tag) ? english : tag;
}

/** The text of the language in force, not yet filled in; English where it has none. */
export function worded(text: string): string {
  return words[text] ?? text;
}

/** The text in the visitor's language, with its values. */
export function t(text: string, values?: Values): string {
  const said = values === undefined ? worded(text) : filled(text, values);
  return isPseudo(tag) ? mirrored(said) : said;
}

function filled(text: string, values: Values): string {
  const known = formats.get(text);
  if (known !== undefined) return String(known.format(values));
  const made = formatOf(worded(text)) ?? new IntlMessageFormat(text, english, undefined, plain);
  formats.set(text, made);
  return String(made.format(values));
}

const plain = { ignoreTag: true };

/** Null: the translation is no ICU message, which the check of the catalogues finds; English stands in for it. */
function formatOf(said: string): IntlMessageFormat | null {
  try {
    return new IntlMessageFormat(said, locale(), undefined, plain);
  } catch {
    return null;
  }
}

// Texts with elements inside, whose order another language may change: rich('Press <b>stop</b> now.', { b }).

type Inner = (words: ReactNode) => ReactNode;

/** A text of the catalogue with elements: an element around words is a function, one without words a node. */
export function rich(
  text: string,
  values: Readonly<Record<string, ReactNode | Inner>> = {},
): ReactNode {
  const parts = richFormatOf(worded(text), text).format<ReactNode>(
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, inner(value)])),
  );
  return joined(Array.isArray(parts) ? parts : [parts]);
}

function richFormatOf(said: string, text: string): IntlMessageFormat {
  try {
    return new IntlMessageFormat(said, locale());
  } catch {
    return new IntlMessageFormat(text, english);
  }
}

/** The library hands a function the parts between its tags. */
function inner(value: ReactNode | Inner) {
  return typeof value === 'function'
    ? (parts: readonly ReactNode[]) => value(joined(parts))
    : (value ?? '');
}

function joined(parts: readonly ReactNode[]): ReactNode {
  const said = isPseudo(spoken())
    ? parts.map((part) => (typeof part === 'string' ? mirrored(part) : part))
    : parts;
  return createElement(Fragment, null, ...said);
}
