// SPDX-License-Identifier: GPL-2.0-or-later
/** Predict, then check: the viewer's guess, and the answer from the events. Pure, except for storage. */

import { useCallback, useState } from 'react';
import { bestRecording } from '../derive/recording.ts';
import type { Lesson, Scene } from '../protocol/lesson.ts';

/** A viewer's guesses and answers for one lesson, stored in this browser under a key per lesson. */
export interface Answers {
  readonly guesses: Readonly<Record<string, number>>;
  readonly answered: readonly number[];
  /** For each prediction, the choice that a fair run showed to be right. */
  readonly truths?: Readonly<Record<string, number>>;
  /** The marks that answered questions, by question number. */
  readonly marks?: Readonly<Record<number, Pointed>>;
}

/** A mark that was accepted as the answer to a question. All times are guest times. */
export interface Pointed {
  readonly run: string;
  readonly arm: string;
  readonly kind: string;
  readonly t0_ns: number;
  readonly t1_ns: number;
  readonly at: string;
}

/** Return the viewer's guesses and answers as a file, with the questions and the evidence. */
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
    // If storage is full or disabled, answers are lost on reload, but the lesson still works.
  }
}

/** Add an answer. A question that was already answered keeps its first mark. */
export function answeredBy(answers: Answers, question: number, mark: Pointed): Answers {
  if (answers.answered.includes(question)) return answers;
  return {
    ...answers,
    answered: [...answers.answered, question],
    marks: { ...answers.marks, [question]: mark },
  };
}

// What would reveal a prediction's answer before the viewer has been asked. Pure.

type Told = Pick<Lesson, 'scenes' | 'predictions'>;

/** Steps with a prediction that the viewer has not made. `seen` lists steps whose answer they chose to see. */
export function askingSteps(
  { scenes, predictions }: Told,
  answers: Pick<Answers, 'guesses'>,
  seen: ReadonlySet<string> = new Set(),
): readonly Scene[] {
  return scenes.filter(({ id, predict }) => {
    const asks = predict !== null && predictions[predict] !== undefined;
    return asks && answers.guesses[predict] === undefined && !seen.has(id);
  });
}

/**
 * The lanes of a step that may be seen while its question is open. The lane that the question is about stays hidden.
 * Lanes that no earlier step has shown stay hidden too, except the lane with which the answer is compared.
 */
export function knownArms({ scenes, predictions }: Told, scene: Scene): readonly string[] {
  const [asked, base] = predictions[scene.predict ?? '']?.arms ?? [];
  const seen = new Set(scenes.slice(0, scenes.indexOf(scene)).flatMap(({ arms }) => arms));
  return scene.arms.filter((arm) => arm !== asked && (arm === base || seen.has(arm)));
}

/**
 * The step that the front page may show: the lesson's own choice if it comes before the first open question,
 * otherwise the step before that question.
 */
export function frontStep(
  lesson: Told & Pick<Lesson, 'hero'>,
  answers: Pick<Answers, 'guesses'>,
): Scene {
  const { scenes } = lesson;
  const hero = Math.max(
    0,
    scenes.findIndex((scene) => scene.id === lesson.hero),
  );
  const [asking] = askingSteps(lesson, answers);
  const asks = asking === undefined ? -1 : scenes.indexOf(asking);
  return scenes[asks < 0 || hero < asks ? hero : Math.max(0, asks - 1)]!;
}

/** Parts beside the picture that may reveal an answer. Other strings are names of the view's panels. */
export type Spoiler = 'overview' | 'counts' | 'latency' | 'measured' | (string & {});

/**
 * Whether a part beside a step's picture would answer a later step's question. By default, every part would answer the
 * question if both steps show the same lanes and recording. If the view's `tells` lists parts for the prediction's
 * metric, only these parts would answer the question.
 */
export type Spoils = (what: Spoiler) => boolean;

export function spoilersOf(
  lesson: Lesson,
  scene: Scene,
  answers: Pick<Answers, 'guesses'>,
  seen: ReadonlySet<string>,
  tells: Readonly<Record<string, readonly string[]>> = {},
): Spoils {
  const here = lesson.scenes.indexOf(scene);
  const asked = askingSteps(lesson, answers, seen).flatMap((later) => {
    const prediction = lesson.predictions[later.predict ?? ''];
    if (lesson.scenes.indexOf(later) <= here || prediction === undefined) return [];
    const shown = prediction.arms.every((arm) => scene.arms.includes(arm));
    const same = bestRecording(lesson, later)?.name === bestRecording(lesson, scene)?.name;
    return shown && same ? [prediction.metric] : [];
  });
  return (what) => asked.some((metric) => tells[metric]?.includes(what) ?? true);
}

// This viewer's guesses and answers, as React state that survives a reload.

export function useAnswers(slug: string): readonly [Answers, (answers: Answers) => void] {
  const [answers, setAnswers] = useState(() => readAnswers(slug));
  const save = useCallback(
    (next: Answers) => {
      writeAnswers(slug, next);
      setAnswers(next);
    },
    [slug],
  );
  return [answers, save];
}
