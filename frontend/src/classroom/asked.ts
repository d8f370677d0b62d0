// SPDX-License-Identifier: GPL-2.0-or-later
/** Questions of a class as they are shown: text, options, counts, and which of them wait for an answer. Pure. */

import type { Lesson } from '../protocol/lesson.ts';
import { answerKey, type ClassQuestion, keyOf, type Room, type TallyRound } from './class-state.ts';
import { pointId, pointOf, pointsOf } from './pointing.ts';

export interface Asked {
  readonly key: string;
  readonly step: string;
  readonly question: string;
  readonly text: string;
  readonly options: readonly string[];
  /** That is open, or was the last. */
  readonly round: 1 | 2;
  readonly revealed: boolean;
  /** The instructor has asked it; else it is answered by itself, as a step's prediction. */
  readonly asked: boolean;
  /** It is answered by pointing: place of the lesson's question; null: by an option. */
  readonly points: number | null;
}

type Predictions = Pick<Lesson, 'predictions' | 'questions'>;

function describe(lesson: Predictions, of: ClassQuestion): Asked {
  const prediction = of.step ? lesson.predictions[of.question] : undefined;
  const points = of.step && prediction === undefined ? pointOf(lesson, of.question) : null;
  return {
    ...{ key: keyOf(of), step: of.step, question: of.question, revealed: of.revealed, points },
    text:
      of.text ||
      (prediction?.question ?? (points === null ? of.question : lesson.questions[points]!.ask)),
    options: of.options.length > 0 ? of.options : (prediction?.choices ?? []),
    round: of.round === 2 ? 2 : 1,
    asked: true,
  };
}

/**
 * All that was asked, newest last, and in front what the step on show can ask and was not: its prediction, and its
 * questions that are answered by pointing.
 */
export function askedIn(
  room: Room,
  lesson: Predictions,
  here: { readonly id: string; readonly predict?: string | null | undefined },
): readonly Asked[] {
  const asked = [...room.questions.values()].map((one) => describe(lesson, one));
  const own = pointsOf(lesson, here.id)
    .map((number) => ({ step: here.id, question: pointId(number), points: number }))
    .filter((one) => !room.questions.has(keyOf(one)))
    .map((one) => ({
      ...{ ...one, key: keyOf(one), text: lesson.questions[one.points]!.ask, options: [] },
      ...{ round: 1 as const, revealed: false, asked: false },
    }));
  const all = [...own, ...asked];
  const id = here.predict ?? '';
  const prediction = lesson.predictions[id];
  const key = keyOf({ step: here.id, question: id });
  if (prediction === undefined || room.questions.has(key)) return all;
  const { question: text, choices: options } = prediction;
  const of = { key, step: here.id, question: id, text, options };
  return [{ ...of, round: 1, revealed: false, asked: false, points: null }, ...all];
}

/** What a member is to answer in the panel of the class; `guessed`: he has answered the step's question already. */
export function waiting(
  room: Room,
  all: readonly Asked[],
  here: string,
  guessed: boolean,
): readonly Asked[] {
  return all.filter((one) => {
    if (!one.asked || one.revealed) return false;
    if (one.options.length === 0 && one.points === null) return false;
    if (room.answers.has(answerKey(one, one.round))) return false;
    // The card of the step asks for the first round.
    return one.step !== here || one.round === 2 || guessed || one.points !== null;
  });
}

/** What the instructor has revealed, and how the class has answered it. */
export function revealedIn(room: Room, all: readonly Asked[]): readonly Asked[] {
  return all.filter((one) => one.revealed && room.tallies.has(one.key));
}

export interface Column {
  readonly label: string;
  readonly count: number;
  /** Of all answers of the round, 0 to 1. */
  readonly share: number;
  readonly own: boolean;
}

/** How many chose each answer; options that nobody chose stand there, too. */
export function columnsOf(
  { options }: Pick<Asked, 'options'>,
  round: TallyRound | null,
  own: number | null,
): readonly Column[] {
  const counts = new Map<number, number>();
  const values: { label: string; count: number }[] = [];
  for (const { choice, value, count } of round?.bars ?? []) {
    if (choice !== null) counts.set(choice, count);
    else if (value !== null) values.push({ label: String(value), count });
  }
  const chosen = options.map((label, i) => ({ label, count: counts.get(i) ?? 0, own: own === i }));
  const all = Math.max(1, round?.answers ?? 0);
  return [...chosen, ...values.map((one) => ({ ...one, own: false }))].map((one) => ({
    ...one,
    share: one.count / all,
  }));
}
