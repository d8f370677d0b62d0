// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * A viewer's answers in a link, short enough for a QR code: `#answers=` and seven fields with `~` between them. These
 * are the version, the lesson, the lesson's edition, the predictions, the questions answered by pointing, the recap's
 * questions, and a checksum. The link contains no name and no text of the viewer. Pure.
 */

import { t } from '../base/lang/t.ts';
import { siteOf } from '../base/site.ts';
import { answersMark, frontPage, writePlace } from '../navigation/place.ts';
import type { Answers } from '../panels/predict.ts';
import type { Recap } from '../panels/recap/memory.ts';
import type { Lesson } from '../protocol/lesson.ts';

type Told = Pick<Lesson, 'slug' | 'predictions' | 'questions' | 'quiz'>;
type Given = Recap['given'];

/** The answers that a link brings. Each list has the order of the lesson. */
export interface Brought {
  readonly predictions: readonly Predicted[];
  /** Whether each question was answered by pointing. */
  readonly pointed: readonly boolean[];
  /** Answers to the recap's questions: the choice, counted from 1, or the number; null if there is none. */
  readonly quiz: readonly (number | null)[];
}

interface Predicted {
  /** Index of the choice; null if the viewer has not predicted. */
  readonly guess: number | null;
  /** Index of the choice that a run showed to be right; null if no run has. */
  readonly truth: number | null;
}

const version = '1';
/** Maximum number of characters after the mark. The lessons need about 80. */
export const mostChars = 400;

/** Whether there is anything to take away. */
export function hasAnswers({ guesses, answered }: Answers, given: Given): boolean {
  return Object.keys(guesses).length + answered.length + Object.keys(given).length > 0;
}

/** The part of the address from `#` on; null if it would be too long. */
export function packAnswers(lesson: Told, answers: Answers, given: Given): string | null {
  const { guesses, truths = {}, answered } = answers;
  const predictions = Object.keys(lesson.predictions).map(
    (id) => digit(guesses[id]) + digit(truths[id]),
  );
  const pointed = lesson.questions.map((_, i) => (answered.includes(i) ? '1' : '0'));
  const quiz = lesson.quiz.map((_, i) => given[i] ?? none);
  const body = [
    version,
    lesson.slug,
    editionOf(lesson),
    predictions.join(''),
    pointed.join(''),
    quiz.join(','),
  ].join('~');
  const text = `${body}~${digest(body)}`;
  return text.length > mostChars ? null : answersMark + text;
}

/**
 * The link to this page with answers. Apart from the answers, the link contains only the lesson, so that its QR code
 * has few modules.
 */
export function answersLink(slug: string, packed: string, here: string): string {
  const url = new URL(here);
  url.search = siteOf() === null ? writePlace({ ...frontPage, lesson: slug }) : '';
  url.hash = packed;
  return url.href;
}

type Unpacked =
  | { readonly ok: true; readonly answers: Brought }
  /** One sentence: what was expected, what came, what to do. */
  | { readonly ok: false; readonly why: string };

/** Read answers from an address. The text comes from outside, so nothing in it is trusted. */
export function unpackAnswers(hash: string, lesson: Told): Unpacked {
  const text = hash.slice(answersMark.length);
  const no = (why: string): Unpacked => ({ ok: false, why });
  if (text.length > mostChars)
    return no(
      t(
        'A link brings at most {most} characters of answers, but this one has {n}: scan the code again, or ask for the answers as a file.',
        { most: mostChars, n: text.length },
      ),
    );
  const fields = text.split('~');
  const [itsVersion = '', slug = '', edition, predictions = '', pointed = '', quiz = ''] = fields;
  if (/^\d{1,4}$/.test(itsVersion) && itsVersion !== version)
    return no(
      t(
        'This page reads answers of version {ours}, but the link brings version {theirs}: open the link in the newest page of the lesson, or ask for the answers as a file.',
        { ours: version, theirs: itsVersion },
      ),
    );
  const damaged = no(
    t(
      'The link should bring the answers to one lesson, but a part of it is missing or changed: scan the code again, or ask for the answers as a file.',
    ),
  );
  const body = text.slice(0, text.lastIndexOf('~'));
  if (fields.length !== 7 || fields[6] !== digest(body)) return damaged;
  if (slug !== lesson.slug)
    return no(
      t(
        'This page shows the lesson {here}, but the link brings answers to {there}: open that lesson, and scan the code from there.',
        { here: lesson.slug, there: slug },
      ),
    );
  if (edition !== editionOf(lesson))
    return no(
      t(
        'This page has another edition of the lesson than the link, with other questions: open the page that was used for the answers, or ask for them as a file.',
      ),
    );
  const answers = read(lesson, predictions, pointed, quiz);
  return answers === null ? damaged : { ok: true, answers };
}

function read(lesson: Told, predictions: string, pointed: string, quiz: string): Brought | null {
  const asked = Object.values(lesson.predictions);
  const given = quiz === '' ? [] : quiz.split(',');
  if (!/^[0-9a-z_]*$/.test(predictions) || predictions.length !== 2 * asked.length) return null;
  if (!/^[01]*$/.test(pointed) || pointed.length !== lesson.questions.length) return null;
  if (given.length !== lesson.quiz.length) return null;
  if (!given.every((one) => one === none || number.test(one))) return null;
  const choice = (at: number) => {
    const sign = predictions[at] ?? none;
    const index = sign === none ? null : Number.parseInt(sign, 36);
    const choices = asked[at >> 1]?.choices.length ?? 0;
    return index !== null && index < choices ? index : null;
  };
  return {
    predictions: asked.map((_, i) => ({ guess: choice(2 * i), truth: choice(2 * i + 1) })),
    pointed: [...pointed].map((sign) => sign === '1'),
    quiz: given.map((one, i) => {
      const value = one === none ? null : Number(one);
      const choices = lesson.quiz[i]?.choices.length ?? 0;
      return value === null || choices === 0 || (value >= 1 && value <= choices) ? value : null;
    }),
  };
}

const none = '_';
/** A number as `String` writes it. */
const number = /^-?\d{1,24}(\.\d{1,24})?(e[+-]\d{1,3})?$/;

function digit(index: number | undefined): string {
  return index !== undefined && index >= 0 && index < 36 ? index.toString(36) : none;
}

/**
 * A digest of everything that the answers of an edition depend on. Words are left out, because they differ between
 * languages.
 */
function editionOf({ predictions, questions, quiz }: Told): string {
  return digest(
    JSON.stringify([
      Object.entries(predictions).map(([id, { choices }]) => [id, choices.length]),
      questions.map(({ step }) => step),
      quiz.map(({ choices, right, number }) => [choices.length, right, number]),
    ]),
  );
}

/** A checksum against damage, not against forgery: FNV-1a, folded to four hexadecimal digits. */
function digest(text: string): string {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return (((hash >>> 16) ^ hash) & 0xffff).toString(16).padStart(4, '0');
}
