// SPDX-License-Identifier: GPL-2.0-or-later
/** One comparison on every clock that has it: what was published, what was measured, what the run on show counted. Pure. */

import { t } from '../base/lang/t.ts';
import type { Lesson, MeasuredTable } from '../protocol/lesson.ts';
import { opsShare } from './prediction.ts';
import { laneOf } from './query.ts';
import type { RunIndex } from './types.ts';

export interface RatioRow {
  readonly head: string;
  /** Of each kernel, in times of the first one's; null: not known there. */
  readonly of: ReadonlyMap<string, number | null>;
  /** It is of the run on the stage. */
  readonly run?: boolean;
}

export type RatioLesson = Pick<Lesson, 'published' | 'workloads'> & {
  readonly measured: readonly MeasuredTable[];
};

interface Asked {
  readonly lesson: RatioLesson;
  /** The first is what the others are compared with. */
  readonly arms: readonly string[];
  /** Of the step: tables of other values of these are of something else. */
  readonly params: Readonly<Record<string, number>>;
}

/** Rows in order of how far they are from this machine: the mail, tables of untraced runs, the run on show. */
export function ratioRows(asked: Asked, index: RunIndex | null): readonly RatioRow[] {
  return [...publishedRows(asked), ...measuredRows(asked), ...shownRows(asked, index)];
}

/** The first published rate of each kernel against the first one's. */
function publishedRows({ lesson, arms: [base, ...others] }: Asked): RatioRow[] {
  const of = others.map((arm): [string, number | null] => {
    const found = lesson.published.find(
      (one) =>
        one.arm === arm && one.to === base && one.base !== null && one.unit.endsWith('ops/s'),
    );
    return [arm, found?.base ? found.value / found.base : null];
  });
  if (of.every(([, ratio]) => ratio === null)) return [];
  return [{ head: t('the mail, on its machine'), of: new Map(of) }];
}

function measuredRows({ lesson, arms, params }: Asked): RatioRow[] {
  const [base = '', ...others] = arms;
  const clocks = new Map<string, RatioRow>();
  for (const table of lesson.measured) {
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

function medianOf({ rows }: MeasuredTable, arm: string): number | null {
  const median = rows.find((row) => row.arm === arm)?.ops_per_s_median ?? null;
  return median === null || median <= 0 ? null : median;
}

/** The workload, where it is not the lesson's usual one. */
function workloadWords({ workloads }: RatioLesson, { workload }: MeasuredTable): string {
  const [usual] = Object.keys(workloads);
  return workload === usual ? '' : `${workloads[workload]?.title ?? workload}, `;
}

/** Traced, all lanes over equal guest time. */
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
