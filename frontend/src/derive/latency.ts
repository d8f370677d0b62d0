// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Durations of operations for a plot with one dot per operation. If there are too many operations, a hash of their ids
 * selects some of them.
 */

import { firstAbove, hashUnit, quantile } from '../base/columns.ts';
import type { LaneIndex } from './types.ts';

export interface LatencySample {
  readonly id: number;
  readonly row: number;
  readonly t1: number;
  readonly ns: number;
}

export interface Latencies {
  readonly arm: string;
  /** Number of operations that have ended up to the moment. `samples` contains about `most` of them. */
  readonly n: number;
  readonly mean: number;
  readonly median: number;
  readonly p95: number;
  readonly max: number;
  readonly samples: readonly LatencySample[];
}

const quantilesOfNewest = 20_000;

/**
 * Statistics and samples of the durations of operations that ended by `until` (lane time). The statistics use the
 * newest 20,000 operations. About `most` of these become samples. A hash of the operation's id selects the samples, so
 * repeated calls select the same operations.
 */
export function latenciesOf(lane: LaneIndex, until: number, most = 400): Latencies {
  const { order, length } = lane.opsByEnd;
  const { ops } = lane;
  const end = firstAbove(length, (i) => ops.t1[order[i]!]!, until);
  const from = Math.max(0, end - quantilesOfNewest);
  const lengths = new Float64Array(end - from);
  let sum = 0;
  for (let p = from; p < end; p++) {
    const length = ops.t1[order[p]!]! - ops.t0[order[p]!]!;
    lengths[p - from] = length;
    sum += length;
  }
  const share = most / Math.max(1, end - from);
  const samples: LatencySample[] = [];
  for (let p = from; p < end; p++) {
    const i = order[p]!;
    const id = ops.id[i]!;
    if (share < 1 && hashUnit(id * 7 + 1) >= share) continue;
    samples.push({ id, row: ops.row[i]!, t1: ops.t1[i]!, ns: lengths[p - from]! });
  }
  return {
    arm: lane.arm,
    n: lane.opsEvicted + end,
    mean: sum / Math.max(1, end - from),
    median: quantile(lengths, 0.5),
    p95: quantile(lengths, 0.95),
    max: quantile(lengths, 1),
    samples,
  };
}
