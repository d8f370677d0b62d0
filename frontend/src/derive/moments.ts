// SPDX-License-Identifier: GPL-2.0-or-later
/** Finds the place at which a step opens: the window and moment of a scene in a run. */

import { firstAtLeast, quantile } from '../base/columns.ts';
import { millisecond, type Nanos, ns } from '../base/units.ts';
import type { Scene } from '../protocol/lesson.ts';
import { noOffsets, opBegin, opEnd } from './align.ts';
import { isWait, opsUpTo, spansIn, threadRows } from './query.ts';
import { stepNs } from './retime.ts';
import type { LaneIndex, RunIndex } from './types.ts';

// Finds the most typical window of a run, in which operations and waiting are nearest to their usual amounts.

/** For each lane, the number of operations in each window. */
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

/**
 * Prefix sums over the buckets of the finest level: the time that a lane's threads have spent in the lesson's waits.
 */
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

/** For each lane: how far the share of waiting in each window deviates from the lane's average, from 0 to about 1. */
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

/** The start of the most typical window of this length; null without windows or without operations. */
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

// Windows for the oscilloscope, which shows the newest window whose data have arrived on every lane.

export interface Window {
  readonly start: Nanos;
  readonly span: number;
}

/** Frame time at which a lane's last operation ends. Without operations, it is the lane's watermark. */
function lastOp(lane: LaneIndex, shift: number): number {
  const { order, length } = lane.opsByEnd;
  return (length > 0 ? lane.ops.t1[order[length - 1]!]! : lane.watermark) + shift;
}

/**
 * Frame time up to which every lane has data to show. A lane that has ended has nothing to show after its last
 * operation.
 */
function completeTo(index: RunIndex, offset: ReadonlyMap<string, number>): number {
  let end = Number.POSITIVE_INFINITY;
  for (const lane of index.lanes) {
    if (lane.ended && lane.spans.length === 0) continue;
    const shift = offset.get(lane.arm) ?? 0;
    end = Math.min(end, lane.ended ? lastOp(lane, shift) : lane.watermark + shift);
  }
  return Number.isFinite(end) ? end : 0;
}

/** Whether an operation ends or a link occurs on the lane in [a, b). */
function isActive(lane: LaneIndex, a: number, b: number): boolean {
  if (opsUpTo(lane, b) > opsUpTo(lane, a)) return true;
  const { order, length } = lane.linksByTime;
  const at = (i: number) => lane.links.t[order[i]!]!;
  return firstAtLeast(length, at, b) > firstAtLeast(length, at, a);
}

/** Number of lanes that are active in a window. */
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
 * The newest window of length `span` whose data have arrived. It starts at a multiple of `step`, so that the grid does
 * not move. An earlier window nearby is preferred if more lanes are active in it.
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
 * The most typical window of a recording. On every lane, the number of operations is near the median of the non-empty
 * windows, and waiting is near the average. The window represents the run, so it is neither the busiest nor the
 * quietest window.
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

/** The next window of a recording. The last window is followed by the first. */
export function nextEpisode(
  index: RunIndex,
  window: Window,
  offset: ReadonlyMap<string, number>,
): Window {
  const limit = completeTo(index, offset);
  const start = window.start + window.span;
  return { start: ns(start + window.span <= limit ? start : 0), span: window.span };
}

/**
 * Frame time at which the frame ends: the lowest watermark of running lanes. If no lane is running, it is the end of
 * the last lane.
 */
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
  /** Moment at which the first sweep begins; by default the start of the window. */
  readonly begin?: Nanos;
  /** Whether this place is the newest window, and advances with the live run. */
  readonly follows: boolean;
  /** Whether the window has events. If not, the oscilloscope waits for the first window with events. */
  readonly known: boolean;
}

/**
 * Distance between the starts of neighbouring windows, ns. Windows of at least two ticks start on a tick, so that the
 * grid does not move.
 */
export function stepOf(index: RunIndex, span: number): number {
  return span >= 2 * index.tickNs ? index.tickNs : span / 4;
}

/** A window of length `span`. `share` is the part of the window that lies before `moment`. */
export function windowAround(moment: number, span: number, share: number): Window {
  return { start: ns(Math.max(0, moment - span * share)), span };
}

/** The parts of a scene that finders of moments need. */
export type SceneWindow = Pick<Scene, 'moment' | 'window_ms' | 'window_steps' | 'operation'> &
  Partial<Pick<Scene, 'focus'>>;

export type Finder = (index: RunIndex, scene: SceneWindow) => Place | null;

/** Length of a scene's window on the axis, ns; 0 if the window is fitted to its content. */
export function spanOf(scene: Pick<Scene, 'window_ms' | 'window_steps'>): number {
  return scene.window_ms * millisecond + scene.window_steps * stepNs;
}

/** A place with this moment. `share` is the part of the window that lies before the moment. */
export function placeAround(moment: number, span: number, share: number): Place {
  const window = windowAround(moment, span, share);
  return { ...window, moment: ns(moment), follows: false, known: true };
}

/** Finders for the moments that every view supports. */
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

/**
 * The place at which a scene opens in this run. `own` contains the view's finders. If no finder has the name of the
 * scene's moment, the scene opens in the newest window.
 */
export function placeOf(
  index: RunIndex,
  scene: SceneWindow,
  own: Readonly<Record<string, Finder>> = {},
): Place {
  const find = own[scene.moment] ?? common[scene.moment];
  return find?.(index, scene) ?? newest(index, spanOf(scene) || 30 * millisecond);
}

/**
 * A window that starts when the scene's operation has begun on every lane that has it. If the scene gives no length for
 * its window, the window is slightly longer than the longest of these operations.
 */
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

/** A window around an operation, with a quarter of the operation's length before and after it. */
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
 * The first operation during which its thread sleeps, and whose duration differs from the lane's median by at most a
 * fifth. If there is none, the operation whose duration is nearest to the median. Operations that began before the
 * workload's start are ignored.
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
