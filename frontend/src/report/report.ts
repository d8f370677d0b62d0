// SPDX-License-Identifier: GPL-2.0-or-later
/** The report of a class, ordered by the lesson's steps and with its words. Pure. */

import { t } from '../base/lang/t.ts';
import { pointOf } from '../classroom/pointing.ts';
import type { ClassReport } from '../protocol/contract.gen.ts';
import type { Lesson } from '../protocol/lesson.ts';

export type ReportQuestion = ClassReport['questions'][number];
export type ReportRound = ReportQuestion['rounds'][number];
export type Raised = ClassReport['raised'][number];

/** What the report needs of its lesson; null: it is not here any more. */
export type Words = Pick<Lesson, 'scenes' | 'predictions' | 'questions' | 'params' | 'arms'> | null;

export interface Step {
  readonly id: string;
  readonly title: string;
  readonly questions: readonly ReportQuestion[];
  readonly raised: readonly Raised[];
  /** How often somebody was lost while the class was there. */
  readonly lost: number;
}

export function titleOf(words: Words, step: string): string {
  if (step === '') return t('Polls');
  return words?.scenes.find(({ id }) => id === step)?.title ?? step;
}

/** Steps of which something is known, in the order of the lesson; then those of others, and polls. */
export function stepsOf(report: ClassReport, words: Words): readonly Step[] {
  const known = words?.scenes.map(({ id }) => id) ?? [];
  const named = [...report.questions, ...report.raised, ...report.lost].map(({ step }) => step);
  const others = named.filter((step) => step !== '' && !known.includes(step));
  return [...new Set([...known, ...others, ''])]
    .map((id) => ({
      id,
      title: titleOf(words, id),
      questions: report.questions.filter(({ step, rounds }) => step === id && rounds.length > 0),
      raised: report.raised.filter(({ step }) => step === id),
      lost: report.lost.reduce(
        (sum, { step, count }) => sum + (id !== '' && step === id ? count : 0),
        0,
      ),
    }))
    .filter(({ questions, raised, lost }) => questions.length + raised.length + lost > 0);
}

export function textOf({ text, question }: ReportQuestion, words: Words): string {
  if (text !== '' || words === null) return text || question;
  const point = pointOf(words, question);
  const asked = point === null ? undefined : words.questions[point]?.ask;
  return words.predictions[question]?.question ?? asked ?? question;
}

export interface Bar {
  readonly label: string;
  /** Of each round, in the order of the rounds. */
  readonly counts: readonly number[];
}

/** A bar for each option, and for each number that was given; options that nobody chose stand there, too. */
export function barsOf(of: ReportQuestion, words: Words): readonly Bar[] {
  const options =
    of.options.length > 0 ? of.options : (words?.predictions[of.question]?.choices ?? []);
  const given = of.rounds.flatMap(({ counts }) => Object.keys(counts));
  const others = [...new Set(given)].filter((key) => options[Number(key)] === undefined);
  const counts = (key: string) => of.rounds.map((round) => round.counts[key] ?? 0);
  return [
    ...options.map((label, i) => ({ label, counts: counts(String(i)) })),
    ...others.map((key) => ({ label: key, counts: counts(key) })),
  ];
}

/** `12 answers, 5 judged right`: by the pages that knew it when they answered. */
export function roundWords({ round, answers, right }: ReportRound, several: boolean): string {
  return t(
    '{several, select, yes {Round {round}: } other {}}{answers, plural, one {# answer} other {# answers}}{right, select, unknown {} other {, {right} judged right}}',
    { several: several ? 'yes' : 'no', round, answers, right: right ?? 'unknown' },
  );
}

export interface Bin {
  /** s since the class began. */
  readonly from: number;
  readonly count: number;
  /** Where most of these were lost. */
  readonly step: string;
}

const mostBins = 120;
const bucketS = 10;

/** The curve of who was lost over the class's time, in bins that fit a page. */
export function binsOf(lost: ClassReport['lost'], lastedS: number) {
  const whole = Math.max(lastedS, ...lost.map(({ at_s }) => at_s + bucketS), bucketS);
  const width = bucketS * Math.ceil(whole / bucketS / mostBins);
  const bins: Bin[] = Array.from({ length: Math.ceil(whole / width) }, (_, i) => {
    const from = i * width;
    const here = lost.filter(({ at_s }) => at_s >= from && at_s < from + width);
    const step = here.toSorted((a, b) => b.count - a.count)[0]?.step ?? '';
    return { from, count: here.reduce((sum, { count }) => sum + count, 0), step };
  });
  return { bins, width, whole: bins.length * width };
}

/** `1:05` minutes and seconds since the class began. */
export function clockOf(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`;
}
