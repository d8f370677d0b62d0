// SPDX-License-Identifier: GPL-2.0-or-later
/** How much of the predicted ratio hangs on each number of the model, and what the profile of the mail says to it. */

import { pointAt, type Runs, usualRuns } from './curve.ts';
import { distance, type ModelProfile, profileAt } from './profile.ts';
import { askedFor } from './streams.ts';
import type { AccessStream, Settings } from './types.ts';

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

/** Streams as they were counted. */
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

/** One choice of numbers. */
export interface Case {
  readonly ratio: number;
  /** How far its time by function is from the mail's, in points of percent; NaN where the mail has none. */
  readonly off: number;
}

export interface Ratios {
  readonly stated: Case;
  /** If every number stays but this one. */
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

/** A case whose profile is farther from the mail's than this many points, on average, is no account of the mail. */
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
