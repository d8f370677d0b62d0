// SPDX-License-Identifier: GPL-2.0-or-later
/** Where the scene of the touched file looks. */

import { millisecond, ns } from '../../base/units.ts';
import type { Finder } from '../../derive/moments.ts';
import type { LaneIndex } from '../../derive/types.ts';

/** Calls that follow a touch later than this are not in the same picture. */
const together = 5 * millisecond;

/**
 * The newest bits that were set for an object of a container's own, with the call that follows. While a run is live
 * the newest is looked at anyway.
 */
export const touched: Finder = (index) => {
  const lane = index.lanes[0];
  if (lane === undefined || index.live) return null;
  const last = touches(lane).at(-1)?.t;
  if (last === undefined) return null;
  const { ops } = lane;
  let before = 0;
  let end = last + millisecond;
  for (let i = 0; i < ops.length; i++) {
    if (ops.t1[i]! < last) before = Math.max(before, ops.t1[i]!);
    if (ops.t0[i]! > last && ops.t0[i]! - last < together) {
      end = Math.max(end, ops.t1[i]!);
      break;
    }
  }
  const start = Math.max(before, last - millisecond);
  const span = (end - start) * 1.03;
  return { start: ns(start), span, moment: ns(start + span), follows: false, known: true };
};

export interface Touch {
  /** Place among the lane's points. */
  readonly at: number;
  readonly t: number;
}

/** Bits of containers set, since the first call, for a shrinker other than the one where each has an object. */
export function touches(lane: LaneIndex): readonly Touch[] {
  const set = lane.pointsOf('set');
  const calls = lane.pointsOf('call');
  if (calls.length === 0) return [];
  const { points } = lane;
  const began = points.t[calls.order[0]!]!;
  const uses = new Map<number, number>();
  const all = Array.from({ length: set.length }, (_, i) => set.order[i]!);
  for (const at of all) uses.set(points.b[at]!, (uses.get(points.b[at]!) ?? 0) + 1);
  const born = lane.pointsOf('born');
  const containers = new Set(
    Array.from({ length: born.length }, (_, i) => born.order[i]!)
      .filter((at) => points.b[at] === 2)
      .map((at) => points.a[at]!),
  );
  const usual = [...uses].sort((a, b) => b[1] - a[1])[0]?.[0];
  return all
    .filter(
      (at) => points.t[at]! > began && points.b[at] !== usual && containers.has(points.a[at]!),
    )
    .map((at) => ({ at, t: points.t[at]! }));
}
