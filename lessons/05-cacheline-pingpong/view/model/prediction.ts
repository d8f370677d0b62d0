// SPDX-License-Identifier: GPL-2.0-or-later
/** Computes a prediction in small steps, so that a worker can drop the prediction between two steps. */

// This import uses a path, because tests of the Python model run this file without Vite.
import { quantile } from '../../../../frontend/src/base/columns.ts';
import { type AccessStream, type Settings, simulate } from './coherence.ts';
import { interleave } from './interleave.ts';
import { mailProfile } from './stated.ts';
import { askedFor, spreadOver } from './streams.ts';

// The model's predictions: rates and transfers for different numbers of CPUs.

/** Median, lowest and highest value over all seeds. */
export interface Spread {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

interface CurvePoint {
  readonly cpus: number;
  /** Operations per second; NaN if the schedule has no times. */
  readonly opsPerS: Spread;
  readonly transfersPerOp: Spread;
  readonly upgradesPerOp: Spread;
  readonly busEventsPerOp: Spread;
}

interface Runs {
  readonly seeds: readonly number[];
  /** Total number of operations of all CPUs in each run. */
  readonly ops: number;
}

const usualRuns: Runs = { seeds: [1, 2, 3], ops: 1000 };
const usualCpus: readonly number[] = [1, 2, 4, 8, 12, 16, 20, 24, 32, 48, 64];

/**
 * Compute a point of the curve. Each CPU runs one of the streams or a copy of a stream, and all CPUs are always busy.
 */
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

/**
 * Profile of the modelled time: the share of each part of an operation, as `perf top` would show it. It can be compared
 * with the mail's profile (stated.json). The time of an access consists of the wait for the line and the line's
 * transfer. This time belongs to the function that made the access. Private work belongs to no part.
 */

/** One percentage for each part of the profile, in the profile's order: the part's share of all CPUs' time. */
export type Shares = readonly number[];

/** Return the profile of all seeds together. */
export function profileAt(
  streams: readonly AccessStream[],
  settings: Settings,
  cpus: number,
  { seeds, ops }: Runs = usualRuns,
): Shares {
  const spread = spreadOver(streams, cpus, Math.max(10, Math.ceil(ops / cpus)));
  const sums = new Float64Array(mailProfile.parts.length + 1);
  let whole = 0;
  for (const seed of seeds) {
    const log = interleave(spread, { ...settings, schedule: 'timed' }, seed, 'first');
    const { accessNs, ownNs } = log.spent!;
    for (let k = 0; k < log.length; k++) {
      const part = spread[log.cpu[k]!]!.part[log.index[k]!]!;
      sums[part] = sums[part]! + accessNs[k]!;
      whole += accessNs[k]!;
    }
    whole += ownNs;
  }
  return Array.from(sums.subarray(1), (sum) => (whole === 0 ? 0 : (100 * sum) / whole));
}

/** Two profiles of one arm, one under each rule for a load that leads to a read-modify-write. */
export interface ModelProfile {
  readonly arm: string;
  readonly owning: Shares;
  readonly reading: Shares;
}

/** @param streams the counted streams, to which owningLoads() has not been applied */
export function profileOf(
  arm: string,
  streams: readonly AccessStream[],
  settings: Settings,
  cpus: number,
  runs: Runs = usualRuns,
): ModelProfile {
  const of = (owning: boolean) => profileAt(askedFor(streams, owning), settings, cpus, runs);
  return { arm, owning: of(true), reading: of(false) };
}

/**
 * The mail's shares for an arm, in percent. A share is null if it is below the smallest share in the mail's list, or if
 * the mail has no such arm.
 */
export function mailShares(arm: string): readonly (number | null)[] {
  return mailProfile.parts.map(({ stock, moved }) =>
    arm === 'stock' ? stock : arm === 'moved' ? moved : null,
  );
}

/** Mean difference between the model's and the mail's shares, in percentage points; NaN if the mail has no shares. */
export function distance(profiles: readonly ModelProfile[], rule: 'owning' | 'reading'): number {
  const apart = profiles.flatMap((one) =>
    mailShares(one.arm).flatMap((mail, i) =>
      mail === null ? [] : [Math.abs(one[rule][i]! - mail)],
    ),
  );
  return apart.reduce((a, b) => a + b, 0) / apart.length;
}

// Sensitivity of the predicted ratio to each number of the model, and distance of each case from the mail's profile.

/** Numbers of the model on which the prediction depends. */
export const numbers = ['hit', 'transfer', 'upgrade', 'own', 'handover', 'jitter'] as const;
export type ModelNumber = (typeof numbers)[number];

/** Return the settings with one number multiplied by a factor. A share is limited to 1. */
export function scaled(settings: Settings, what: ModelNumber, factor: number): Settings {
  if (what === 'handover')
    return { ...settings, handover: Math.min(1, settings.handover * factor) };
  if (what === 'jitter') return { ...settings, jitter: Math.min(1, settings.jitter * factor) };
  const key = `${what}Ns` as const;
  const latencies = { ...settings.latencies, [key]: settings.latencies[key] * factor };
  return { ...settings, latencies };
}

/** The counted streams of two arms. */
export interface Pair {
  readonly before: readonly AccessStream[];
  readonly after: readonly AccessStream[];
}

/** Ratio of the two arms' rates, after to before, with this number of CPUs. Each rate is a median over the seeds. */
export function ratioAt(pair: Pair, settings: Settings, cpus: number, runs: Runs = usualRuns) {
  const rate = (streams: readonly AccessStream[]) =>
    pointAt(streams, { ...settings, schedule: 'timed' }, cpus, runs).opsPerS.median;
  return rate(pair.after) / rate(pair.before);
}

/** Result of one set of the model's numbers. */
export interface Case {
  readonly ratio: number;
  /** Mean difference from the mail's profile, in percentage points; NaN if the mail has no profile. */
  readonly off: number;
}

export interface Ratios {
  readonly stated: Case;
  /** For each number, the cases in which only this number was changed. */
  readonly rows: readonly {
    readonly what: ModelNumber;
    readonly halved: Case;
    readonly doubled: Case;
  }[];
}

/**
 * Ratios under two rules for a load that leads to a read-modify-write. `owning`: the load immediately asks to own the
 * line. `reading`: the load only asks to read the line.
 */
export interface Sensitivity {
  readonly cpus: number;
  readonly owning: Ratios;
  readonly reading: Ratios;
}

/** Largest mean difference, in percentage points, at which a case still explains the mail's profile. */
export const mostOff = 10;

/** @param arms names of the two arms, before and after; they select the mail's profiles */
export function sensitivity(
  { before, after }: Pair,
  settings: Settings,
  cpus: number,
  runs: Runs = usualRuns,
  arms: readonly [string, string] = ['stock', 'moved'],
): Sensitivity {
  const of = (rule: 'owning' | 'reading'): Ratios => {
    const [one, other] = [before, after].map((streams) => askedFor(streams, rule === 'owning'));
    const at = (now: Settings): Case => {
      const profiles = [one!, other!].map((streams, i): ModelProfile => {
        const shares = profileAt(streams, now, cpus, runs);
        return { arm: arms[i]!, owning: shares, reading: shares };
      });
      const ratio = ratioAt({ before: one!, after: other! }, now, cpus, runs);
      return { ratio, off: distance(profiles, rule) };
    };
    const rows = numbers.map((what) => ({
      what,
      halved: at(scaled(settings, what, 0.5)),
      doubled: at(scaled(settings, what, 2)),
    }));
    return { stated: at(settings), rows };
  };
  return { cpus, owning: of('owning'), reading: of('reading') };
}

export function casesOf({ stated, rows }: Ratios): readonly Case[] {
  return [stated, ...rows.flatMap(({ halved, doubled }) => [halved, doubled])];
}

export interface PredictionRequest {
  readonly arms: readonly { readonly arm: string; readonly streams: readonly AccessStream[] }[];
  readonly settings: Settings;
  readonly cpus?: readonly number[];
  readonly runs?: Runs;
  /** Whether loads ask to own the line, and not only to read it, if a read-modify-write follows (owningLoads). */
  readonly owning?: boolean;
  /**
   * Number of CPUs for the profile, for the ratio of the last to the first arm, and for the halved and doubled numbers.
   * If 0, none of these is computed.
   */
  readonly compareAt?: number;
}

export interface Prediction {
  readonly curves: readonly { readonly arm: string; readonly points: readonly CurvePoint[] }[];
  /** Profile of each arm's time. */
  readonly profile: readonly ModelProfile[];
  readonly sensitivity: Sensitivity | null;
  readonly done: boolean;
}

/** Yield the partial prediction after each step. */
export function* predictionSteps(request: PredictionRequest): Generator<Prediction, void> {
  const { settings, cpus = usualCpus, runs = usualRuns, owning = true, compareAt = 0 } = request;
  const curves = request.arms.map(({ arm, streams }) => ({
    arm,
    counted: streams,
    streams: askedFor(streams, owning),
    points: [] as CurvePoint[],
  }));
  let profile: readonly ModelProfile[] = [];
  const result = (found: Sensitivity | null, done: boolean): Prediction => ({
    curves: curves.map(({ arm, points }) => ({ arm, points: [...points] })),
    profile,
    sensitivity: found,
    done,
  });
  for (const n of cpus) {
    for (const { streams, points } of curves) {
      if (streams.length > 0) points.push(pointAt(streams, settings, n, runs));
    }
    yield result(null, false);
  }
  if (compareAt > 0) {
    const known = curves.filter(({ counted }) => counted.length > 0);
    profile = known.map(({ arm, counted }) => profileOf(arm, counted, settings, compareAt, runs));
    yield result(null, false);
  }
  const [before, after] = [curves[0]?.counted, curves.at(-1)?.counted];
  const pair = compareAt > 0 && curves.length > 1 && before?.length && after?.length;
  yield result(
    pair
      ? sensitivity({ before, after }, settings, compareAt, runs, [
          curves[0]!.arm,
          curves.at(-1)!.arm,
        ])
      : null,
    true,
  );
}

export interface PredictorTask {
  readonly id: number;
  /** The new request; null drops the current request. */
  readonly request: PredictionRequest | null;
}

export type PredictorResult =
  | { readonly id: number; readonly prediction: Prediction; readonly complaint?: undefined }
  | { readonly id: number; readonly complaint: string; readonly prediction?: undefined };

/**
 * Take the steps of a request, each in its own turn of the event loop, as long as it is the newest request. `wanted`
 * returns the id of the newest request.
 */
export async function takeSteps(
  task: PredictorTask,
  wanted: () => number,
  tell: (result: PredictorResult) => void,
  turn: () => Promise<void>,
): Promise<void> {
  const { id, request } = task;
  if (request === null) return;
  try {
    for (const prediction of predictionSteps(request)) {
      if (wanted() !== id) return;
      tell({ id, prediction });
      await turn();
    }
  } catch (cause) {
    tell({ id, complaint: cause instanceof Error ? cause.message : String(cause) });
  }
}
