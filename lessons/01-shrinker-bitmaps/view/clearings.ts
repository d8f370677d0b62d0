// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Reconstructs from events how a bit is cleared (shrink_slab_memcg() in mm/vmscan.c). First a check finds no object.
 * Then clear_bit(), smp_mb__after_atomic() and a second check follow. If the second check finds an object, the kernel
 * sets the bit again. The event of a check is written when the check ends. All times are ns on the lane's clock.
 */

import { firstAbove } from '@page/base/columns.ts';
import { t as tr } from '@page/base/lang/t.ts';
import { formatNs } from '@page/base/units.ts';
import { figure } from '@page/derive/figures.ts';
import type { LaneIndex } from '@page/derive/types.ts';
import { capital } from '@page/derive/words.ts';

/** Return value of do_shrink_slab() if it found no object: SHRINK_EMPTY. */
const empty = -2;
/**
 * The first check is searched among this many points before a clear, and the second check among this many points after
 * the clear. Points from other CPUs can come between these points.
 */
const reach = 12;
/** Show a clearing step by step if the window is less than this many times as long as the clearing. */
const followed = 200;

export interface Clearing {
  /** The memcg's inode and the shrinker's id, as in the points. */
  readonly memcg: number;
  readonly id: number;
  /** Index of the clear among the points. */
  readonly at: number;
  readonly look: number;
  readonly clear: number;
  readonly again: number;
  /** Return value of the second check; SHRINK_EMPTY if it found no object. */
  readonly found: number;
  /** Time at which the bit was set again; null if the bit was not set again. */
  readonly set: number | null;
}

/**
 * Return the k-th clear of a lane with the checks before and after it; null if the checks were not recorded one by one.
 */
export function clearingOf(lane: LaneIndex, k: number): Clearing | null {
  const { points } = lane;
  const at = lane.pointsOf('cleared').order[k]!;
  const [memcg, id] = [points.a[at]!, points.b[at]!];
  const { visit, set } = kindsOf(lane);
  const near = (
    kind: ReadonlySet<number>,
    from: number,
    by: 1 | -1,
    fits: (i: number) => boolean,
  ) => {
    for (let i = from + by, n = 0; n < reach && i >= 0 && i < points.length; i += by, n++) {
      const same = points.a[i] === memcg && points.b[i] === id;
      if (same && kind.has(points.kind[i]!)) return fits(i) ? i : -1;
    }
    return -1;
  };
  const look = near(visit, at, -1, (i) => points.c[i] === empty && points.d[i] === 0);
  const again = near(visit, at, 1, (i) => points.d[i]! > 0);
  if (look < 0 || again < 0) return null;
  const found = points.c[again]!;
  const reset = found === empty ? -1 : near(set, again, 1, () => true);
  return {
    ...{ memcg, id, at, found },
    ...{ look: points.t[look]!, clear: points.t[at]!, again: points.t[again]! },
    set: reset < 0 ? null : points.t[reset]!,
  };
}

/** Return the kind numbers of the lane's points `visit` and `set`; empty sets if the lane has no such points. */
function kindsOf(lane: LaneIndex) {
  const kinds = (name: string) => {
    const { order, length } = lane.pointsOf(name);
    return new Set(length === 0 ? [] : [lane.points.kind[order[0]!]!]);
  };
  return { visit: kinds('visit'), set: kinds('set') };
}

/**
 * Return the clearing to draw at a moment. If the window is short, or the moment is on one of a clearing's steps, this
 * is the current clearing. Otherwise it is the newest clearing since `from` that has ended.
 */
export function clearingAt(
  lane: LaneIndex,
  from: number,
  t: number,
  span: number,
): Clearing | null {
  const { order, length } = lane.pointsOf('cleared');
  const next = firstAbove(length, (k) => lane.points.t[order[k]!]!, t);
  const under = (k: number) => {
    const one = k >= 0 && k < length ? clearingOf(lane, k) : null;
    if (one === null || one.look > t || one.look < from) return null;
    const close = span < followed * (one.again - one.look);
    return close || [one.look, one.clear, one.again].some((step) => Math.abs(step - t) < 1)
      ? one
      : null;
  };
  const now = under(next) ?? under(next - 1);
  if (now !== null) return now;
  for (let k = next - 1; k >= 0 && lane.points.t[order[k]!]! >= from; k--) {
    const one = clearingOf(lane, k);
    if (one === null) return null;
    if (one.again <= t) return one;
  }
  return null;
}

/** Return the newest clearing of a cell since `from`; null if there is none, or if it has not ended by t. */
export function clearingOfCell(
  lane: LaneIndex,
  memcg: number,
  id: number,
  from: number,
  t: number,
): Clearing | null {
  const { order, length } = lane.pointsOf('cleared');
  const { points } = lane;
  for (let k = firstAbove(length, (i) => points.t[order[i]!]!, t) - 1; k >= 0; k--) {
    const at = order[k]!;
    if (points.t[at]! < from) return null;
    if (points.a[at] !== memcg || points.b[at] !== id) continue;
    const one = clearingOf(lane, k);
    return one === null || one.again > t ? null : one;
  }
  return null;
}

/** Return all clearings of a lane whose checks were recorded one by one. */
export function clearingsOf(lane: LaneIndex): readonly Clearing[] {
  const { length } = lane.pointsOf('cleared');
  const all = Array.from({ length }, (_, k) => clearingOf(lane, k));
  return all.filter((one) => one !== null);
}

export function foundAgain(one: Clearing): boolean {
  return one.found !== empty;
}

/** Format the times from the first check to the clear, and from the clear to the second check. */
export function clearingTimes(arm: string, one: Clearing): readonly [string, string] {
  const text = (what: string, value: number) =>
    figure('mark', arm, `${what}, clear at ${one.clear}`, value, formatNs(value));
  return [
    text('from check to clear', one.clear - one.look),
    text('from clear to second check', one.again - one.clear),
  ];
}

export function clearingWords(arm: string, one: Clearing): string {
  const [clear, again] = clearingTimes(arm, one);
  return tr(
    'The bit was cleared {clear} after the first check. A barrier and a second check followed. The second check ended {again} after the clear and {found, select, yes {found something, so the bit was set again} other {found nothing either}}.',
    { clear: capital(clear), again, found: foundAgain(one) ? 'yes' : 'no' },
  );
}
