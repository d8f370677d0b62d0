// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Where the modelled time goes, by part of an operation: what `perf top` would show of it, to be set beside the profile
 * of the mail (stated.json). The time of an access is its wait for the line and the way of the line to the CPU, and
 * belongs to the function that asks. Private work belongs to none of the parts.
 */

import { type Runs, usualRuns } from './curve.ts';
import { interleave } from './interleave.ts';
import { mailProfile } from './stated.ts';
import { askedFor, spreadOver } from './streams.ts';
import type { AccessStream, Settings } from './types.ts';

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

/** What the mail has of an arm, in percent; null: less than the least that its list shows, or no such arm. */
export function mailShares(arm: string): readonly (number | null)[] {
  return mailProfile.parts.map(({ stock, moved }) =>
    arm === 'stock' ? stock : arm === 'moved' ? moved : null,
  );
}

/** How far a model lies from the mail's shares on average, in points of percent; NaN where the mail has none. */
export function distance(profiles: readonly ModelProfile[], rule: 'owning' | 'reading'): number {
  const apart = profiles.flatMap((one) =>
    mailShares(one.arm).flatMap((mail, i) =>
      mail === null ? [] : [Math.abs(one[rule][i]! - mail)],
    ),
  );
  return apart.reduce((a, b) => a + b, 0) / apart.length;
}
