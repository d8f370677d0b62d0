// SPDX-License-Identifier: GPL-2.0-or-later
/** Stats a second that the model predicts, for one number of CPUs: for sentences and answers. The curve has its worker. */

import type { LaneIndex } from '../../derive/types.ts';
import { pointAt } from './model/curve.ts';
import { askedFor } from './model/streams.ts';
import { type ModelSettings, settingsKey } from './settings.ts';
import { type Counted, countedOf } from './streams.ts';

const cache = new WeakMap<Counted, Map<string, number | null>>();

/** By the schedule of modelled time, whatever the picture has; null while the run is not whole, or nobody knows by whom. */
export function predictedPerSecond(lane: LaneIndex, settings: ModelSettings): number | null {
  if (!lane.ended) return null;
  const counted = countedOf(lane);
  const all = cache.get(counted) ?? new Map<string, number | null>();
  cache.set(counted, all);
  const timed: ModelSettings = { ...settings, schedule: 'timed' };
  const key = settingsKey(timed);
  let value = all.get(key);
  if (value === undefined) {
    value = counted.ops === 0 || !counted.placed ? null : rate(counted, timed);
    all.set(key, value);
  }
  return value;
}

function rate({ streams }: Counted, settings: ModelSettings): number {
  return pointAt(askedFor(streams, settings.owning), settings, settings.cpus).opsPerS.median;
}

/** How many times as many stats a second the last lane does; null while that is not known. */
export function predictedRatio(
  before: LaneIndex | undefined,
  after: LaneIndex | undefined,
  settings: ModelSettings,
): number | null {
  if (before === undefined || after === undefined || before === after) return null;
  const [one, other] = [before, after].map((lane) => predictedPerSecond(lane, settings));
  return one == null || other == null ? null : other / one;
}
