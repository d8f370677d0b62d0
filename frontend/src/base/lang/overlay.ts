// SPDX-License-Identifier: GPL-2.0-or-later
/** A lesson's translated texts, applied to the lesson message. Untranslated texts stay English. */

/** Path of a text in a lesson, and its translation. */
export type LaidText = readonly [place: readonly (string | number)[], text: string];

/** Slug -> translated texts; lessons without a translation are missing. */
export type LessonWords = Readonly<Record<string, readonly LaidText[]>>;

let lessons: LessonWords = {};

/** Set the translations; must run before the first lesson arrives. */
export function setLessonTranslations(words: LessonWords): void {
  lessons = words;
}

/** The lesson in the visitor's language; the same object without a translation. */
export function inLanguage<T extends object>(lesson: T): T {
  const texts = lessons[String(within(lesson, 'slug'))];
  if (texts === undefined) return lesson;
  const copy = structuredClone(lesson);
  for (const [place, text] of texts) {
    if (place[0] === 'terms' && place[2] === 'name') keepDrawing(copy, place, text);
    put(copy, place, text);
  }
  return copy;
}

/** Drawings are keyed by the name of their term: copy the entry to the translated name. */
function keepDrawing(tree: unknown, place: LaidText[0], name: string): void {
  const drawings = within(tree, 'drawings');
  const term = within(within(tree, 'terms'), place[1] ?? '');
  const drawing = within(drawings, String(within(term, 'name')));
  if (drawing !== undefined) (drawings as Record<string, unknown>)[name] = drawing;
}

/** Replace existing texts only: a card of the front page has fewer fields than the lesson. */
function put(tree: unknown, place: readonly (string | number)[], text: string): void {
  let at = tree;
  for (const part of place.slice(0, -1)) at = within(at, part);
  const last = place.at(-1);
  if (last !== undefined && typeof within(at, last) === 'string')
    (at as Record<string | number, unknown>)[last] = text;
}

function within(tree: unknown, part: string | number): unknown {
  return typeof tree === 'object' && tree !== null && Object.hasOwn(tree, part)
    ? (tree as Record<string | number, unknown>)[part]
    : undefined;
}
