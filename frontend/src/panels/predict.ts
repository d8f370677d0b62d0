// SPDX-License-Identifier: GPL-2.0-or-later
/** Predict, then check: what the viewer expected against what the events say. Pure, but for the keeping. */

import type { Lesson } from '../protocol/lesson.ts';

/** Small things the viewer did, kept in this browser under one key per lesson. */
export interface Answers {
  readonly guesses: Readonly<Record<string, number>>;
  readonly answered: readonly number[];
  /** What the events of a fair run said to each guess: a choice. */
  readonly truths?: Readonly<Record<string, number>>;
  /** What was pointed at, by the question's number. */
  readonly marks?: Readonly<Record<number, Pointed>>;
}

/** A mark that answered a question. Times are guest times. */
export interface Pointed {
  readonly run: string;
  readonly arm: string;
  readonly kind: string;
  readonly t0_ns: number;
  readonly t1_ns: number;
  readonly at: string;
}

/** The viewer's guesses and answers as a file: what was asked, what was said, what it rests on. */
export function answersFile(
  lesson: Pick<Lesson, 'slug' | 'title' | 'questions' | 'predictions'>,
  answers: Answers,
): string {
  const questions = lesson.questions.map((question, i) => ({
    ask: question.ask,
    answered: answers.answered.includes(i),
    pointed_at: answers.marks?.[i] ?? null,
    why: answers.answered.includes(i) ? question.why : null,
  }));
  const predictions = Object.entries(lesson.predictions).map(([id, prediction]) => ({
    question: prediction.question,
    guess: prediction.choices[answers.guesses[id] ?? -1] ?? null,
  }));
  const { slug, title } = lesson;
  return `${JSON.stringify({ lesson: slug, title, questions, predictions }, null, 2)}\n`;
}

const nothing: Answers = { guesses: {}, answered: [] };

export function readAnswers(slug: string): Answers {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(`duet.${slug}`) ?? 'null');
    if (typeof value !== 'object' || value === null) return nothing;
    const { guesses, answered, marks, truths } = value as Partial<Answers>;
    return {
      marks: typeof marks === 'object' && marks !== null ? marks : {},
      truths: typeof truths === 'object' && truths !== null ? truths : {},
      guesses: typeof guesses === 'object' && guesses !== null ? guesses : {},
      answered: Array.isArray(answered) ? answered.filter((n) => typeof n === 'number') : [],
    };
  } catch {
    return nothing;
  }
}

export function writeAnswers(slug: string, answers: Answers): void {
  try {
    localStorage.setItem(`duet.${slug}`, JSON.stringify(answers));
  } catch {
    // A full or forbidden store loses the memory, not the lesson.
  }
}

/** One question more is answered; an answer that stands keeps its mark. */
export function answeredBy(answers: Answers, question: number, mark: Pointed): Answers {
  if (answers.answered.includes(question)) return answers;
  return {
    ...answers,
    answered: [...answers.answered, question],
    marks: { ...answers.marks, [question]: mark },
  };
}
