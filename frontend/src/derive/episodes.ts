// SPDX-License-Identifier: GPL-2.0-or-later
/** What the oscilloscope shows: the newest window that is complete in every lane. */

import { firstAtLeast } from '../base/columns.ts';
import { type Nanos, ns } from '../base/units.ts';
import { opsUpTo } from './query.ts';
import type { LaneIndex, RunIndex } from './types.ts';
import { mostTypical } from './typical.ts';

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
export function typicalEpisode(
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
