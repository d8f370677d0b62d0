// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Where a lane's scheduler ticks lie. The tick's length is known (HZ); its phase is not traced, so it is taken from
 * recorded steps that only a tick can begin. A timer never fires before its tick, and on a busy host often late, so
 * the phase is the early edge of where most of those steps lie. Without enough of them, or if they do not agree, it is
 * unknown.
 */

import { type Nanos, ns } from '../base/units.ts';

/** Fewer agree by chance. */
const least = 12;
/** So many of the times must lie in a tenth of a tick; by chance a tenth would. */
const agreeing = 0.5;

/** The early edge of the tenth of a circle of length `tick` that holds most of the times; null if they disagree. */
export function phaseOf(times: readonly number[], tick: number): Nanos | null {
  const n = times.length;
  if (n < least) return null;
  const sorted = times.map((t) => ((t % tick) + tick) % tick).sort((a, b) => a - b);
  const at = (i: number) => sorted[i % n]! + (i >= n ? tick : 0);
  let best = { from: 0, n: 0 };
  let end = 0;
  for (let from = 0; from < n; from++) {
    while (end < from + n && at(end) - at(from) <= tick / 10) end += 1;
    if (end - from > best.n) best = { from, n: end - from };
  }
  if (best.n / n < agreeing) return null;
  return ns(at(best.from + Math.floor(best.n * 0.1)) % tick);
}
