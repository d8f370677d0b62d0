// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Numbers over time: operations, points, values of their fields, facts of the x-ray. Counts and sums begin at the left
 * edge of the window; values hold until the next one.
 */

import { firstAbove } from '../../base/columns.ts';
import { opsUpTo } from '../../derive/query.ts';
import type { KindFacts, LaneIndex } from '../../derive/types.ts';
import type { Score } from './score.ts';

/** The name of the series that counts operations; the lesson's own have theirs. */
export const operations = '';

/** One series of a lesson. */
export interface Series {
  readonly name: string;
  /** Place among the lesson's counters; -1: operations. */
  readonly at: number;
  readonly title: string;
  readonly colour: KindFacts['colour'];
  readonly point: string | null;
  readonly xray: string | null;
  /** Column of the point, or fact of the x-ray; null: how many there were. */
  readonly field: string | null;
  /** It adds up from the left edge of the window. */
  readonly adds: boolean;
}

const columns = ['a', 'b', 'c', 'd', 'e', 'f'] as const;

/** The series of a lesson: operations, where events tell of them, then what it declares. */
export function seriesOf(kinds: readonly KindFacts[], score: Score): readonly Series[] {
  const { plural, open } = score.operation;
  const ops: Series = {
    ...{ name: operations, at: -1, title: plural, colour: 'work', adds: true },
    ...{ point: null, xray: null, field: null },
  };
  const own = score.counters.map((counter, at): Series => {
    const { name, title, point, xray, field } = counter;
    const facts = score.points.find((one) => one.name === point);
    const column = columns[facts?.fields.indexOf(field ?? '') ?? -1] ?? null;
    return {
      ...{ name, at, title, point, xray, field: xray === null ? column : field },
      colour: point === null ? 'mechanism' : pointColour(kinds, point),
      adds: counter.sum || (point !== null && field === null),
    };
  });
  return open === null ? own : [ops, ...own];
}

/** Events that a series is made of, in order of time: when, and what value. */
export interface Steps {
  readonly n: number;
  readonly t: (p: number) => number;
  readonly value: (p: number) => number;
}

export function stepsOf(lane: LaneIndex, series: Series): Steps {
  const { name, field } = series;
  if (name === operations) {
    const { order, length } = lane.opsByEnd;
    return { n: length, t: (p) => lane.ops.t1[order[p]!]!, value: () => 1 };
  }
  if (series.xray !== null) {
    const samples = lane.samples(series.xray).filter(({ facts }) => facts[field!] !== undefined);
    return { n: samples.length, t: (p) => samples[p]!.t, value: (p) => samples[p]!.facts[field!]! };
  }
  const { order, length } = lane.pointsOf(series.point!);
  const column = field === null ? null : lane.points[field as (typeof columns)[number]];
  return {
    n: length,
    t: (p) => lane.points.t[order[p]!]!,
    value: (p) => (column === null ? 1 : column[order[p]!]!),
  };
}

/** The value of a series at t, in a window that begins at a; null: nothing is known of it yet. */
export function valueAt(lane: LaneIndex, series: Series, a: number, t: number): number | null {
  if (series.name === operations) return Math.max(0, opsUpTo(lane, t) - opsUpTo(lane, a));
  const steps = stepsOf(lane, series);
  const to = firstAbove(steps.n, steps.t, t);
  if (!series.adds) return to === 0 ? null : steps.value(to - 1);
  const from = firstAbove(steps.n, steps.t, a);
  if (series.field === null) return Math.max(0, to - from);
  let sum = 0;
  for (let p = from; p < to; p++) sum += steps.value(p);
  return sum;
}

/** The colour of points: that of the lesson's kind of mark with their name. */
export function pointColour(kinds: readonly KindFacts[], name: string): KindFacts['colour'] {
  return kinds.find((k) => k.layer === 'mark' && k.name === name)?.colour ?? 'work';
}
