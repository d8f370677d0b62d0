// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Moments at which scenes open: a reuse of the enlarged inode, an early reuse, the fullest queue, or a third of the way
 * through the reuses.
 */

import { quantile } from '@page/base/columns.ts';
import { ns } from '@page/base/units.ts';
import { type Finder, placeAround, spanOf } from '@page/derive/moments.ts';
import type { LaneIndex, PointTable, RunIndex } from '@page/derive/types.ts';
import { kindAt } from './layout.ts';
import { graceAfter, gracesOf } from './lives.ts';

/** Return one column of all points that have this name. */
function column(lane: LaneIndex, name: string, of: (points: PointTable) => Float64Array): number[] {
  const { order, length } = lane.pointsOf(name);
  const values = of(lane.points);
  return Array.from({ length }, (_, p) => values[order[p]!]!);
}

interface Return {
  readonly ino: number;
  readonly queued: number;
  readonly born: number;
  readonly early: boolean;
}

/** Return all reuses on a lane, with the times of release and reuse. */
function returnsOf(lane: LaneIndex): Return[] {
  const let_go = new Map<number, number>();
  const events = [
    ...zip(lane, 'queued').map((e) => ({ ...e, born: false })),
    ...zip(lane, 'reuse').map((e) => ({ ...e, born: true })),
  ].sort((a, b) => a.t - b.t);
  const found: Return[] = [];
  for (const { t, ino, b, born } of events) {
    if (!born) let_go.set(ino, t);
    const queued = let_go.get(ino);
    if (born && queued !== undefined) found.push({ ino, queued, born: t, early: b === 0 });
  }
  return found;
}

function zip(lane: LaneIndex, name: string) {
  const t = column(lane, name, (p) => p.t);
  const ino = column(lane, name, (p) => p.a);
  const b = column(lane, name, (p) => p.b);
  return t.map((at, i) => ({ t: at, ino: ino[i]!, b: b[i]! }));
}

/** Weight of an early reuse, which decides between inodes that are reused equally often; see commonest(). */
const tieBreak = 1e-4;

/** Return the inode that a run reuses most often. The picture enlarges this inode. */
function favourite(lanes: readonly (readonly Return[])[]): number | null {
  const first = lanes[0];
  if (first === undefined) return null;
  const inos = [...new Set(first.map((r) => r.ino))].sort((a, b) => a - b);
  let best: { ino: number; times: number } | null = null;
  for (const ino of inos) {
    const often = Math.min(...lanes.map((all) => all.filter((r) => r.ino === ino).length));
    const early = first.filter((r) => r.ino === ino && r.early).length;
    const times = often + early * tieBreak;
    if (best === null || times > best.times) best = { ino, times };
  }
  return best?.ino ?? null;
}

/** Number of reuses to skip at the start, when caches are still cold. */
const cold = 2;

/** Share of the window that lies before the release. The shadow must end within the rest of the window. */
const lead = 0.13;

/**
 * Find a window around a reuse of the enlarged inode. Prefer an early reuse whose complete shadow fits into the window,
 * with the most shadow left after the reuse. Otherwise choose a reuse whose time since the release is near the median.
 */
const life: Finder = (index, scene) => {
  const lanes = index.lanes.map(returnsOf);
  const ino = favourite(lanes);
  const lane = index.lanes[0];
  if (lane === undefined) return null;
  const span = spanOf(scene);
  const graces = gracesOf(lane, kindAt(index, 'gp'));
  const mine = (lanes[0] ?? []).filter((r) => r.ino === ino);
  const left = (r: Return) => graceAfter(graces, r.queued) - r.born;
  const whole = mine.filter((r) => graceAfter(graces, r.queued) < r.queued + span * (0.95 - lead));
  // A life that no earlier shadow overlaps is easiest to read.
  const clean = whole.filter((r) => {
    const before = mine.findLast((one) => one.born <= r.queued);
    return before !== undefined && graceAfter(graces, before.queued) <= r.queued;
  });
  const pick = clean.some((r) => r.early) ? clean : whole;
  const early = pick.filter((r) => r.early).toSorted((a, b) => left(b) - left(a));
  if (early[0] !== undefined) return around(early[0], span);
  const all = mine;
  const pool = all.slice(Math.min(cold, all.length - 1), Math.max(cold + 1, all.length * 0.6));
  if (pool.length === 0) return null;
  const age = (r: Return) => r.born - r.queued;
  const median = quantile(pool.map(age), 0.5);
  const best = pool.toSorted((a, b) => Math.abs(age(a) - median) - Math.abs(age(b) - median))[0]!;
  return around(best, span);
};

function around(one: Return, span: number) {
  const place = placeAround(one.queued, span, lead);
  return { ...place, moment: ns(one.born + span * 0.06) };
}

/** Find a window that begins at a tick, after about a third of the reuses. */
const swing: Finder = (index, scene) => {
  const first = index.lanes[0];
  const last = first === undefined ? [] : column(first, 'reuse', (p) => p.t);
  const end = Math.min(...index.lanes.map((lane) => lane.watermark));
  if (last.length === 0 || !(end > 0)) return null;
  const span = spanOf(scene);
  const start = Math.max(0, Math.min(last[Math.floor(last.length / 3)]! - span / 3, end - span));
  const tick = Math.floor(start / index.tickNs) * index.tickNs;
  const place = placeAround(tick + span, span, 1);
  return { ...place, start: place.start };
};

/** A queue counts as nearly longest if it has at least this share of the longest queue's length. */
const nearlyFull = 0.9;

/**
 * Return a moment in the first wait for the backlog. If there was no wait, return the moment at which a queue was
 * nearly longest.
 */
const fullest: Finder = (index, scene) => {
  const span = spanOf(scene);
  const waits = index.lanes.flatMap((lane) => {
    const lengths = column(lane, 'throttle_done', (p) => p.b);
    return column(lane, 'throttle_done', (p) => p.t).map((t, i) => t - lengths[i]! / 2);
  });
  if (waits.length > 0) return placeAround(Math.min(...waits), span, 0.5);
  const items = index.lanes.map((lane) => column(lane, 'queued', (p) => p.b));
  const most = Math.max(...items.map((all) => Math.max(0, ...all)));
  for (const [k, lane] of index.lanes.entries()) {
    const at = items[k]!.findIndex((n) => n >= most * nearlyFull);
    if (at >= 0) return placeAround(column(lane, 'queued', (p) => p.t)[at]!, span, 0.5);
  }
  return null;
};

/** Find the early reuse with the shortest time since the release. Skip the first quarter of the early reuses. */
const danger: Finder = (index: RunIndex, scene) => {
  const lane = index.lanes[0];
  if (lane === undefined) return null;
  const early = returnsOf(lane).filter((r) => r.early);
  const after = early.slice(Math.floor(early.length / 4));
  const soonest = after.toSorted((a, b) => a.born - a.queued - (b.born - b.queued))[0];
  return soonest === undefined ? null : placeAround(soonest.born, spanOf(scene), 0.3);
};

export const moments: Readonly<Record<string, Finder>> = { life, swing, fullest, danger };
