// SPDX-License-Identifier: GPL-2.0-or-later
/** Which of several windows of a run is most like the others: its operations and its waiting are the usual ones. */

import { quantile } from '../base/columns.ts';
import { isWait, opsUpTo, threadRows } from './query.ts';
import type { LaneIndex, RunIndex } from './types.ts';

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
