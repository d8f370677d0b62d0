// SPDX-License-Identifier: GPL-2.0-or-later
/** The second act: lockref operations by compare-and-swap and under the lock, between two samples of the counters. */

import { t, t as tr } from '@page/base/lang/t.ts';
import { formatCount, formatFigure, formatNs, second } from '@page/base/units.ts';
import type { Behind } from '@page/derive/behind.ts';
import { figure, type Scope } from '@page/derive/figures.ts';
import type { LaneIndex, LaneSample, Mark, RunIndex, Size } from '@page/derive/types.ts';
import type { Lesson } from '@page/protocol/lesson.ts';
import type { Box, LaidLane } from '@page/views/contract.ts';
import { scaleLog } from 'd3-scale';

/** Operations between two samples. */
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
    /**
     * The counts only rise, so a difference is never negative. Two samples at the same guest time have no rate, so they
     * give no interval.
     */
    if (b.t <= a.t) continue;
    const [fast, slow, retries] = [b.fast - a.fast, b.slow - a.slow, b.retries - a.retries];
    intervals.push({ t0: a.t, t1: b.t, fast, slow, retries });
  }
  cache.set(lane, { n: samples.length, intervals });
  return intervals;
}

/** The workload's three phases, each `seconds` long. Without a listing there is only one phase. */
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

/** A sample of the counters, summed over all CPUs. */
function sumsIn({ columns, n }: Pick<LaneSample, 'columns' | 'n'>) {
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
  /** Total guest time of the intervals, ns. */
  readonly over: number;
}

/** Return sums over the intervals whose middle is in [from, to) and whose end is not after `upTo`. */
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

/** Operations of a phase, split at the time from which the lock stayed taken. */
export interface Burst {
  readonly before: Share;
  readonly then: Share;
}

/** Minimum share of operations under the lock in an interval in which the lock counts as staying taken. */
const taken = 0.5;

/**
 * Split a phase at the first interval in which most operations took the lock. Return null if there is no such interval,
 * or if most of the phase's operations came after the interval began. Without the split, the share of the phase would
 * describe only its first moments.
 */
function burstOf(
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

/** Share of operations under the lock, from 0 to 1; null if there was no operation. */
export function slowShare({ fast, slow }: Pick<Share, 'fast' | 'slow'>): number | null {
  return fast + slow === 0 ? null : slow / (fast + slow);
}

/** Operations per second of guest time; null without samples. */
export function rateOf({ fast, slow, over }: Share): number | null {
  return over <= 0 ? null : ((fast + slow) * second) / over;
}

// Figures about operations under the lock, for the sentence, the picture, the panel and the tips.

/** Format the share of operations under the lock and the operations per second: "94.3 %", "135". */
export function pathFigures(
  { arm }: Pick<LaneIndex, 'arm'>,
  scope: Scope,
  of: string,
  slow: number | null,
  rate: number | null,
): readonly [string, string] {
  const percent = slow === null ? null : slow * 100;
  return [
    percent === null
      ? '–'
      : figure(scope, arm, `slow ${of}`, percent, `${formatFigure(percent)} %`),
    rate === null ? '–' : figure(scope, arm, `rate ${of}`, rate, formatCount(rate)),
  ];
}

/** Figures about a phase. If the phase has not ended, they cover it up to the current moment. */
export function phaseFigures(
  lane: Pick<LaneIndex, 'arm'>,
  phase: string,
  over: boolean,
  slow: number | null,
  rate: number | null,
): readonly [string, string] {
  return pathFigures(lane, over ? 'mark' : 'far', `in phase ${phase}`, slow, rate);
}

const during: Readonly<Record<Phase['name'], string>> = {
  before: t('before the listing'),
  listing: t('during the listing'),
  after: t('after the listing'),
};

/**
 * Explain why the share of a phase differs from the shares of most of its columns: " Of the 25,500 operations during
 * the listing, 24,437 came in its first 45.9 ms, before the lock stayed taken; 96.9 % of the others took the lock."
 * Empty if there is no difference. `now` is the lane's time.
 */
export function burstWords(
  lane: LaneIndex,
  index: Pick<RunIndex, 'params' | 'workload'>,
  now = Number.POSITIVE_INFINITY,
): string {
  const sentences = phasesOf(index).map((phase) => {
    const burst = burstOf(intervalsOf(lane), phase, now);
    const slow = burst === null ? null : slowShare(burst.then);
    if (burst === null || slow === null) return '';
    const { before, then } = burst;
    const over = now >= phase.t1;
    const of = (what: string, value: number, text: string) =>
      figure(over ? 'mark' : 'far', lane.arm, `${what} in phase ${phase.name}`, value, text);
    const early = before.fast + before.slow;
    const all = early + then.fast + then.slow;
    const [first, length] = [of('early', early, formatCount(early)), formatNs(before.over)];
    const rest = of('slow, late', slow * 100, `${formatFigure(slow * 100)} %`);
    return t(
      ' Of the {all} operations {during}{over}, {first} came in the first {length}, before the lock stayed taken; {rest} of the remaining operations took the lock.',
      {
        all: of('all', all, formatCount(all)),
        during: during[phase.name],
        over: over ? '' : t(' so far'),
        first,
        length: of('length', before.over, length),
        rest,
      },
    );
  });
  return sentences.join('');
}

// Layout of the second act. Time runs to the right. Lanes are below each other and have one common axis.

export interface LockLane extends LaidLane {
  readonly headlineY: number;
  /** Box of the chart with the shares of operations by compare-and-swap and under the lock. */
  readonly share: Box;
  /** Box of the chart with the operations per second, on a logarithmic scale. */
  readonly rate: Box;
}

export interface LockLayout {
  readonly lanes: readonly LockLane[];
  readonly fontSize: number;
}

/** Largest rate on the chart, per second. The scale is logarithmic and begins at 1. */
export const mostRate = 1e7;

export function layoutLock(
  arms: readonly string[],
  size: Size,
  headerHeight: number,
  fontSize: number,
): LockLayout {
  const n = Math.max(1, arms.length);
  const text = Math.round(fontSize * 1.4);
  const gutter = Math.round(fontSize * 5.2);
  const each = size.height / n;
  const width = Math.max(80, size.width - gutter - 10);
  const room = Math.max(100, each - headerHeight - text * 7 - 26);
  const lanes = arms.map((arm, i): LockLane => {
    const top = Math.round(i * each);
    const headlineY = top + headerHeight + 2;
    const share = {
      x: gutter,
      y: headlineY + text * 4 + 4,
      w: width,
      h: Math.round(Math.min(320, room * 0.6)),
    };
    const rate = {
      x: gutter,
      y: share.y + share.h + text * 1.5,
      w: width,
      h: Math.round(Math.min(200, room * 0.4)),
    };
    return { arm, left: 0, top, width: size.width, headlineY, share, rate };
  });
  return { lanes, fontSize };
}

const heightOf = scaleLog([1, mostRate], [0, 1]).clamp(true);

/** Height of a rate on the logarithmic scale, from 0 to 1. */
export function rateHeight(perSecond: number): number {
  return heightOf(Math.max(1, perSecond));
}

// Sources of a column of the second act: two samples in which the x-ray read the kernel's counters.

export function behindInterval(lane: LaneIndex, lesson: Lesson, mark: Mark): Behind | null {
  const one = intervalsOf(lane)[mark.row];
  if (one === undefined) return null;
  const kind = lesson.kinds[mark.kind];
  const looks = [one.t0, one.t1].flatMap((t) => {
    const sample = lane.samples('lockref-counts').find((found) => found.t === t);
    return sample === undefined ? [] : [sample];
  });
  return {
    arm: lane.arm,
    title: kind?.title ?? tr('a mark'),
    who: '',
    t0: lane.guestTime(mark.t0),
    t1: lane.guestTime(mark.t1),
    evidence: kind?.evidence ?? 'counted',
    how: tr(
      'The kernel counts these operations; the x-ray read the counters of the kernel twice, and the mark shows the difference.',
    ),
    rows: looks.map((sample) => ({
      t: lane.guestTime(sample.t),
      cpu: -1,
      what: tr('counters since the start'),
      fields: countWords(sample),
    })),
    trace: null,
  };
}

function countWords(sample: LaneSample): string {
  const { fast, slow, retries } = sumsIn(sample);
  const [by, under, failed] = [fast, slow, retries].map(formatCount);
  return tr('{by} by compare-and-swap, {under} under the lock, {failed} failed compare-and-swaps', {
    by,
    under,
    failed,
  });
}
