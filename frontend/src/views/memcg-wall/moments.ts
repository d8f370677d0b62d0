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
  const times = touches(lane);
  const last = times.at(-1);
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

/** Times at which a bit was set for a shrinker other than the one where every container has an object. */
export function touches(lane: LaneIndex): number[] {
  const set = lane.pointsOf('set');
  const first = lane.pointsOf('call');
  if (first.length === 0) return [];
  const { points } = lane;
  const began = points.t[first.order[0]!]!;
  const uses = new Map<number, number>();
  const at = (i: number) => set.order[i]!;
  for (let i = 0; i < set.length; i++) {
    const id = points.b[at(i)]!;
    uses.set(id, (uses.get(id) ?? 0) + 1);
  }
  const usual = [...uses].sort((a, b) => b[1] - a[1])[0]?.[0];
  const found: number[] = [];
  for (let i = 0; i < set.length; i++) {
    const t = points.t[at(i)]!;
    if (t > began && points.b[at(i)] !== usual) found.push(t);
  }
  return found;
}
