// SPDX-License-Identifier: GPL-2.0-or-later
/** The model's numbers, with their sources. */

import type { Latencies, Settings } from './coherence.ts';
import stated from './stated.json' with { type: 'json' };

export interface Stated {
  readonly value: number;
  readonly title: string;
  /** What the source says, and how the number was derived from it. */
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

/** Measured rates, to compare with the curves. */
export const mailRates = {
  cpus: stated.mail.cpus,
  stockPerS: stated.mail.stock_per_s,
  movedPerS: stated.mail.moved_per_s,
  source: stated.mail.source,
};

/** Why a load that leads to a read-modify-write owns its line at once. */
export const owningLoad = stated.loads;

export const leftOut: readonly string[] = stated.left_out;

const positions: Readonly<Record<string, readonly number[]>> = stated.counted.at;

/** The mail's time by function, and the part of the profile to which each function belongs. */
export const mailProfile = stated.profile;

const partNumbers = new Map(
  mailProfile.parts.flatMap(({ functions }, i) => functions.map((name) => [name, i + 1] as const)),
);

/** Number of the profile's part to which a function belongs, counted from 1; 0 if it belongs to none. */
export function partOf(name: string): number {
  return partNumbers.get(name) ?? 0;
}

/** Tell whether the counts show, for all these functions, at which place in an operation their accesses come. */
export function isPlaced(functions: ReadonlySet<string | undefined>): boolean {
  return [...functions].every((name) => name !== undefined && name in positions);
}

/**
 * Return the private work before each access of one operation, in instructions. This is the number of instructions
 * counted since the previous access. For the first access, the previous access is the last one of the operation before.
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
