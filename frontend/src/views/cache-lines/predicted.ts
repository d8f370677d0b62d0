// SPDX-License-Identifier: GPL-2.0-or-later
/** Stats a second that the model predicts, for one number of CPUs: for sentences and answers. The curve has its worker. */

import { pointAt } from '../../derive/coherence/curve.ts';
import type { LaneIndex } from '../../derive/types.ts';
import { type ModelSettings, settingsKey } from './settings.ts';
import { type Counted, countedOf } from './streams.ts';

const kept = new WeakMap<Counted, Map<string, number | null>>();

/** By the schedule of modelled time, whatever the picture has; null while no whole stat was told. */
export function predictedPerSecond(lane: LaneIndex, settings: ModelSettings): number | null {
  const counted = countedOf(lane);
  const all = kept.get(counted) ?? new Map<string, number | null>();
  kept.set(counted, all);
  const timed: ModelSettings = { ...settings, schedule: 'timed' };
  const key = settingsKey(timed);
  let value = all.get(key);
  if (value === undefined) {
    value =
      counted.ops === 0 ? null : pointAt(counted.streams, timed, settings.cpus).opsPerS.median;
    all.set(key, value);
  }
  return value;
}
