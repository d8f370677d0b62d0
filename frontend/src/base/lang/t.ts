// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Translates the page's own texts to the visitor's language. The English text is the key, and texts without a
 * translation stay English. Texts are ICU messages, so that each language has its own plurals: t('{n, plural, one {#
 * hog} other {# hogs}}', { n }).
 *
 * The language is set before the first text is used. Choosing another language reloads the page.
 */

import { createElement, Fragment, type ReactNode } from 'react';
import { Message } from './message.ts';
import { english, isPseudo, type Tag } from './tags.ts';

// A pseudo-language for layout tests: English texts are made longer and run from right to left. Pure.

/**
 * The Unicode characters that begin and end right-to-left text. Letters between them are displayed from right to left.
 */
const begin = '\u202e';
const end = '\u202c';

/** Lengthen a text by about a third, because translations are longer too, and mark the text as right-to-left. */
function mirrored(text: string): string {
  if (text.trim() === '') return text;
  const longer = text.replaceAll(/[aeiou](?=[a-z])/g, (letter) => letter + letter);
  return longer.replace(/\S.*\S|\S/s, (words) => `${begin}${words}${end}`);
}

/** Values for the placeholders of a text. The caller formats numbers, except those that select a plural. */
export type Values = Readonly<Record<string, string | number | null | undefined>>;

/** Maps English texts to texts in another language. */
export type Catalogue = Readonly<Record<string, string>>;

let tag: Tag = english;
let words: Catalogue = {};
const formats = new Map<string, Message>();

/** Set the language. Must be called before any text is used. */
export function speak(language: Tag, catalogue: Catalogue): void {
  tag = language;
  words = catalogue;
  formats.clear();
}

/** Add the catalogue of a part of the page that is loaded on demand. */
export function addCatalogue(catalogue: Catalogue): void {
  words = { ...words, ...catalogue };
  formats.clear();
}

/** The current language. */
export function spoken(): Tag {
  return tag;
}

/** Whether the page is in English. In other languages, code must not change the case of letters. */
export function isEnglish(): boolean {
  return locale() === english;
}

/** The language tag with which Intl formats numbers and dates. */
export function locale(): string {
  return isPseudo(tag) ? english : tag;
}

/** The translation of a message with its placeholders unchanged; the English text if there is no translation. */
export function worded(text: string): string {
  return words[text] ?? text;
}

/** The text in the visitor's language, with its placeholders replaced by values. */
export function t(text: string, values?: Values): string {
  const said = values === undefined ? worded(text) : filled(text, values);
  return isPseudo(tag) ? mirrored(said) : said;
}

function filled(text: string, values: Values): string {
  const known = formats.get(text) ?? messageOf(text, false);
  formats.set(text, known);
  return known.parts(values).join('');
}

/**
 * If the translation is not a valid ICU message, the page shows the English text. A test of the catalogues finds invalid
 * translations.
 */
function messageOf(text: string, tags: boolean): Message {
  try {
    return new Message(worded(text), locale(), tags);
  } catch {
    return new Message(text, english, tags);
  }
}

// Texts that contain elements, whose order a translation can change: rich('Press <b>stop</b> now.', { b }).

type Inner = (words: ReactNode) => ReactNode;

/** Format a text that contains elements: `<b>words</b>` calls the function `b`, and `{b}` inserts a node. */
export function rich(
  text: string,
  values: Readonly<Record<string, ReactNode | Inner>> = {},
): ReactNode {
  const parts = messageOf(text, true).parts(
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, inner(value)])),
  );
  return joined(parts as ReactNode[]);
}

/** Adapt a function to `Message`, which passes the parts of a text as an array. */
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
