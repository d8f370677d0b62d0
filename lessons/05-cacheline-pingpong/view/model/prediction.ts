// SPDX-License-Identifier: GPL-2.0-or-later
/** Computes a whole prediction in small steps, so that a worker can drop it between two of them. */

// This import uses a path, because tests of the Python model run this file without Vite.
import { quantile } from '../../../../frontend/src/base/columns.ts';
import { type AccessStream, type Settings, simulate } from './coherence.ts';
import { interleave } from './interleave.ts';
import { mailProfile } from './stated.ts';
import { askedFor, spreadOver } from './streams.ts';

// What the model predicts: rates and transfers for different numbers of CPUs.

/** The median, lowest and highest value over the seeds. */
export interface Spread {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

interface CurvePoint {
  readonly cpus: number;
  /** NaN under a schedule that has no times. */
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
 * Compute one point of the curve. Each CPU runs one of the streams, or a copy of one, and all CPUs are busy all the
 * time.
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

// Where the modelled time goes, by part of an operation. This is what `perf top` would show, so it can be compared with
// the mail's profile (stated.json). The time of an access consists of its wait for the line and the line's way to the
// CPU. It belongs to the function that made the access. Private work belongs to none of the parts.

/**
 * One percentage for each part of the profile, in the profile's order. It is the part's share of the time of all CPUs.
 */
export type Shares = readonly number[];

/** Return the profile over all seeds together. */
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

/** @param streams the streams as they were counted */
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
 * The mail's share for an arm, in percent; null if it is below the least share in the mail's list, or if the mail has
 * no such arm.
 */
export function mailShares(arm: string): readonly (number | null)[] {
  return mailProfile.parts.map(({ stock, moved }) =>
    arm === 'stock' ? stock : arm === 'moved' ? moved : null,
  );
}

/**
 * Mean difference between the shares of a model and of the mail, in percentage points; NaN if the mail has no shares.
 */
export function distance(profiles: readonly ModelProfile[], rule: 'owning' | 'reading'): number {
  const apart = profiles.flatMap((one) =>
    mailShares(one.arm).flatMap((mail, i) =>
      mail === null ? [] : [Math.abs(one[rule][i]! - mail)],
    ),
  );
  return apart.reduce((a, b) => a + b, 0) / apart.length;
}

// How the predicted ratio depends on each number of the model, and how close each choice of numbers comes to the mail's
// profile.

/** Numbers on which the prediction depends. */
export const numbers = ['hit', 'transfer', 'upgrade', 'own', 'handover', 'jitter'] as const;
export type ModelNumber = (typeof numbers)[number];

/** Return the settings with one number multiplied by a factor. Shares stay at most 1. */
export function scaled(settings: Settings, what: ModelNumber, factor: number): Settings {
  if (what === 'handover')
    return { ...settings, handover: Math.min(1, settings.handover * factor) };
  if (what === 'jitter') return { ...settings, jitter: Math.min(1, settings.jitter * factor) };
  const key = `${what}Ns` as const;
  const latencies = { ...settings.latencies, [key]: settings.latencies[key] * factor };
  return { ...settings, latencies };
}

/** The streams of two arms, as they were counted. */
export interface Pair {
  readonly before: readonly AccessStream[];
  readonly after: readonly AccessStream[];
}

/** Ratio of the rates, after to before, with this number of CPUs. The rates are medians over the seeds. */
export function ratioAt(pair: Pair, settings: Settings, cpus: number, runs: Runs = usualRuns) {
  const rate = (streams: readonly AccessStream[]) =>
    pointAt(streams, { ...settings, schedule: 'timed' }, cpus, runs).opsPerS.median;
  return rate(pair.after) / rate(pair.before);
}

/** One choice of the model's numbers. */
export interface Case {
  readonly ratio: number;
  /**
   * Mean difference between this case's profile and the mail's profile, in percentage points; NaN if the mail has no
   * profile.
   */
  readonly off: number;
}

export interface Ratios {
  readonly stated: Case;
  /** The cases in which only this number was changed. */
  readonly rows: readonly {
    readonly what: ModelNumber;
    readonly halved: Case;
    readonly doubled: Case;
  }[];
}

/**
 * The ratios under each of two rules for a load that leads to a read-modify-write: it asks to own the line at once, or
 * it asks only to read it.
 */
export interface Sensitivity {
  readonly cpus: number;
  readonly owning: Ratios;
  readonly reading: Ratios;
}

/** A case whose profile differs by more than this many percentage points on average does not explain the mail. */
export const mostOff = 10;

/** @param arms names of the arms before and after, by which the mail's profile is found */
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
  /** Whether loads that lead to a read-modify-write ask for ownership at once (owningLoads). */
  readonly owning?: boolean;
  /**
   * Number of CPUs for which time is split by function, the last arm is compared with the first one, and every number
   * is halved and doubled. If 0, none of this is done.
   */
  readonly compareAt?: number;
}

export interface Prediction {
  readonly curves: readonly { readonly arm: string; readonly points: readonly CurvePoint[] }[];
  /** The profile of each arm, which shows where its time goes. */
  readonly profile: readonly ModelProfile[];
  readonly sensitivity: Sensitivity | null;
  readonly done: boolean;
}

/** Yield the prediction as it is after each step. */
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
  /** The new request; null to drop the current one. */
  readonly request: PredictionRequest | null;
}

export type PredictorResult =
  | { readonly id: number; readonly prediction: Prediction; readonly complaint?: undefined }
  | { readonly id: number; readonly complaint: string; readonly prediction?: undefined };

/**
 * Take the steps of the newest request, each in its own turn of the event loop. `wanted` returns the newest request.
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
