// SPDX-License-Identifier: GPL-2.0-or-later
/** Moments at which a scene can open, in any run. A scene's focus restricts the candidates. Pure. */

import { firstAtLeast } from '../../base/columns.ts';
import { noOffsets } from '../../derive/align.ts';
import { longestWaits } from '../../derive/jumps.ts';
import {
  activeLanes,
  type Finder,
  frameEnd,
  type Place,
  placeAround,
  type SceneWindow,
  spanOf,
} from '../../derive/moments.ts';
import { opsUpTo } from '../../derive/query.ts';
import type { LaneIndex, Layer, RunIndex } from '../../derive/types.ts';

/** Maximum number of places that are compared. */
export const candidates = 60;

/**
 * Return the first of the places at which the most lanes are active, because a window in which one lane sleeps allows
 * no comparison.
 */
export function liveliest(index: RunIndex, places: readonly Place[]): Place | null {
  let best: { place: Place; active: number } | null = null;
  for (const place of places) {
    const active = activeLanes(index, place, noOffsets);
    if (best === null || active > best.active) best = { place, active };
  }
  return best?.place ?? null;
}

/** The end of the longest wait that fits into the window. */
export const longestWait: Finder = (index, scene) => {
  const span = spanOf(scene);
  // The start of the wait must be visible, so waits that are longer than the window are used only if no wait fits.
  const fitting = longestWaits(index, noOffsets, candidates, span * 0.6);
  const waits = fitting.length > 0 ? fitting : longestWaits(index, noOffsets, candidates);
  return liveliest(
    index,
    waits.map((wait) => placeAround(wait.t1, span, 0.62)),
  );
};

/**
 * Return a place for the span. If the scene gives no length for its window, the window extends beyond the span by a
 * quarter of the span's length on each side.
 */
function fitted(scene: SceneWindow, t0: number, t1: number, share: number): Place {
  const span = spanOf(scene) || Math.max(1000, (t1 - t0) * 1.5);
  return placeAround((t0 + t1) / 2, span, share);
}

/** Kinds of these layers that are in the scene's focus. If none of them is in focus, all kinds of these layers. */
function kindsFor(index: RunIndex, scene: SceneWindow, layers: readonly Layer[]): Set<number> {
  const of = index.kinds.flatMap((kind, i) => (layers.includes(kind.layer) ? [i] : []));
  const focused = of.filter((i) => scene.focus?.includes(index.kinds[i]!.name));
  return new Set(focused.length > 0 ? focused : of.filter((i) => index.kinds[i]!.lesson));
}

/** The longest span in these layers whose kind is in focus. */
function longestOf(layers: readonly Layer[]): Finder {
  return (index, scene) => {
    const kinds = kindsFor(index, scene, layers);
    let best: { t0: number; t1: number } | null = null;
    for (const { spans } of index.lanes) {
      for (let i = 0; i < spans.length; i++) {
        const [t0, t1] = [spans.t0[i]!, spans.t1[i]!];
        if (t0 < 0 || !kinds.has(spans.kind[i]!)) continue;
        if (best === null || t1 - t0 > best.t1 - best.t0) best = { t0, t1 };
      }
    }
    return best && fitted(scene, best.t0, best.t1, 0.5);
  };
}

/** The longest operation on any lane. */
const longestOp: Finder = (index, scene) => {
  let best: { t0: number; t1: number } | null = null;
  for (const { ops } of index.lanes) {
    for (let i = 0; i < ops.length; i++) {
      const [t0, t1] = [ops.t0[i]!, ops.t1[i]!];
      if (t0 >= 0 && (best === null || t1 - t0 > best.t1 - best.t0)) best = { t0, t1 };
    }
  }
  return best && fitted(scene, best.t0, best.t1, 0.5);
};

const pointSpanNs = 1e7;

/** The first point on any lane since the workload's start. */
const firstPoint: Finder = (index, scene) => {
  const firsts = index.lanes.flatMap(({ points }) => {
    for (let i = 0; i < points.length; i++) if (points.t[i]! >= 0) return [points.t[i]!];
    return [];
  });
  if (firsts.length === 0) return null;
  return placeAround(Math.min(...firsts), spanOf(scene) || pointSpanNs, 0.3);
};

/** Maximum number of windows that are compared. */
const mostWindows = 4000;

/** The window with the most events. Only points and ends of operations count as events. */
const busiest: Finder = (index, scene) => {
  const end = frameEnd(index, noOffsets);
  // A run that is shorter than the window is shown completely.
  const span = Math.min(spanOf(scene) || 3e7, end);
  const step = Math.max(span / 4, end / mostWindows);
  let best: { start: number; n: number } | null = null;
  for (let start = 0; start + span <= end; start += step) {
    const n = index.lanes.reduce((sum, lane) => sum + happens(lane, start, start + span), 0);
    if (n > 0 && (best === null || n > best.n)) best = { start, n };
  }
  return best && placeAround(best.start + span / 2, span, 0.5);
};

function happens(lane: LaneIndex, a: number, b: number): number {
  const { points } = lane;
  // The table of points is sorted by time.
  const upTo = (t: number) => firstAtLeast(points.length, (i) => points.t[i]!, t);
  return opsUpTo(lane, b) - opsUpTo(lane, a) + upTo(b) - upTo(a);
}

export const timelineMoments: Readonly<Record<string, Finder>> = {
  longest_wait: longestWait,
  longest_function: longestOf(['function']),
  longest_phase: longestOf(['track']),
  longest: longestOf(['state', 'function', 'track']),
  longest_op: longestOp,
  first_point: firstPoint,
  busiest,
};
