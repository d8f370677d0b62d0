// SPDX-License-Identifier: GPL-2.0-or-later
/** Scene -> window and moment: where a step of the story begins to look. */

import { assertNever } from '../base/assert.ts';
import { millisecond, type Nanos, ns } from '../base/units.ts';
import type { Scene } from '../protocol/lesson.ts';
import { noOffsets } from './align.ts';
import { longestWait } from './beats.ts';
import { newestEpisode, type Window } from './episodes.ts';
import { spansIn } from './query.ts';
import type { LaneIndex, RunIndex } from './types.ts';

export interface Place extends Window {
  readonly moment: Nanos;
  /** The place is the newest and moves on with the run. */
  readonly follows: boolean;
}

/** Windows of half a tick and more begin on a tick, so that the grid stands still from one to the next. */
export function stepOf(index: RunIndex, span: number): number {
  return span >= 2 * index.tickNs ? index.tickNs : span / 4;
}

/** The window of this span in which `moment` stands at `share` of the width. */
export function windowAround(moment: number, span: number, share: number): Window {
  return { start: ns(Math.max(0, moment - span * share)), span };
}

/** Where a scene looks in this run. With nothing to point at yet: the start. */
export function placeOf(index: RunIndex, scene: Pick<Scene, 'moment' | 'window_ms'>): Place {
  const span = scene.window_ms * millisecond;
  const fixed = (moment: number, share: number): Place => ({
    ...windowAround(moment, span, share),
    moment: ns(moment),
    follows: false,
  });
  switch (scene.moment) {
    case 'start':
      return { start: ns(0), span, moment: ns(0), follows: false };
    case 'first_op': {
      const t = firstOpBegin(index);
      return t === null ? newest(index, span) : fixed(t, 0.1);
    }
    case 'longest_wait': {
      const wait = longestWait(index, noOffsets);
      return wait === null ? newest(index, span) : { ...fixed(wait.t1, 0.62), moment: wait.t1 };
    }
    case 'reader': {
      const t = readerMoment(index);
      return t === null ? newest(index, span) : fixed(t, 0.4);
    }
    case 'newest':
      return newest(index, span);
    default:
      return assertNever(scene.moment);
  }
}

function newest(index: RunIndex, span: number): Place {
  const window = newestEpisode(index, span, stepOf(index, span), noOffsets);
  const start = window?.start ?? ns(0);
  return { start, span, moment: start, follows: true };
}

/** Begin of the first operation that began after the start. */
function firstOpBegin(index: RunIndex): number | null {
  let best: number | null = null;
  for (const lane of index.lanes) {
    const { order, length } = lane.opsByEnd;
    for (let p = 0; p < Math.min(length, 64); p++) {
      const t0 = lane.ops.t0[order[p]!]!;
      if (t0 >= 0 && (best === null || t0 < best)) best = t0;
    }
  }
  return best;
}

/** A reader that somebody waits for: the middle of the first recheck, else of the longest reader span. */
function readerMoment(index: RunIndex): number | null {
  const recheck = index.kinds.findIndex((k) => k.name === 'gp_recheck');
  const reader = index.kinds.findIndex((k) => k.name === 'reader');
  for (const lane of index.lanes) {
    const found = ofKind(lane, 'track', recheck)[0];
    if (found !== undefined) return (found.t0 + found.t1) / 2;
  }
  let best: { t0: number; t1: number } | null = null;
  for (const lane of index.lanes) {
    for (const span of ofKind(lane, 'function', reader)) {
      if (best === null || span.t1 - span.t0 > best.t1 - best.t0) best = span;
    }
  }
  return best === null ? null : (best.t0 + best.t1) / 2;
}

function ofKind(lane: LaneIndex, layer: 'track' | 'function', kind: number) {
  if (kind < 0) return [];
  return [...spansIn(lane, layer, 0, lane.watermark)].filter((s) => s.kind === kind);
}
