// SPDX-License-Identifier: GPL-2.0-or-later
/** Which wake of a window freed most: the links of one run of the callbacks, and the sleep that they ended. */

import { firstAbove } from '../../base/columns.ts';
import { type Nanos, ns } from '../../base/units.ts';
import { isWait, type SpanRecord, spanAt } from '../../derive/query.ts';
import type { LaneIndex, RunIndex } from '../../derive/types.ts';
import { checkBefore } from './grace.ts';

export interface Wake {
  readonly t: Nanos;
  readonly freed: number;
  /** The longest sleep that it ended; null: none is known. */
  readonly longest: SpanRecord | null;
  readonly check: SpanRecord | null;
}

interface Group {
  t: number;
  readonly rows: Set<number>;
  longest: SpanRecord | null;
  /** Sleep that it ended, of all threads, ns. */
  slept: number;
}

/**
 * Of the wakes in (from, t] the one that ended most sleep; of equal ones the last. Links within a quarter of a tick
 * are those of one run of the callbacks.
 */
export function largestWake(
  index: RunIndex,
  lane: LaneIndex,
  t: number,
  from: number,
): Wake | null {
  let largest: Group | null = null;
  for (const group of groups(index, lane, t, from))
    if (largest === null || group.slept > largest.slept) largest = group;
  if (largest === null) return null;
  const { rows, longest } = largest;
  const check = checkBefore(index, lane, largest.t);
  return { t: ns(largest.t), freed: rows.size, longest, check };
}

/** From the last one back. */
function* groups(index: RunIndex, lane: LaneIndex, t: number, from: number): Generator<Group> {
  const { links } = lane;
  const { order, length } = lane.linksByTime;
  const near = index.tickNs / 4;
  let group: Group | null = null;
  let last = 0;
  for (let p = firstAbove(length, (i) => links.t[order[i]!]!, t) - 1; p >= 0; p--) {
    const i = order[p]!;
    const at = links.t[i]!;
    if (group !== null && last - at >= near) {
      yield group;
      group = null;
    }
    if (group === null) {
      if (at < from) return;
      group = { t: at, rows: new Set(), longest: null, slept: 0 };
      last = at;
    }
    group.t = at;
    group.rows.add(links.to[i]!);
    const asleep = spanAt(lane, links.to[i]!, 'state', at - 1);
    if (asleep === null || !isWait(index.kinds[asleep.kind])) continue;
    if (group.longest === null || asleep.t0 < group.longest.t0) group.longest = asleep;
    group.slept += at - asleep.t0;
  }
  if (group !== null) yield group;
}
