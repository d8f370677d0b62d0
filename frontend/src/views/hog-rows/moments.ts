// SPDX-License-Identifier: GPL-2.0-or-later
/** Where a step about readers looks. Pure. */

import { type Finder, placeAround, spanOf } from '../../derive/moments.ts';
import { spansIn } from '../../derive/query.ts';
import type { LaneIndex, RunIndex } from '../../derive/types.ts';
import { candidates, liveliest, longestWait } from '../timeline/moments.ts';

/** Moments of rows that wait. */
export const waitMoments: Readonly<Record<string, Finder>> = {
  longest_wait: longestWait,
  reader: (index, scene) =>
    liveliest(
      index,
      readerMoments(index).map((t) => placeAround(t, spanOf(scene), 0.4)),
    ),
};

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
