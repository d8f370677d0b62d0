// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Where a lane's scheduler ticks lie. The tick's length is known (HZ); its phase is not traced, so it is taken
 * from what only ticks can begin: delayed work of a grace period. A timer never fires before its tick, so the
 * phase is the early edge of those times. Without enough of them, or if they do not agree, it is unknown.
 */

import { type Nanos, ns } from '../base/units.ts';
import type { LaneIndex, RunIndex } from './types.ts';

const least = 6;
const most = 256;

/** Kinds whose begin is the end of a delay in ticks. */
const begunByTicks = ['cb_wake'];

/** Some tick's time on the lane's axis, in [0, tick); null if it cannot be told. */
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

/** The early edge of numbers that lie close together on a circle of length `tick`. */
export function phaseOf(residues: readonly number[], tick: number): Nanos | null {
  if (residues.length < least) return null;
  let x = 0;
  let y = 0;
  for (const r of residues) {
    x += Math.cos((r / tick) * 2 * Math.PI);
    y += Math.sin((r / tick) * 2 * Math.PI);
  }
  const agreement = Math.hypot(x, y) / residues.length;
  if (agreement < 0.8) return null;
  const mean = ((Math.atan2(y, x) / (2 * Math.PI)) * tick + tick) % tick;
  const offsets = residues
    .map((r) => ((((r - mean + tick * 1.5) % tick) + tick) % tick) - tick / 2)
    .sort((a, b) => a - b);
  const early = offsets[Math.floor(offsets.length * 0.1)]!;
  return ns((mean + early + tick) % tick);
}
