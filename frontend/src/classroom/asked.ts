// SPDX-License-Identifier: GPL-2.0-or-later
/** Questions of a class as they are shown: text, options, counts, and which of them wait for an answer. Pure. */

import type { Lesson } from '../protocol/lesson.ts';
import { answerKey, type ClassQuestion, keyOf, type Room, type TallyRound } from './class-state.ts';

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
}

type Predictions = Pick<Lesson, 'predictions'>;

function describe(lesson: Predictions, of: ClassQuestion): Asked {
  const prediction = of.step ? lesson.predictions[of.question] : undefined;
  return {
    ...{ key: keyOf(of), step: of.step, question: of.question, revealed: of.revealed },
    text: of.text || (prediction?.question ?? of.question),
    options: of.options.length > 0 ? of.options : (prediction?.choices ?? []),
    round: of.round === 2 ? 2 : 1,
    asked: true,
  };
}

/** All that was asked, newest last, and the prediction of the step on show in front, if it was not. */
export function askedIn(
  room: Room,
  lesson: Predictions,
  here: { readonly id: string; readonly predict?: string | null | undefined },
): readonly Asked[] {
  const all = [...room.questions.values()].map((one) => describe(lesson, one));
  const id = here.predict ?? '';
  const prediction = lesson.predictions[id];
  const key = keyOf({ step: here.id, question: id });
  if (prediction === undefined || room.questions.has(key)) return all;
  const { question: text, choices: options } = prediction;
  const of = { key, step: here.id, question: id, text, options };
  return [{ ...of, round: 1, revealed: false, asked: false }, ...all];
}

/** What a member is to answer in the panel of the class; `guessed`: he has answered the step's question already. */
export function waiting(
  room: Room,
  all: readonly Asked[],
  here: string,
  guessed: boolean,
): readonly Asked[] {
  return all.filter((one) => {
    if (!one.asked || one.revealed || one.options.length === 0) return false;
    if (room.answers.has(answerKey(one, one.round))) return false;
    // The card of the step asks for the first round.
    return one.step !== here || one.round === 2 || guessed;
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
