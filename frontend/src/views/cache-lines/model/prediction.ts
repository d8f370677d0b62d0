// SPDX-License-Identifier: GPL-2.0-or-later
/** A whole prediction as a job of small steps, so that a worker can drop it between two of them. */

import { type CurvePoint, pointAt, type Runs, usualCpus, usualRuns } from './curve.ts';
import { type ModelProfile, profileOf } from './profile.ts';
import { type Sensitivity, sensitivity } from './sensitivity.ts';
import { askedFor } from './streams.ts';
import type { AccessStream, Settings } from './types.ts';

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

/** The prediction as far as it has come, after every step. */
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
  /** null: nothing any more. */
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
