// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Where a lane's scheduler ticks lie. The tick's length is known (HZ); its phase is not traced, so it is taken
 * from what only ticks can begin: delayed work of a grace period. A timer never fires before its tick, and on a busy
 * host often late, so the phase is the early edge of where most of those times lie. Without enough of them, or if
 * they do not agree, it is unknown.
 */

import { type Nanos, ns } from '../../base/units.ts';
import type { LaneIndex, RunIndex } from '../../derive/types.ts';

const least = 6;
const most = 256;

/** Kinds whose begin is the end of a delay in ticks. */
const begunByTicks = ['cb_wake'];

/** Some tick's time on the lane's axis, in [0, tick); null if it is not known. */
export function tickPhase(index: RunIndex, lane: LaneIndex): Nanos | null {
  const kinds = new Set(begunByTicks.map((name) => index.kinds.findIndex((k) => k.name === name)));
  const tick = index.tickNs;
  const residues: number[] = [];
  for (const strand of lane.strands) {
    if (strand.layer !== 'track') continue;
    for (let p = Math.max(0, strand.length - most); p < strand.length; p++) {
      const i = strand.order[p]!;
      if (kinds.has(lane.spans.kind[i]!)) residues.push(lane.spans.t0[i]! % tick);
    }
  }
  return phaseOf(residues, tick);
}

/** So many of the times must lie in a tenth of a tick; by chance a tenth would. */
const agreeing = 0.4;

/** The early edge of the tenth of a circle of length `tick` that holds most of the numbers; null if they disagree. */
export function phaseOf(residues: readonly number[], tick: number): Nanos | null {
  const n = residues.length;
  if (n < least) return null;
  const sorted = residues.map((r) => ((r % tick) + tick) % tick).sort((a, b) => a - b);
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
