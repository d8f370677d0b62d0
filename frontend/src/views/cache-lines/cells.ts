// SPDX-License-Identifier: GPL-2.0-or-later
/** Rows of the microscope's counts: which are of the watched object's lines, and where they lie on them. */

import type { LaneIndex, LaneSample } from '../../derive/types.ts';

export const lineBytes = 64;

/** Bytes of the object's first line before the object: a variable may begin anywhere on a line. */
export function leadOf(address: number): number {
  return address % lineBytes;
}

/** The newest counts; null: there are none. */
export function countsOf(lane: LaneIndex): LaneSample | null {
  return lane.samples('microscope').at(-1) ?? null;
}

type Counts = Pick<LaneSample, 'columns' | 'facts'>;

/** Whether a row is of the watched object's lines; each other is the sum of a busy line elsewhere. */
export function isOwn({ columns, facts }: Counts, i: number): boolean {
  const [base, size] = [facts['address'] ?? 0, facts['size'] ?? 0];
  const line = Number(columns['address']?.[i] ?? 0);
  return line >= base - leadOf(base) && line < base + size;
}

/** Whether an operation did it. */
export function isInside({ columns }: Counts, i: number): boolean {
  return Number(columns['inside']?.[i] ?? 0) === 1;
}

/** First byte of a row of the object's lines, from the begin of the first line. */
export function placeOf({ columns, facts }: Counts, i: number): number {
  return Number(columns['at']?.[i] ?? 0) + leadOf(facts['address'] ?? 0);
}

/** Of the places of the object's lines, the one that is written most, by any function; -1: none is written. */
export function mostWritten(counts: LaneSample, within: (at: number) => number): number {
  const sums = new Map<number, number>();
  for (let i = 0; i < counts.n; i++) {
    if (!isOwn(counts, i)) continue;
    const key = within(placeOf(counts, i));
    const { writes, rmws } = counts.columns;
    const written = Number(writes?.[i] ?? 0) + Number(rmws?.[i] ?? 0);
    if (key >= 0 && written > 0) sums.set(key, (sums.get(key) ?? 0) + written);
  }
  let [best, most] = [-1, 0];
  for (const [key, sum] of sums) if (sum > most) [best, most] = [key, sum];
  return best;
}
