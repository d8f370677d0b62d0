// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The answer to a prediction. It compares how many operations two arms complete in equal guest time since the start.
 * The operations are counted from events, or their rates are taken from a recorded table of untraced runs.
 */

import { t } from '../base/lang/t.ts';
import type { Lesson, MeasuredTable, Prediction } from '../protocol/lesson.ts';
import { laneOf, lostIn, opsUpTo } from './query.ts';
import { ownTables } from './recording.ts';
import type { LaneIndex, RunIndex } from './types.ts';
import { armTitle, type Titles } from './words.ts';

export interface Answer {
  readonly value: number;
  /** Index of the correct choice. */
  readonly choice: number;
  /** A sentence that says what the data show. */
  readonly words: string;
  /** Source of the answer; by default the events of the run on the stage. */
  readonly by?: 'model' | 'table' | 'grid';
}

/** The answer's source and its kind of evidence, in words, for a card. */
export function answeredBy({ by }: Pick<Answer, 'by'>): {
  readonly who: string;
  readonly how: string;
} {
  if (by === 'model') return { who: t('the model'), how: t('Modelled') };
  if (by === 'grid') return { who: t('the curve'), how: t('Counted in recorded runs') };
  return by === 'table'
    ? { who: t('the table'), how: t('Measured') }
    : { who: t('the events'), how: t('Counted') };
}

/** Minimum number of operations on the second arm for an answer. */
const least = 5;

/** The ratio of the numbers of operations on two lanes, over equal guest time; null if the ratio is unknown. */
function opsShare(one: LaneIndex | null, other: LaneIndex | null): number | null {
  if (!one || !other) return null;
  const overNs = Math.min(one.watermark, other.watermark);
  // Lost events would distort the ratio, so the result is null.
  if (lostIn(one, 0, overNs) || lostIn(other, 0, overNs)) return null;
  const ops = [opsUpTo(one, overNs), opsUpTo(other, overNs)] as const;
  return ops[0] < 1 || ops[1] < least ? null : ops[0] / ops[1];
}

export function opsRatio(index: RunIndex, prediction: Prediction, titles: Titles): Answer | null {
  const [one, other] = prediction.arms.map((arm) => laneOf(index, arm));
  const ratio = opsShare(one ?? null, other ?? null);
  if (!one || !other || ratio === null) return null;
  const [first, second] = [armTitle(titles, one), armTitle(titles, other)];
  const words = t('{index}, traced, {ratio} {plural} on {first} for every ten on {second}.', {
    index: scopeWords(index),
    ratio: forTen(ratio),
    plural: titles.operation.plural,
    first,
    second,
  });
  return { value: ratio, choice: choiceOf(prediction, ratio), words };
}

/**
 * The answer as a ratio of medians, which come from the first recorded table with the prediction's clock and
 * parameters. Null if there is no such table. The table's runs were untraced, one kernel after the other.
 */
export function tableRatio(
  { measured, workloads }: Pick<Lesson, 'measured' | 'workloads'>,
  prediction: Prediction,
  titles: Titles,
): Answer | null {
  const [usual] = Object.keys(workloads);
  for (const { clock, params, workload, rows } of ownTables(measured)) {
    const asked = Object.entries(prediction.params);
    if (clock !== prediction.measured_on || workload !== usual) continue;
    if (!asked.every(([name, value]) => params[name] === value)) continue;
    const [one, other] = prediction.arms.map((arm) => rows.find((row) => row.arm === arm));
    const [of, to] = [one?.ops_per_s_median, other?.ops_per_s_median];
    if (!one || !of || !to) continue;
    const value = of / to;
    const [first, second] = prediction.arms.map((arm) => armTitle(titles, { arm }));
    const words = t(
      '{value} {plural} on {first} for every ten on {second}, by the medians of {n} runs without tracing, one kernel after the other ({clock} clock).',
      { value: forTen(value), plural: titles.operation.plural, first, second, n: one.n, clock },
    );
    return { value, choice: choiceOf(prediction, value), words, by: 'table' };
  }
  return null;
}

/** Words for the part of the run that an answer covers. */
export function scopeWords({ live, reading }: Pick<RunIndex, 'live' | 'reading'>): string {
  return live || reading === 'coming' ? t('So far') : t('In the whole run');
}

/** Index of the choice whose range contains the value. */
export function choiceOf(
  prediction: Pick<Prediction, 'bounds' | 'choices'>,
  value: number,
): number {
  const above = prediction.bounds.filter((bound) => value >= bound).length;
  return Math.min(above, prediction.choices.length - 1);
}

/** Format a ratio as operations per ten, as in "2.3 for every ten", with only as many digits as the counts support. */
export function forTen(ratio: number): string {
  const ten = ratio * 10;
  return ten >= 9.95 ? String(Math.round(ten)) : ten.toFixed(1);
}

// Ratios between kernels from three sources: publications, measured tables, and counts of the run on the stage. Pure.

export interface RatioRow {
  readonly head: string;
  /** The ratio of each kernel to the first kernel; null if this source does not know the ratio. */
  readonly of: ReadonlyMap<string, number | null>;
  /** Whether this row describes the run on the stage. */
  readonly run?: boolean;
}

export type RatioLesson = Pick<Lesson, 'published' | 'workloads'> & {
  readonly measured: readonly MeasuredTable[];
};

interface Asked {
  readonly lesson: RatioLesson;
  /** Names of the arms. The first arm is the baseline for the others. */
  readonly arms: readonly string[];
  /** Parameters of the step. Tables with other parameters are ignored. */
  readonly params: Readonly<Record<string, number>>;
}

/** All rows, from the most distant source to the nearest: the mail, tables of untraced runs, the run on the stage. */
export function ratioRows(asked: Asked, index: RunIndex | null): readonly RatioRow[] {
  return [...publishedRows(asked), ...measuredRows(asked), ...shownRows(asked, index)];
}

/** Rows with the published rate of each kernel, relative to the first kernel. */
function publishedRows({ lesson, arms: [base, ...others] }: Asked): RatioRow[] {
  const of = others.map((arm): [string, number | null] => {
    const found = lesson.published.find(
      (one) =>
        one.arm === arm && one.to === base && one.base !== null && one.unit.endsWith('ops/s'),
    );
    return [arm, found?.base ? found.value / found.base : null];
  });
  if (of.every(([, ratio]) => ratio === null)) return [];
  return [{ head: t('the mail’s figures, measured on another machine'), of: new Map(of) }];
}

function measuredRows({ lesson, arms, params }: Asked): RatioRow[] {
  const [base = '', ...others] = arms;
  const clocks = new Map<string, RatioRow>();
  for (const table of ownTables(lesson.measured)) {
    const before = medianOf(table, base);
    const fits = Object.entries(params).every(([name, value]) => table.params[name] === value);
    if (!fits || before === null || !others.every((arm) => medianOf(table, arm) !== null)) continue;
    const of = others.map((arm) => [arm, medianOf(table, arm)! / before] as const);
    const head = t('{lesson}{clock} clock, not traced', {
      lesson: workloadWords(lesson, table),
      clock: table.clock,
    });
    if (!clocks.has(head)) clocks.set(head, { head, of: new Map(of) });
  }
  return [...clocks.values()];
}

/** The median rate of an arm; null if the table has none. */
export function medianOf({ rows }: MeasuredTable, arm: string): number | null {
  const median = rows.find((row) => row.arm === arm)?.ops_per_s_median ?? null;
  return median === null || median <= 0 ? null : median;
}

/** The title of the workload; empty for the lesson's default workload. */
function workloadWords({ workloads }: RatioLesson, { workload }: MeasuredTable): string {
  const [usual] = Object.keys(workloads);
  return workload === usual ? '' : `${workloads[workload]?.title ?? workload}, `;
}

/** The row for the run on the stage, which was traced. All lanes are compared over equal guest time. */
function shownRows({ arms }: Asked, index: RunIndex | null): RatioRow[] {
  const [base = '', ...others] = arms;
  if (index === null) return [];
  const before = laneOf(index, base);
  const of = others.map((arm) => [arm, opsShare(laneOf(index, arm), before)] as const);
  if (of.every(([, ratio]) => ratio === null)) return [];
  return [
    {
      head: t('the run on the stage: {clock} clock, traced', { clock: index.clock }),
      of: new Map(of),
      run: true,
    },
  ];
}
