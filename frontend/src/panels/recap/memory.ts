// SPDX-License-Identifier: GPL-2.0-or-later
/** What a viewer wrote and answered at the end of a lesson, and how far he got: in this browser, nowhere else. */

import type { Lesson } from '../../protocol/lesson.ts';
import type { Answers } from '../predict.ts';
import { isRight } from './judge.ts';

export interface Recap {
  /** The viewer's own three sentences. */
  readonly mine: string;
  /** He has compared them with ours. */
  readonly compared: boolean;
  /** By question: the choice from 1, or the number. */
  readonly given: Readonly<Record<number, number>>;
}

export interface Progress {
  readonly title: string;
  readonly explained: boolean;
  readonly quiz: Share;
  readonly predicted: Share;
  readonly pointed: Share;
  /** ISO date of the last change. */
  readonly on: string;
}

/** So many of so many. */
export type Share = readonly [number, number];

const nothing: Recap = { mine: '', compared: false, given: {} };
const progressKey = 'duet.progress';

export function readRecap(slug: string): Recap {
  const { mine, compared, given } = read(`duet.${slug}.recap`) as Partial<Recap>;
  return {
    mine: typeof mine === 'string' ? mine : nothing.mine,
    compared: compared === true,
    given: typeof given === 'object' && given !== null ? given : nothing.given,
  };
}

export function writeRecap(slug: string, recap: Recap): void {
  write(`duet.${slug}.recap`, recap);
}

/** Lessons that the viewer has come to the end of, by slug. */
export function readProgress(): Readonly<Record<string, Progress>> {
  const known = Object.entries(read(progressKey)).filter(([, one]) => isProgress(one));
  return Object.fromEntries(known) as Record<string, Progress>;
}

/** Replaces what is saved of one lesson; the date changes only with the rest. */
export function writeProgress(slug: string, progress: Progress): void {
  const all = readProgress();
  const same = { ...progress, on: all[slug]?.on };
  if (JSON.stringify(same) === JSON.stringify(all[slug])) return;
  write(progressKey, { ...all, [slug]: progress });
}

export function progressOf(
  lesson: Pick<Lesson, 'title' | 'quiz' | 'predictions' | 'questions'>,
  answers: Answers,
  recap: Recap,
  on: string,
): Progress {
  const right = lesson.quiz.filter((one, i) => isRight(one, recap.given[i]));
  const made = Object.keys(lesson.predictions).filter((id) => answers.guesses[id] !== undefined);
  const asSeen = made.filter((id) => answers.guesses[id] === answers.truths?.[id]);
  return {
    title: lesson.title,
    explained: recap.mine.trim() !== '',
    quiz: [right.length, lesson.quiz.length],
    predicted: [asSeen.length, Object.keys(lesson.predictions).length],
    pointed: [answers.answered.length, lesson.questions.length],
    on,
  };
}

function isProgress(value: unknown): value is Progress {
  const one = value as Partial<Progress> | null;
  const shares = [one?.quiz, one?.predicted, one?.pointed];
  return (
    typeof one?.title === 'string' &&
    typeof one.on === 'string' &&
    shares.every((share) => share?.length === 2 && share.every(Number.isFinite))
  );
}

function read(key: string): object {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(key) ?? 'null');
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}

function write(key: string, value: object): void {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // A full or forbidden store loses the memory, not the lesson.
  }
}
