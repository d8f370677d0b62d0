// SPDX-License-Identifier: GPL-2.0-or-later
/** The grace period around a moment, read from the strips of a lane: asked for, checked, told. */

import { firstAbove } from '../base/search.ts';
import { type Nanos, ns } from '../base/units.ts';
import { isWait, spanAt, spansIn } from './query.ts';
import type { LaneIndex, RunIndex } from './types.ts';

export interface Grace {
  readonly askedAt: Nanos;
  /** How long the kernel looked for readers; null: it has not yet. */
  readonly checkNs: number | null;
  readonly readerSeen: boolean;
}

/** A grace period and its callbacks are over within so many ticks, or a reader holds it. */
const ticksBack = 50;

/** The grace period that was asked for last before t; null on a lane that has none. */
export function graceAt(index: RunIndex, lane: LaneIndex, t: number): Grace | null {
  let asked: number | null = null;
  let check: { t0: number; t1: number } | null = null;
  let readerSeen = false;
  const spans = [...spansIn(lane, 'track', t - ticksBack * index.tickNs, t)];
  spans.sort((a, b) => a.t0 - b.t0);
  for (const span of spans) {
    if (span.t0 > t) continue;
    const name = index.kinds[span.kind]?.name;
    if (name === 'gp_armed') {
      asked = span.t0;
      check = null;
      readerSeen = false;
    } else if (name === 'gp_check') check = { t0: span.t0, t1: Math.min(span.t1, t) };
    else if (name === 'gp_recheck') readerSeen = true;
  }
  if (asked === null) return null;
  return { askedAt: ns(asked), checkNs: check === null ? null : check.t1 - check.t0, readerSeen };
}

export interface Wake {
  readonly t: Nanos;
  readonly freed: number;
  /** The longest sleep that it ended, ns; 0 if none is known. */
  readonly longestWait: number;
  readonly checkNs: number | null;
}

/** The last group of wakes in (from, t]: those of one run of the callbacks. */
export function lastWake(index: RunIndex, lane: LaneIndex, t: number, from: number): Wake | null {
  const { links } = lane;
  const { order, length } = lane.linksByTime;
  const last = firstAbove(length, (i) => links.t[order[i]!]!, t) - 1;
  if (last < 0 || links.t[order[last]!]! < from) return null;
  const near = index.tickNs / 4;
  const rows = new Set<number>();
  let longestWait = 0;
  const t1 = links.t[order[last]!]!;
  let t0 = t1;
  for (let p = last; p >= 0 && t1 - links.t[order[p]!]! < near; p--) {
    const i = order[p]!;
    t0 = links.t[i]!;
    const row = links.to[i]!;
    rows.add(row);
    const slept = spanAt(lane, row, 'state', t0 - 1);
    if (slept !== null && isWait(index.kinds[slept.kind])) {
      longestWait = Math.max(longestWait, t0 - slept.t0);
    }
  }
  return {
    t: ns(t0),
    freed: rows.size,
    longestWait,
    checkNs: graceAt(index, lane, t0)?.checkNs ?? null,
  };
}
