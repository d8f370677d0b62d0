// SPDX-License-Identifier: GPL-2.0-or-later
/** Scene -> window and moment: where a step of the story begins to look. */

import { assertNever } from '../base/assert.ts';
import { quantile } from '../base/search.ts';
import { millisecond, type Nanos, ns } from '../base/units.ts';
import type { Scene } from '../protocol/lesson.ts';
import { noOffsets } from './align.ts';
import { longestWaits } from './beats.ts';
import { activeLanes, newestEpisode, typicalEpisode, type Window } from './episodes.ts';
import { spansIn } from './query.ts';
import type { LaneIndex, RunIndex } from './types.ts';

export interface Place extends Window {
  readonly moment: Nanos;
  /** The place is the newest and moves on with the run. */
  readonly follows: boolean;
  /** There are events to see; else the scope waits for the first window of them. */
  readonly known: boolean;
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
    known: true,
  });
  switch (scene.moment) {
    case 'start':
      return { start: ns(0), span, moment: ns(0), follows: false, known: true };
    case 'first_op': {
      const op = typicalOp(index);
      return op === null ? newest(index, span) : aroundOp(op);
    }
    case 'longest_wait': {
      // Its begin must be in view: a wait longer than the window tells less than the longest that fits.
      const fitting = longestWaits(index, noOffsets, candidates, span * 0.6);
      const waits = fitting.length > 0 ? fitting : longestWaits(index, noOffsets, candidates);
      const ends = waits.map((wait) => fixed(wait.t1, 0.62));
      return liveliest(index, ends) ?? newest(index, span);
    }
    case 'reader': {
      const places = readerMoments(index).map((t) => fixed(t, 0.4));
      return liveliest(index, places) ?? newest(index, span);
    }
    case 'newest':
      return newest(index, span);
    default:
      return assertNever(scene.moment);
  }
}

function newest(index: RunIndex, span: number): Place {
  const ended = index.lanes.every((lane) => lane.ended || lane.spans.length === 0);
  const find = ended ? typicalEpisode : newestEpisode;
  const window = find(index, span, stepOf(index, span), noOffsets);
  const start = window?.start ?? ns(0);
  return { start, span, moment: start, follows: true, known: window !== null };
}

interface Op {
  readonly t0: number;
  readonly t1: number;
}

/** The window is fitted to the operation: a quarter of its length before and after. */
function aroundOp(op: Op): Place {
  const length = op.t1 - op.t0;
  return {
    start: ns(Math.max(0, op.t0 - length / 4)),
    span: length * 1.5,
    moment: ns(op.t0 + length / 2),
    follows: false,
    known: true,
  };
}

const opsLookedAt = 400;

/**
 * The first operation that is like the others: the very first are cold. Its length is within a fifth of the
 * lane's median, and it slept for what every operation sleeps for; failing that, the one nearest to the median.
 */
function typicalOp(index: RunIndex): Op | null {
  const lane = index.lanes.find((l) => l.opsByEnd.length > 0);
  if (lane === undefined) return null;
  const { order, length } = lane.opsByEnd;
  const ops = Array.from({ length: Math.min(length, opsLookedAt) }, (_, p) => {
    const i = order[p]!;
    return { t0: lane.ops.t0[i]!, t1: lane.ops.t1[i]!, row: lane.ops.row[i]! };
  }).filter((op) => op.t0 >= 0);
  const median = quantile(
    ops.map((op) => op.t1 - op.t0),
    0.5,
  );
  const off = (op: Op) => Math.abs(op.t1 - op.t0 - median) / median;
  const sleeps = (op: Op & { row: number }) =>
    [...spansIn(lane, 'state', op.t0, op.t1)].some((span) => {
      const kind = index.kinds[span.kind];
      return span.row === op.row && kind?.lesson === false && kind.colour === 'other';
    });
  const like = ops.find((op) => off(op) < 0.2 && sleeps(op));
  return like ?? ops.toSorted((a, b) => off(a) - off(b))[0] ?? null;
}

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
