// SPDX-License-Identifier: GPL-2.0-or-later
/** Where to look in a run of threads that wait. Pure. */

import { noOffsets } from '../../derive/align.ts';
import { longestWaits } from '../../derive/beats.ts';
import { activeLanes } from '../../derive/episodes.ts';
import { type Finder, type Place, placeAround, spanOf } from '../../derive/moments.ts';
import { spansIn } from '../../derive/query.ts';
import type { LaneIndex, RunIndex } from '../../derive/types.ts';

/** Moments of rows that wait. */
export const waitMoments: Readonly<Record<string, Finder>> = {
  longest_wait: (index, scene) => {
    const span = spanOf(scene);
    // Its begin must be in view: a wait longer than the window tells less than the longest that fits.
    const fitting = longestWaits(index, noOffsets, candidates, span * 0.6);
    const waits = fitting.length > 0 ? fitting : longestWaits(index, noOffsets, candidates);
    return liveliest(
      index,
      waits.map((wait) => placeAround(wait.t1, span, 0.62)),
    );
  },
  reader: (index, scene) =>
    liveliest(
      index,
      readerMoments(index).map((t) => placeAround(t, spanOf(scene), 0.4)),
    ),
};

/** So many places are compared. */
const candidates = 60;

/** The first place at which the most lanes do something: a window in which one of them sleeps compares nothing. */
function liveliest(index: RunIndex, places: readonly Place[]): Place | null {
  let best: { place: Place; active: number } | null = null;
  for (const place of places) {
    const active = activeLanes(index, place, noOffsets);
    if (best === null || active > best.active) best = { place, active };
  }
  return best?.place ?? null;
}

/** Readers that somebody waits for: the middles of rechecks, the longest first; without any, of reader spans. */
function readerMoments(index: RunIndex): number[] {
  for (const [layer, name] of [
    ['track', 'gp_recheck'],
    ['function', 'reader'],
  ] as const) {
    const kind = index.kinds.findIndex((k) => k.name === name);
    const spans = index.lanes.flatMap((lane) => ofKind(lane, layer, kind));
    if (spans.length === 0) continue;
    return spans
      .sort((a, b) => b.t1 - b.t0 - (a.t1 - a.t0))
      .slice(0, candidates)
      .map((span) => (span.t0 + span.t1) / 2);
  }
  return [];
}

function ofKind(lane: LaneIndex, layer: 'track' | 'function', kind: number) {
  if (kind < 0) return [];
  return [...spansIn(lane, layer, 0, lane.watermark)].filter((s) => s.kind === kind);
}
