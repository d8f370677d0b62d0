// SPDX-License-Identifier: GPL-2.0-or-later
/** The model's numbers, with their sources. */

import type { Latencies, Settings } from './coherence.ts';
import stated from './stated.json' with { type: 'json' };

export interface Stated {
  readonly value: number;
  readonly title: string;
  /** What the source says, and how the number follows from it. */
  readonly says: string;
  readonly source: string;
  readonly url: string;
}

export const statedNumbers: Readonly<Record<string, Stated>> = stated.stated;

export const statedLatencies: Latencies = {
  hitNs: stated.stated.hit_ns.value,
  transferNs: stated.stated.transfer_ns.value,
  upgradeNs: stated.stated.upgrade_ns.value,
  ownNs: stated.stated.own_ns.value,
};

export const statedSettings: Settings = {
  protocol: 'MESI',
  schedule: 'timed',
  latencies: statedLatencies,
  jitter: stated.stated.jitter.value,
  handover: stated.stated.handover.value,
};

/** Rates that the mail measured, for comparison with the curves. */
export const mailRates = {
  cpus: stated.mail.cpus,
  stockPerS: stated.mail.stock_per_s,
  movedPerS: stated.mail.moved_per_s,
  source: stated.mail.source,
};

/** Reason why a load immediately owns its line if a read-modify-write follows. */
export const owningLoad = stated.loads;

export const leftOut: readonly string[] = stated.left_out;

const positions: Readonly<Record<string, readonly number[]>> = stated.counted.at;

/** The mail's profile: shares of time by part, and the functions of each part. */
export const mailProfile = stated.profile;

const partNumbers = new Map(
  mailProfile.parts.flatMap(({ functions }, i) => functions.map((name) => [name, i + 1] as const)),
);

/** Number of a function's part of the profile, counted from 1; 0 if the function belongs to no part. */
export function partOf(name: string): number {
  return partNumbers.get(name) ?? 0;
}

/** Tell whether the positions of these functions' accesses in an operation were counted, for all functions. */
export function isPlaced(functions: ReadonlySet<string | undefined>): boolean {
  return [...functions].every((name) => name !== undefined && name in positions);
}

/**
 * Return the private work before each access of one operation, which is the counted number of instructions since the
 * previous access. The access before the first access is the last access of the previous operation.
 *
 * @param functions the function of each access, in order; an unknown function adds nothing
 */
export function workOf(functions: readonly string[]): number[] {
  const seen = new Map<string, number>();
  let last = 0;
  const at = functions.map((name) => {
    const known = positions[name];
    const n = seen.get(name) ?? 0;
    seen.set(name, n + 1);
    last = Math.max(last, known?.[Math.min(n, known.length - 1)] ?? 0);
    return last;
  });
  const around = stated.counted.instructions - last;
  return at.map((t, i) => (i === 0 ? t + around : t - at[i - 1]!));
}
