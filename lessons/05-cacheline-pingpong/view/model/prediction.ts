// SPDX-License-Identifier: GPL-2.0-or-later
/** A whole prediction as a job of small steps, so that a worker can drop it between two of them. */

// Imported by its path, since tests of the Python model run this file without Vite.
import { quantile } from '../../../../frontend/src/base/columns.ts';
import { type AccessStream, type Settings, simulate } from './coherence.ts';
import { interleave } from './interleave.ts';
import { mailProfile } from './stated.ts';
import { askedFor, spreadOver } from './streams.ts';

// What the model predicts: rates and transfers against the number of CPUs.

/** Median, lowest and highest over the seeds. */
export interface Spread {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

interface CurvePoint {
  readonly cpus: number;
  /** NaN under a schedule without times. */
  readonly opsPerS: Spread;
  readonly transfersPerOp: Spread;
  readonly upgradesPerOp: Spread;
  readonly busEventsPerOp: Spread;
}

interface Runs {
  readonly seeds: readonly number[];
  /** Operations of all CPUs together, of each run. */
  readonly ops: number;
}

const usualRuns: Runs = { seeds: [1, 2, 3], ops: 1000 };
const usualCpus: readonly number[] = [1, 2, 4, 8, 12, 16, 20, 24, 32, 48, 64];

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

// Where the modelled time goes, by part of an operation: what `perf top` would show of it, to be set beside the profile
// of the mail (stated.json). The time of an access is its wait for the line and the way of the line to the CPU, and
// belongs to the function that asks. Private work belongs to none of the parts.

/** Per part of the profile, in its order: percent of the time of all CPUs. */
export type Shares = readonly number[];

/** All seeds together. */
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

/** One arm under both rules for a load that leads to a read-modify-write. */
export interface ModelProfile {
  readonly arm: string;
  readonly owning: Shares;
  readonly reading: Shares;
}

/** @param streams as they were counted */
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

/** The mail's share for an arm, in percent; null: below the least share that its list shows, or no such arm. */
export function mailShares(arm: string): readonly (number | null)[] {
  return mailProfile.parts.map(({ stock, moved }) =>
    arm === 'stock' ? stock : arm === 'moved' ? moved : null,
  );
}

/** Mean difference between a model's and the mail's shares, in percentage points; NaN if the mail has none. */
export function distance(profiles: readonly ModelProfile[], rule: 'owning' | 'reading'): number {
  const apart = profiles.flatMap((one) =>
    mailShares(one.arm).flatMap((mail, i) =>
      mail === null ? [] : [Math.abs(one[rule][i]! - mail)],
    ),
  );
  return apart.reduce((a, b) => a + b, 0) / apart.length;
}

// How the predicted ratio depends on each number of the model, and how near the mail's profile each choice is.

/** Numbers on which the prediction depends. */
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

/** Streams as they were counted. */
export interface Pair {
  readonly before: readonly AccessStream[];
  readonly after: readonly AccessStream[];
}

/** Ratio of the rates, after over before, on that many CPUs: medians over the seeds. */
export function ratioAt(pair: Pair, settings: Settings, cpus: number, runs: Runs = usualRuns) {
  const rate = (streams: readonly AccessStream[]) =>
    pointAt(streams, { ...settings, schedule: 'timed' }, cpus, runs).opsPerS.median;
  return rate(pair.after) / rate(pair.before);
}

/** One choice of numbers. */
export interface Case {
  readonly ratio: number;
  /** Mean difference of its time by function from the mail's, in percentage points; NaN if the mail has none. */
  readonly off: number;
}

export interface Ratios {
  readonly stated: Case;
  /** With only this number changed. */
  readonly rows: readonly {
    readonly what: ModelNumber;
    readonly halved: Case;
    readonly doubled: Case;
  }[];
}

/** Under both rules for a load that leads to a read-modify-write: it asks to own the line at once, or to read it. */
export interface Sensitivity {
  readonly cpus: number;
  readonly owning: Ratios;
  readonly reading: Ratios;
}

/** A case whose profile differs by more than this many percentage points on average does not explain the mail. */
export const mostOff = 10;

/** @param arms names of before and after, by which the mail's profile is found */
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
  /** CPUs at which time is split by function, the last arm is set against the first, and every number is halved and doubled; 0: not at all. */
  readonly compareAt?: number;
}

export interface Prediction {
  readonly curves: readonly { readonly arm: string; readonly points: readonly CurvePoint[] }[];
  /** Where the time of each arm goes. */
  readonly profile: readonly ModelProfile[];
  readonly sensitivity: Sensitivity | null;
  readonly done: boolean;
}

/** Yield the prediction so far, after every step. */
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
  /** null: drop the current request. */
  readonly request: PredictionRequest | null;
}

export type PredictorResult =
  | { readonly id: number; readonly prediction: Prediction; readonly complaint?: undefined }
  | { readonly id: number; readonly complaint: string; readonly prediction?: undefined };

/** The steps of the newest request, each after a turn of the event loop; `wanted` names the newest. */
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
