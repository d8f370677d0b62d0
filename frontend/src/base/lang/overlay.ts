// SPDX-License-Identifier: GPL-2.0-or-later
/** A lesson's texts in the visitor's language, laid over the lesson as it came. What is missing stays English. */

/** Where a text stands in a lesson, and what stands there instead. */
export type LaidText = readonly [place: readonly (string | number)[], text: string];

/** Slug -> its texts; a lesson without a translation is not there. */
export type LessonWords = Readonly<Record<string, readonly LaidText[]>>;

let lessons: LessonWords = {};

/** Before the first lesson comes. */
export function haveLessonWords(words: LessonWords): void {
  lessons = words;
}

/** The lesson with the texts that the visitor's language has; the same object where there are none. */
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

/** A drawing goes by the name of its term. */
function keepDrawing(tree: unknown, place: LaidText[0], name: string): void {
  const drawings = within(tree, 'drawings');
  const term = within(within(tree, 'terms'), place[1] ?? '');
  const drawing = within(drawings, String(within(term, 'name')));
  if (drawing !== undefined) (drawings as Record<string, unknown>)[name] = drawing;
}

/** Only where there is a text already: a card of the front page has less than the lesson. */
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
