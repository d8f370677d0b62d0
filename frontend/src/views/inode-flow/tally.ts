// SPDX-License-Identifier: GPL-2.0-or-later
/** What has come to pass on a lane up to a moment, and where its inodes are. Counted from the points alone. */

import { firstAbove, firstAtLeast } from '../../base/columns.ts';
import { pointRange, pointsUpTo } from '../../derive/lane-index.ts';
import type { LaneIndex } from '../../derive/types.ts';
import { type Life, type Lives, never, stateAt } from './lives.ts';

export interface Tally {
  readonly queued: number;
  readonly inactivated: number;
  readonly reused: number;
  /** Of these: before their grace period had passed, as the kernel itself said. */
  readonly early: number;
  /** Inodes given out for the first time. */
  readonly fresh: number;
  readonly gpWaits: number;
  readonly gpWaitNs: number;
  readonly throttles: number;
  readonly throttleNs: number;
}

/** Sum of a column of the points of one name up to t, over those that `counts`. */
function sumUpTo(
  lane: LaneIndex,
  name: string,
  t: number,
  value: (i: number) => number,
  from = Number.NEGATIVE_INFINITY,
): number {
  const of = lane.pointsOf(name);
  const range = pointRange(lane.points, of, from, t + 1);
  let sum = 0;
  for (let p = range.from; p < range.to; p++) sum += value(of.order[p]!);
  return sum;
}

/** Up to t, from `from` on. Inodes that were never queued do not count as inactivated: they need no worker. */
export function tallyOf(
  lane: LaneIndex,
  lives: Lives,
  t: number,
  from = Number.NEGATIVE_INFINITY,
): Tally {
  const { points } = lane;
  const count = (name: string) => {
    const of = lane.pointsOf(name);
    return pointsUpTo(points, of, t) - pointRange(points, of, from, t + 1).from;
  };
  return {
    queued: count('queued'),
    inactivated: inactivatedIn(lives, from, t),
    reused: count('reuse'),
    early: sumUpTo(lane, 'reuse', t, (i) => (points.b[i] === 0 ? 1 : 0), from),
    fresh: count('fresh'),
    gpWaits: count('gp_wait_done'),
    gpWaitNs: sumUpTo(lane, 'gp_wait_done', t, (i) => points.c[i]!, from),
    throttles: count('throttle_done'),
    throttleNs: sumUpTo(lane, 'throttle_done', t, (i) => points.b[i]!, from),
  };
}

const ends = new WeakMap<Lives, Float64Array>();

function inactivatedIn(lives: Lives, from: number, t: number): number {
  let sorted = ends.get(lives);
  if (sorted === undefined) {
    const times = lives.all.filter((l) => l.inactivated < never).map((l) => l.inactivated);
    sorted = Float64Array.from(times).sort();
    ends.set(lives, sorted);
  }
  const upTo = (x: number) => firstAbove(sorted.length, (i) => sorted[i]!, x);
  return upTo(t) - (from > 0 ? upTo(from - 1) : 0);
}

export interface Population {
  readonly alive: readonly Life[];
  readonly queued: readonly Life[];
  readonly free: readonly Life[];
}

/** Where every inode is at t, in order of inode numbers. */
export function populationAt(lives: Lives, t: number): Population {
  const found = { alive: [] as Life[], queued: [] as Life[], free: [] as Life[] };
  for (const ino of lives.inos) {
    const list = lives.byIno.get(ino)!;
    const at = firstAbove(list.length, (i) => list[i]!.born, t) - 1;
    if (at < 0) continue;
    const life = list[at]!;
    const state = stateAt(life, t);
    if (state !== 'none') found[state].push(life);
  }
  return found;
}

const rests = new WeakMap<Lives, number>();

/** The longest time from the letting go of an inode to its next file. */
function longestRest(lives: Lives): number {
  const known = rests.get(lives);
  if (known !== undefined) return known;
  let longest = 0;
  for (const { queued, next } of lives.all)
    if (next < never && queued < never) longest = Math.max(longest, next - queued);
  rests.set(lives, longest);
  return longest;
}

/** Ages at which inodes were used again in [a, b), ns since the letting go; and the lengths of their shadows. */
export function agesIn(lives: Lives, a: number, b: number): { ages: number[]; shadows: number[] } {
  const ages: number[] = [];
  const shadows: number[] = [];
  const { all } = lives;
  let at = firstAtLeast(all.length, (i) => all[i]!.queued, a - longestRest(lives));
  for (; at < all.length; at++) {
    const life = all[at]!;
    // What was let go after the window came back after it.
    if (life.queued === never || life.queued >= b) break;
    if (life.next < a || life.next >= b || life.shadowEnd === never) continue;
    ages.push(life.next - life.queued);
    shadows.push(life.shadowEnd - life.queued);
  }
  return { ages, shadows };
}
