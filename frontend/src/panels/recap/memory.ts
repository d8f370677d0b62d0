// SPDX-License-Identifier: GPL-2.0-or-later
/** A viewer's recap answers and progress, stored in this browser only. */

import { locale, t } from '../../base/lang/t.ts';
import type { Lesson, QuizQuestion } from '../../protocol/lesson.ts';
import type { Answers } from '../predict.ts';

// Judges the answers to the questions at the end of a lesson.

/**
 * Whether an answer is right. The answer is the number of the choice, counted from 1, or a number that must be within
 * the tolerance. A missing answer is wrong.
 */
export function isRight(question: QuizQuestion, given: number | undefined): boolean {
  if (given === undefined) return false;
  if (question.choices.length > 0) return given === question.right;
  return question.number !== null && Math.abs(given - question.number) <= question.within;
}

/** The right answer, in words. */
export function rightWords({ choices, right, number, unit }: QuizQuestion): string {
  if (choices.length > 0) return choices[(right ?? 0) - 1] ?? '';
  return `${(number ?? 0).toLocaleString(locale())} ${unit}`.trim();
}

/** Parse a typed number, such as "10,000" or "2.5"; undefined if the text is not a number. */
export function typedNumber(text: string): number | undefined {
  const plain = text.trim().replaceAll(/[ ,'_](?=\d{3}(\D|$))/g, '');
  return /^[+-]?\d+(\.\d+)?$/.test(plain) ? Number(plain) : undefined;
}

export interface Recap {
  /** The three sentences that the viewer wrote. */
  readonly mine: string;
  /** Whether the viewer has compared their sentences with the lesson's. */
  readonly compared: boolean;
  /** Answers by question: the choice, counted from 1, or the number. */
  readonly given: Readonly<Record<number, number>>;
}

export interface Progress {
  readonly title: string;
  readonly explained: boolean;
  readonly quiz: Share;
  readonly predicted: Share;
  readonly pointed: Share;
  /** Date of the last change, in ISO 8601 format. */
  readonly on: string;
}

/** A number of completed items, and the total number of items. */
type Share = readonly [number, number];

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

/** Progress in lessons that the viewer has finished, by slug. */
export function readProgress(): Readonly<Record<string, Progress>> {
  const known = Object.entries(read(progressKey)).filter(([, one]) => isProgress(one));
  return Object.fromEntries(known) as Record<string, Progress>;
}

/** Store the progress of one lesson. The date changes only if something else changes. */
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
    // If storage is full or disabled, progress is lost on reload, but the lesson still works.
  }
}

// The certificate of progress as a file: JSON for programs, SVG for people.
// The certificate states that nobody has verified the progress.

export const honest = t(
  'A browser wrote this certificate from the answers that it had saved. Nobody checked who gave the answers, or how, so the certificate proves nothing.',
);

type All = Readonly<Record<string, Progress>>;

export function certificateJson(all: All, on: string): string {
  const lessons = rows(all).map(([slug, one]) => ({
    lesson: slug,
    title: one.title,
    explained: one.explained,
    questions: { right: one.quiz[0], of: one.quiz[1] },
    predictions: { right: one.predicted[0], of: one.predicted[1] },
    pointed_at: { found: one.pointed[0], of: one.pointed[1] },
    on: one.on,
  }));
  const tree = { what: 'Kernel Duet, certificate of progress', note: honest, on, lessons };
  return `${JSON.stringify(tree, null, 2)}\n`;
}

export const columns = [
  t('explained'),
  t('questions'),
  t('predictions'),
  t('pointed at'),
  t('on'),
] as const;

/** The cells after the title in a lesson's row of the progress table. */
export function cells(one: Progress): readonly string[] {
  const explained = one.explained ? t('yes') : t('no');
  return [explained, share(one.quiz), share(one.predicted), share(one.pointed), one.on];
}

const share = ([some, all]: Share) => t('{n} of {all}', { n: some, all });

export function rows(all: All): readonly (readonly [string, Progress])[] {
  return Object.entries(all).toSorted(([a], [b]) => (a < b ? -1 : 1));
}

const width = 900;
const at = [340, 450, 560, 680, 790];

export function certificateSvg(all: All, on: string): string {
  const listed = rows(all);
  const height = 240 + 34 * listed.length;
  const text = (x: number, y: number, words: string, looks = '') =>
    `<text x="${x}" y="${y}"${looks}>${escaped(words)}</text>`;
  const row = ([slug, one]: readonly [string, Progress], i: number) => {
    const y = 180 + 34 * i;
    const title = text(50, y, `${/^\d+/.exec(slug)?.[0] ?? ''} ${one.title}`.trim());
    return [title, ...cells(one).map((cell, n) => text(at[n] ?? 0, y, cell))].join('');
  };
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}"`,
    ' font-family="Inter, sans-serif" font-size="15" fill="#1b1d21">',
    `<title>${escaped(t('Kernel Duet, certificate of progress'))}</title>`,
    `<rect width="${width}" height="${height}" fill="#faf8f3"/>`,
    `<rect x="14" y="14" width="${width - 28}" height="${height - 28}" fill="none" stroke="#8a8577"/>`,
    text(50, 72, 'Kernel Duet', ' font-size="30" font-weight="600"'),
    text(50, 100, t('Certificate of progress, {on}', { on })),
    ...columns.map((name, n) => text(at[n] ?? 0, 146, name, ' font-size="13" fill="#575b62"')),
    ...listed.map(row),
    text(50, height - 36, honest, ' font-size="13" fill="#575b62"'),
    '</svg>',
    '',
  ].join('\n');
}

const signs: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

function escaped(words: string): string {
  return words.replaceAll(/[&<>]/g, (sign) => signs[sign] ?? sign);
}

/** Download a text as a file. */
export function saveFile(name: string, text: string, type = 'application/json'): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = Object.assign(document.createElement('a'), { href: url, download: name });
  link.click();
  URL.revokeObjectURL(url);
}

/** Whether a lesson has a recap. */
export function hasRecap(lesson: Pick<Lesson, 'explain' | 'quiz'>): boolean {
  return lesson.explain !== null || lesson.quiz.length > 0;
}
