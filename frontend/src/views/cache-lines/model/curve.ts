// SPDX-License-Identifier: GPL-2.0-or-later
/** What the model predicts: rates and transfers against the number of CPUs. */

import { quantile } from '../../../base/columns.ts';
import { interleave } from './interleave.ts';
import { simulate } from './simulate.ts';
import { spreadOver } from './streams.ts';
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
