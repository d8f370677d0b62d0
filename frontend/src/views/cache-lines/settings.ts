// SPDX-License-Identifier: GPL-2.0-or-later
/** The model's settings: knobs that the page alone reads; where a lesson has none, the stated numbers. */

import type { RunIndex } from '../../derive/types.ts';
import type { Lesson } from '../../protocol/lesson.ts';
import { statedSettings } from './model/stated.ts';
import type { Protocol, Schedule, Settings } from './model/types.ts';

export interface ModelSettings extends Settings {
  readonly cpus: number;
  readonly seed: number;
  /** A load that leads to a read-modify-write asks for the line to own at once; see owningLoads(). The profile of the mail supports it. */
  readonly owning: boolean;
}

const protocols: readonly Protocol[] = ['MESI', 'MSI'];
const schedules: readonly Schedule[] = ['random', 'timed'];

/** Of the picture; the curve has several, and says how far they lie apart. */
export const pictureSeed = 1;

const { latencies, jitter, handover } = statedSettings;

const usual = {
  model_cpus: 2,
  protocol: 0,
  schedule: 1,
  owning: 1,
  // A hit takes little more than a nanosecond, and knobs are whole numbers.
  hit_ps: latencies.hitNs * 1000,
  transfer_ns: latencies.transferNs,
  upgrade_ns: latencies.upgradeNs,
  own_ns: latencies.ownNs,
} as const;

/** Names of the knobs that a lesson may declare. */
export const modelKnobs: readonly string[] = Object.keys(usual);

export function settingsOf(
  params: RunIndex['params'],
  lesson: Pick<Lesson, 'params'>,
): ModelSettings {
  const of = (name: keyof typeof usual) =>
    params[name] ?? lesson.params[name]?.default ?? usual[name];
  return {
    cpus: Math.max(1, Math.min(64, Math.round(of('model_cpus')))),
    protocol: protocols[of('protocol')] ?? 'MESI',
    schedule: schedules[of('schedule')] ?? 'random',
    latencies: {
      hitNs: of('hit_ps') / 1000,
      transferNs: of('transfer_ns'),
      upgradeNs: of('upgrade_ns'),
      ownNs: of('own_ns'),
    },
    jitter,
    handover,
    seed: pictureSeed,
    owning: of('owning') === 1,
  };
}

/** One word for equal settings. */
export function settingsKey(settings: ModelSettings): string {
  return JSON.stringify(settings);
}
