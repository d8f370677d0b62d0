// SPDX-License-Identifier: GPL-2.0-or-later
/** What the model predicts: rates and transfers against the number of CPUs, and how much hangs on each number. */

import { quantile } from '../../../base/search.ts';
import { interleave } from './interleave.ts';
import { simulate } from './simulate.ts';
import { owningLoads, spreadOver } from './streams.ts';
import type { AccessStream, Settings } from './types.ts';

/** Over the seeds: the middle one, the lowest and the highest. */
export interface Spread {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

export interface CurvePoint {
  readonly cpus: number;
  /** NaN under a schedule that knows no time. */
  readonly opsPerS: Spread;
  readonly transfersPerOp: Spread;
  readonly upgradesPerOp: Spread;
  readonly busEventsPerOp: Spread;
}

export interface Runs {
  readonly seeds: readonly number[];
  /** Operations of all CPUs together, of each run. */
  readonly ops: number;
}

export const usualRuns: Runs = { seeds: [1, 2, 3], ops: 1000 };
export const usualCpus: readonly number[] = [1, 2, 4, 8, 12, 16, 20, 24, 32, 48, 64];

/** One point of the curve: each CPU runs one of the streams, or a copy, all of them all the time. */
export function pointAt(
  streams: readonly AccessStream[],
  settings: Settings,
  cpus: number,
  { seeds, ops }: Runs = usualRuns,
): CurvePoint {
  const spread = spreadOver(streams, cpus, Math.max(10, Math.ceil(ops / cpus)));
  const runs = seeds.map((seed) => {
    const log = interleave(spread, settings, seed, 'first');
    return { log, totals: simulate(log, settings.protocol).totals };
  });
  const over = (of: (run: (typeof runs)[number]) => number) => spreadOf(runs.map(of));
  return {
    cpus,
    opsPerS: over(({ log }) => (log.endNs === null ? Number.NaN : (log.ops * 1e9) / log.endNs)),
    transfersPerOp: over(({ totals }) => totals.transfers / totals.ops),
    upgradesPerOp: over(({ totals }) => totals.upgrades / totals.ops),
    busEventsPerOp: over(({ totals }) => totals.busEvents / totals.ops),
  };
}

function spreadOf(values: readonly number[]): Spread {
  return { median: quantile(values, 0.5), low: Math.min(...values), high: Math.max(...values) };
}

/** The numbers that the prediction hangs on. */
export const numbers = ['hit', 'transfer', 'upgrade', 'own', 'handover', 'jitter'] as const;
export type ModelNumber = (typeof numbers)[number];

/** The settings with one number times a factor; shares stay at most 1. */
export function scaled(settings: Settings, what: ModelNumber, factor: number): Settings {
  if (what === 'handover')
    return { ...settings, handover: Math.min(1, settings.handover * factor) };
  if (what === 'jitter') return { ...settings, jitter: Math.min(1, settings.jitter * factor) };
  const key = `${what}Ns` as const;
  const latencies = { ...settings.latencies, [key]: settings.latencies[key] * factor };
  return { ...settings, latencies };
}

export interface Pair {
  readonly before: readonly AccessStream[];
  readonly after: readonly AccessStream[];
}

/** How many times as many operations a second `after` does on so many CPUs: medians over the seeds. */
export function ratioAt(pair: Pair, settings: Settings, cpus: number, runs: Runs = usualRuns) {
  const rate = (streams: readonly AccessStream[]) =>
    pointAt(streams, { ...settings, schedule: 'timed' }, cpus, runs).opsPerS.median;
  return rate(pair.after) / rate(pair.before);
}

export interface Sensitivity {
  readonly cpus: number;
  readonly ratio: number;
  /** The ratio if every number stays but this one. */
  readonly rows: readonly {
    readonly what: ModelNumber;
    readonly halved: number;
    readonly doubled: number;
  }[];
  /** What if a load that leads to a read-modify-write asked for ownership at once (owningLoads). */
  readonly owning: number;
}

export function sensitivity(
  pair: Pair,
  settings: Settings,
  cpus: number,
  runs: Runs = usualRuns,
): Sensitivity {
  const owning = { before: pair.before.map(owningLoads), after: pair.after.map(owningLoads) };
  return {
    cpus,
    ratio: ratioAt(pair, settings, cpus, runs),
    rows: numbers.map((what) => ({
      what,
      halved: ratioAt(pair, scaled(settings, what, 0.5), cpus, runs),
      doubled: ratioAt(pair, scaled(settings, what, 2), cpus, runs),
    })),
    owning: ratioAt(owning, settings, cpus, runs),
  };
}
