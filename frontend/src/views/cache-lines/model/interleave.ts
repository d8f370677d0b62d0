// SPDX-License-Identifier: GPL-2.0-or-later
/** How CPUs meet: their streams in one order, under a stated schedule and a seed. */

import { gather, linesOf } from './merge.ts';
import { Chance } from './prng.ts';
import { timedOrder } from './timed.ts';
import type { AccessStream, MergedLog, Settings, Until } from './types.ts';

/**
 * One order of all accesses.
 *
 * - random: each time one of the CPUs that have accesses left, all equally likely, does its next one.
 * - timed: every CPU has a time of its own, and waits for lines that others use (timed.ts).
 */
export function interleave(
  streams: readonly AccessStream[],
  settings: Settings,
  seed: number,
  until: Until = 'last',
): MergedLog {
  if (settings.schedule === 'timed') return timedOrder(streams, settings, seed, until);
  return gather(streams, linesOf(streams), randomOrder(streams, seed, until), null);
}

function randomOrder(streams: readonly AccessStream[], seed: number, until: Until): Uint8Array {
  const chance = new Chance(seed);
  const left = Uint32Array.from(streams, (s) => s.op.length);
  const ready = Array.from(streams, (_, c) => c).filter((c) => left[c]! > 0);
  const order = new Uint8Array(left.reduce((a, b) => a + b, 0));
  let length = 0;
  if (until === 'first' && ready.length < streams.length) return order.subarray(0, 0);
  while (ready.length > 0) {
    const at = chance.below(ready.length);
    const c = ready[at]!;
    order[length++] = c;
    if (--left[c]! > 0) continue;
    if (until === 'first') break;
    ready.splice(at, 1);
  }
  return order.slice(0, length);
}
