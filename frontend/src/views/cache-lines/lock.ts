// SPDX-License-Identifier: GPL-2.0-or-later
/** The second act: lockref operations by compare-and-swap and under the lock, between one look at the counts and the next. */

import { second } from '../../base/units.ts';
import type { LaneIndex, LaneSample, RunIndex } from '../../derive/types.ts';

/** What happened between two samples. */
export interface Interval {
  readonly t0: number;
  readonly t1: number;
  readonly fast: number;
  readonly slow: number;
  readonly retries: number;
}

export interface Phase {
  readonly name: 'before' | 'listing' | 'after';
  readonly t0: number;
  readonly t1: number;
}

const cache = new WeakMap<LaneIndex, { readonly n: number; readonly intervals: Interval[] }>();

export function intervalsOf(lane: LaneIndex): readonly Interval[] {
  const samples = lane.samples('lockref-counts');
  const known = cache.get(lane);
  if (known?.n === samples.length) return known.intervals;
  const sums = samples.map((sample) => ({ t: sample.t, ...sumsIn(sample) }));
  const intervals: Interval[] = [];
  for (let i = 1; i < sums.length; i++) {
    const [a, b] = [sums[i - 1]!, sums[i]!];
    // Counts only rise; two looks at one guest time tell nothing of a rate.
    if (b.t <= a.t) continue;
    const [fast, slow, retries] = [b.fast - a.fast, b.slow - a.slow, b.retries - a.retries];
    intervals.push({ t0: a.t, t1: b.t, fast, slow, retries });
  }
  cache.set(lane, { n: samples.length, intervals });
  return intervals;
}

/** The workload's three phases, of `seconds` each; without a listing there is one. */
export function phasesOf({ params, workload }: Pick<RunIndex, 'params' | 'workload'>): Phase[] {
  const length = (params['seconds'] ?? 3) * second;
  const end = Number.POSITIVE_INFINITY;
  if (workload !== 'listing') return [{ name: 'before', t0: 0, t1: end }];
  return [
    { name: 'before', t0: 0, t1: length },
    { name: 'listing', t0: length, t1: 2 * length },
    { name: 'after', t0: 2 * length, t1: 3 * length },
  ];
}

/** What a look at the counters found, all CPUs together. */
export function sumsIn({ columns, n }: Pick<LaneSample, 'columns' | 'n'>) {
  const sum = (...names: string[]) =>
    names.reduce((all, name) => {
      for (let i = 0; i < n; i++) all += Number(columns[name]?.[i] ?? 0);
      return all;
    }, 0);
  const fast = sum('get_fast', 'put_fast');
  return { fast, slow: sum('get_slow', 'put_slow'), retries: sum('retry') };
}

export interface Share {
  readonly fast: number;
  readonly slow: number;
  readonly retries: number;
  /** Of guest time that was looked at, ns. */
  readonly over: number;
}

/** Sums of the intervals whose middle lies in [from, to), up to a moment. */
export function shareIn(
  intervals: readonly Interval[],
  from: number,
  to: number,
  upTo = Number.POSITIVE_INFINITY,
): Share {
  const sum = { fast: 0, slow: 0, retries: 0, over: 0 };
  for (const { t0, t1, fast, slow, retries } of intervals) {
    const middle = (t0 + t1) / 2;
    if (middle < from || middle >= to || t1 > upTo) continue;
    sum.fast += fast;
    sum.slow += slow;
    sum.retries += retries;
    sum.over += t1 - t0;
  }
  return sum;
}

/** Of a phase: what came through before the lock stayed taken, and what did then. */
export interface Burst {
  readonly before: Share;
  readonly then: Share;
}

/** From so much of its operations on an interval is one in which the lock stays taken. */
const taken = 0.5;

/**
 * Where most operations of a phase came before its first look at which most took the lock: a share of the phase is then
 * one of its first moments. Null: there is no such look, or most came later.
 */
export function burstOf(
  intervals: readonly Interval[],
  { t0, t1 }: Pick<Phase, 't0' | 't1'>,
  upTo = Number.POSITIVE_INFINITY,
): Burst | null {
  const jam = intervals.find(
    (one) => (one.t0 + one.t1) / 2 >= t0 && one.t1 <= upTo && (slowShare(one) ?? 0) >= taken,
  );
  if (jam === undefined || jam.t0 >= t1) return null;
  const before = shareIn(intervals, t0, jam.t0, upTo);
  const then = shareIn(intervals, jam.t0, t1, upTo);
  return before.fast + before.slow > then.fast + then.slow ? { before, then } : null;
}

/** Share under the lock, 0 to 1; null while there was no operation. */
export function slowShare({ fast, slow }: Pick<Share, 'fast' | 'slow'>): number | null {
  return fast + slow === 0 ? null : slow / (fast + slow);
}

/** Operations a second of guest time; null while nothing was looked at. */
export function rateOf({ fast, slow, over }: Share): number | null {
  return over <= 0 ? null : ((fast + slow) * second) / over;
}
