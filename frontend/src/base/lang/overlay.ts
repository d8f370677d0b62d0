// SPDX-License-Identifier: GPL-2.0-or-later
/** Applies the translated texts of a lesson to the lesson message. Texts without a translation stay English. */

/** The path of a text within a lesson, with the translation of the text. */
export type LaidText = readonly [place: readonly (string | number)[], text: string];

/** The translated texts of each lesson, by slug. Lessons without translated texts are absent. */
export type LessonWords = Readonly<Record<string, readonly LaidText[]>>;

let lessons: LessonWords = {};

/** Set the translated texts. Must be called before the first lesson arrives. */
export function setLessonTranslations(words: LessonWords): void {
  lessons = words;
}

/** Return the lesson in the visitor's language. Without a translation, return the same object. */
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

/**
 * Drawings are stored by the name of their term, so a translated term needs a copy of its drawing under the new name.
 */
function keepDrawing(tree: unknown, place: LaidText[0], name: string): void {
  const drawings = within(tree, 'drawings');
  const term = within(within(tree, 'terms'), place[1] ?? '');
  const drawing = within(drawings, String(within(term, 'name')));
  if (drawing !== undefined) (drawings as Record<string, unknown>)[name] = drawing;
}

/** Replace a text only if the message contains it, because a card on the front page has fewer fields than a lesson. */
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
