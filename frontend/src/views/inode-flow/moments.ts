// SPDX-License-Identifier: GPL-2.0-or-later
/** Where scenes look: at a life whose inode comes back, at the dam when it is full, where the run is in full swing. */

import { quantile } from '../../base/search.ts';
import { type Finder, placeAround, spanOf } from '../../derive/moments.ts';
import type { LaneIndex, PointTable, RunIndex } from '../../derive/types.ts';

/** Points of one name as numbers of a column. */
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

/** Every coming back of every inode: let go then, used again then. */
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

/** The inode of a run that comes back most often; the picture enlarges the same one. */
function favourite(lanes: readonly (readonly Return[])[]): number | null {
  const first = lanes[0];
  if (first === undefined) return null;
  const inos = [...new Set(first.map((r) => r.ino))].sort((a, b) => a - b);
  let best: { ino: number; times: number } | null = null;
  for (const ino of inos) {
    const times = Math.min(...lanes.map((all) => all.filter((r) => r.ino === ino).length));
    if (best === null || times > best.times) best = { ino, times };
  }
  return best?.ino ?? null;
}

/** The first returns are of a cold run. */
const cold = 2;

/** A return of the enlarged inode that is like the others: let go at a fifth of the window. */
const life: Finder = (index, scene) => {
  const lanes = index.lanes.map(returnsOf);
  const ino = favourite(lanes);
  const mine = (lanes[0] ?? []).filter((r) => r.ino === ino);
  const early = mine.filter((r) => r.early);
  const pool = (early.length > 0 ? early : mine).slice(early.length > cold ? cold : 0);
  if (pool.length === 0) return null;
  const age = (r: Return) => r.born - r.queued;
  const median = quantile(pool.map(age), 0.5);
  const best = pool.toSorted((a, b) => Math.abs(age(a) - median) - Math.abs(age(b) - median))[0]!;
  const span = spanOf(scene);
  const place = placeAround(best.queued, span, 0.3);
  return { ...place, moment: (best.born + span * 0.06) as typeof place.moment };
};

/** The middle of the run, on a tick: what a step shows when it is in full swing. */
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

/** The longest wait for the backlog; without one the moment at which most were queued. */
const fullest: Finder = (index, scene) => {
  let best: { t: number; size: number } | null = null;
  for (const lane of index.lanes) {
    const waits = column(lane, 'throttle_done', (p) => p.b);
    column(lane, 'throttle_done', (p) => p.t).forEach((t, i) => {
      const size = 1e9 + waits[i]!;
      if (best === null || size > best.size) best = { t: t - waits[i]! / 3, size };
    });
    const items = column(lane, 'queued', (p) => p.b);
    column(lane, 'queued', (p) => p.t).forEach((t, i) => {
      if (best === null || items[i]! > best.size) best = { t, size: items[i]! };
    });
  }
  const found = best as { t: number; size: number } | null;
  return found === null ? null : placeAround(found.t, spanOf(scene), 0.55);
};

/** The reuse that comes most ahead of its grace period, as far as the kernel's own word goes: early ones only. */
const danger: Finder = (index: RunIndex, scene) => {
  const lane = index.lanes[0];
  if (lane === undefined) return null;
  const early = returnsOf(lane).filter((r) => r.early);
  const after = early.slice(Math.floor(early.length / 4));
  const soonest = after.toSorted((a, b) => a.born - a.queued - (b.born - b.queued))[0];
  return soonest === undefined ? null : placeAround(soonest.born, spanOf(scene), 0.3);
};

export const moments: Readonly<Record<string, Finder>> = { life, swing, fullest, danger };
