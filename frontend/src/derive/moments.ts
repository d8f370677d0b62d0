// SPDX-License-Identifier: GPL-2.0-or-later
/** Scene -> window and moment: where a step of the story begins to look. */

import { firstAtLeast, quantile } from '../base/columns.ts';
import { millisecond, type Nanos, ns } from '../base/units.ts';
import type { Scene } from '../protocol/lesson.ts';
import { noOffsets, opBegin, opEnd } from './align.ts';
import { isWait, opsUpTo, spansIn, threadRows } from './query.ts';
import { stepNs } from './retime.ts';
import type { LaneIndex, RunIndex } from './types.ts';

// Which of several windows of a run is most like the others: its operations and its waiting are the usual ones.

/** Operations per lane in the window of each start. */
function countsPerWindow(
  index: RunIndex,
  starts: readonly number[],
  span: number,
  offset: ReadonlyMap<string, number>,
): number[][] {
  return index.lanes
    .filter((lane) => lane.opsByEnd.length > 0)
    .map((lane) => {
      const shift = offset.get(lane.arm) ?? 0;
      return starts.map((t) => opsUpTo(lane, t + span - shift) - opsUpTo(lane, t - shift));
    });
}

/** Time that the threads of a lane waited for the lesson's sake up to each bucket of the pyramid's finest level. */
function waitedUpTo(index: RunIndex, lane: LaneIndex): { bucketNs: number; sums: Float64Array } {
  const strands = threadRows(lane).flatMap((row) => lane.strand(row.row, 'state')?.levels[0] ?? []);
  const buckets = Math.max(0, ...strands.map((level) => level.buckets));
  const sums = new Float64Array(buckets + 1);
  for (const { ns: time, kinds, kindOf, buckets: known } of strands) {
    for (let local = 0; local < kinds; local++) {
      if (!isWait(index.kinds[kindOf[local]!])) continue;
      for (let b = 0; b < known; b++) sums[b + 1] = sums[b + 1]! + time[b * kinds + local]!;
    }
  }
  for (let b = 0; b < buckets; b++) sums[b + 1] = sums[b + 1]! + sums[b]!;
  return { bucketNs: strands[0]?.bucketNs ?? 1, sums };
}

/** How far each window's share of waiting is from the lane's own, 0 to about 1. */
function waitsOff(
  index: RunIndex,
  starts: readonly number[],
  span: number,
  offset: ReadonlyMap<string, number>,
): number[][] {
  return index.lanes.map((lane) => {
    const { bucketNs, sums } = waitedUpTo(index, lane);
    const upTo = (t: number) =>
      sums[Math.max(0, Math.min(sums.length - 1, Math.round(t / bucketNs)))] ?? 0;
    const whole = threadRows(lane).length * span;
    const usual = (upTo(lane.watermark) / Math.max(1, lane.watermark)) * span;
    const shift = offset.get(lane.arm) ?? 0;
    return starts.map((t) =>
      whole > 0 ? Math.abs(upTo(t + span - shift) - upTo(t - shift) - usual) / whole : 0,
    );
  });
}

/** The start of the most typical of windows of this span; null: of none, or without operations. */
export function mostTypical(
  index: RunIndex,
  starts: readonly number[],
  span: number,
  offset: ReadonlyMap<string, number>,
): number | null {
  const perLane = countsPerWindow(index, starts, span, offset).map((counts) => ({
    counts,
    median: quantile(
      counts.filter((n) => n > 0),
      0.5,
    ),
  }));
  if (perLane.length === 0) return null;
  const waits = waitsOff(index, starts, span, offset);
  const unlike = (i: number) =>
    waits.reduce((sum, off) => sum + 2 * off[i]!, 0) +
    perLane.reduce(
      (sum, { counts, median }) => sum + Math.abs(Math.log((counts[i]! + 0.25) / (median + 0.25))),
      0,
    );
  let best = 0;
  for (let i = 1; i < starts.length; i++) if (unlike(i) < unlike(best)) best = i;
  return starts[best] ?? null;
}

// What the oscilloscope shows: the newest window that is complete in every lane.

export interface Window {
  readonly start: Nanos;
  readonly span: number;
}

/** The last operation of a lane, on the frame; its watermark if it has none. */
function lastOp(lane: LaneIndex, shift: number): number {
  const { order, length } = lane.opsByEnd;
  return (length > 0 ? lane.ops.t1[order[length - 1]!]! : lane.watermark) + shift;
}

/** Frame time up to which every lane has something to show. An ended lane has nothing after its last operation. */
function completeTo(index: RunIndex, offset: ReadonlyMap<string, number>): number {
  let end = Number.POSITIVE_INFINITY;
  for (const lane of index.lanes) {
    if (lane.ended && lane.spans.length === 0) continue;
    const shift = offset.get(lane.arm) ?? 0;
    end = Math.min(end, lane.ended ? lastOp(lane, shift) : lane.watermark + shift);
  }
  return Number.isFinite(end) ? end : 0;
}

/** Something happened on this lane in [a, b): an operation or a link. */
function isActive(lane: LaneIndex, a: number, b: number): boolean {
  if (opsUpTo(lane, b) > opsUpTo(lane, a)) return true;
  const { order, length } = lane.linksByTime;
  const at = (i: number) => lane.links.t[order[i]!]!;
  return firstAtLeast(length, at, b) > firstAtLeast(length, at, a);
}

/** How many lanes did something in this window. */
export function activeLanes(
  index: RunIndex,
  window: Window,
  offset: ReadonlyMap<string, number>,
): number {
  return index.lanes.filter((lane) => {
    const from = window.start - (offset.get(lane.arm) ?? 0);
    return lane.spans.length > 0 && isActive(lane, from, from + window.span);
  }).length;
}

const triesBack = 24;

/**
 * The newest complete window of `span`, begun at a multiple of `step` so that the grid stands still.
 * A window in which some lane did nothing is passed over, if one nearby is better.
 */
export function newestEpisode(
  index: RunIndex,
  span: number,
  step: number,
  offset: ReadonlyMap<string, number>,
): Window | null {
  const limit = completeTo(index, offset);
  const newest = Math.floor((limit - span) / step) * step;
  if (!(newest >= 0)) return null;
  const all = index.lanes.filter((lane) => lane.spans.length > 0).length;
  let best: { start: number; active: number } | null = null;
  for (let i = 0; i <= triesBack; i++) {
    const start = newest - i * step;
    if (start < 0) break;
    const active = activeLanes(index, { start: ns(start), span }, offset);
    if (best === null || active > best.active) best = { start, active };
    if (active === all) break;
  }
  return best === null ? null : { start: ns(best.start), span };
}

const mostWindows = 4000;

/**
 * The window of a recording that is most like all the others: on every lane, operations as near as can be to the
 * median of the windows that have any, and as much waiting as usual. Neither the liveliest nor the calmest, since
 * a picture stands for the run.
 */
function typicalEpisode(
  index: RunIndex,
  span: number,
  step: number,
  offset: ReadonlyMap<string, number>,
): Window | null {
  const limit = completeTo(index, offset) - span;
  if (!(limit >= 0)) return null;
  const stride = step * Math.max(1, Math.ceil(limit / step / mostWindows));
  const starts = Array.from({ length: Math.floor(limit / stride) + 1 }, (_, i) => i * stride);
  const best = mostTypical(index, starts, span, offset);
  return best === null ? null : { start: ns(best), span };
}

/** The window after this one in a recording; the first again at the end. */
export function nextEpisode(
  index: RunIndex,
  window: Window,
  offset: ReadonlyMap<string, number>,
): Window {
  const limit = completeTo(index, offset);
  const start = window.start + window.span;
  return { start: ns(start + window.span <= limit ? start : 0), span: window.span };
}

/** Frame time at which nothing more will be seen on any lane, or is not seen on some lane yet. */
export function frameEnd(index: RunIndex, offset: ReadonlyMap<string, number>): Nanos {
  let live = Number.POSITIVE_INFINITY;
  let end = 0;
  for (const lane of index.lanes) {
    const at = lane.watermark + (offset.get(lane.arm) ?? 0);
    end = Math.max(end, at);
    if (!lane.ended) live = Math.min(live, at);
  }
  return ns(Number.isFinite(live) ? live : end);
}

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
