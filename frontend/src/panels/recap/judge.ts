// SPDX-License-Identifier: GPL-2.0-or-later
/** Judges answers to the questions at the end of a lesson. */

import { locale } from '../../base/lang/t.ts';
import type { QuizQuestion } from '../../protocol/lesson.ts';

/** Whether an answer is right: the choice from 1, or a number near enough; without an answer it is not. */
export function isRight(question: QuizQuestion, given: number | undefined): boolean {
  if (given === undefined) return false;
  if (question.choices.length > 0) return given === question.right;
  return question.number !== null && Math.abs(given - question.number) <= question.within;
}

/** The right answer in words. */
export function rightWords({ choices, right, number, unit }: QuizQuestion): string {
  if (choices.length > 0) return choices[(right ?? 0) - 1] ?? '';
  return `${(number ?? 0).toLocaleString(locale())} ${unit}`.trim();
}

/** A number as people type it, "10,000" and "2.5" alike; undefined: it is none. */
export function typedNumber(text: string): number | undefined {
  const plain = text.trim().replaceAll(/[ ,'_](?=\d{3}(\D|$))/g, '');
  return /^[+-]?\d+(\.\d+)?$/.test(plain) ? Number(plain) : undefined;
}
