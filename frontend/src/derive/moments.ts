// SPDX-License-Identifier: GPL-2.0-or-later
/** Scene -> window and moment: where a step of the story begins to look. */

import { quantile } from '../base/columns.ts';
import { millisecond, type Nanos, ns } from '../base/units.ts';
import type { Scene } from '../protocol/lesson.ts';
import { noOffsets, opBegin, opEnd } from './align.ts';
import { newestEpisode, typicalEpisode, type Window } from './episodes.ts';
import { spansIn } from './query.ts';
import { stepNs } from './retime.ts';
import type { RunIndex } from './types.ts';

export interface Place extends Window {
  readonly moment: Nanos;
  /** Where the first sweep begins; left out: with the window. */
  readonly begin?: Nanos;
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

/** What a finder must know of a scene. */
export type SceneWindow = Pick<Scene, 'moment' | 'window_ms' | 'window_steps' | 'operation'> &
  Partial<Pick<Scene, 'focus'>>;

export type Finder = (index: RunIndex, scene: SceneWindow) => Place | null;

/** Length of a scene's window on the axis, ns; 0: as long as what is looked at. */
export function spanOf(scene: Pick<Scene, 'window_ms' | 'window_steps'>): number {
  return scene.window_ms * millisecond + scene.window_steps * stepNs;
}

/** A place that is looked for and found: `share` of the window lies before the moment. */
export function placeAround(moment: number, span: number, share: number): Place {
  const window = windowAround(moment, span, share);
  return { ...window, moment: ns(moment), follows: false, known: true };
}

/** Moments that every view knows. */
const common: Readonly<Record<string, Finder>> = {
  start: (_index, scene) => {
    const span = spanOf(scene);
    return { start: ns(0), span, moment: ns(0), follows: false, known: true };
  },
  first_op: (index) => {
    const op = typicalOp(index);
    return op === null ? null : aroundOp(op);
  },
  operation: theOperation,
};

export const commonMoments: readonly string[] = Object.keys(common);

/** Where a scene looks in this run; `own` are moments of the view. With nothing to point at yet: the newest. */
export function placeOf(
  index: RunIndex,
  scene: SceneWindow,
  own: Readonly<Record<string, Finder>> = {},
): Place {
  const find = own[scene.moment] ?? common[scene.moment];
  return find?.(index, scene) ?? newest(index, spanOf(scene) || 30 * millisecond);
}

/** The nth operation, where it begins last; with no window given, as long as the longest of the lanes. */
function theOperation(index: RunIndex, scene: SceneWindow): Place | null {
  const begins = index.lanes.map((lane) => opBegin(lane, scene.operation));
  const lengths = index.lanes.map(
    (lane, i) => (opEnd(lane, scene.operation) ?? 0) - (begins[i] ?? 0),
  );
  const start = Math.max(...begins.map((t) => t ?? Number.NEGATIVE_INFINITY));
  if (!Number.isFinite(start)) return null;
  const span = spanOf(scene) || Math.max(...lengths) * 1.02;
  return { start: ns(start), span, moment: ns(start + span), follows: false, known: true };
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
