// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Which grace period a sleeper waits for, read from the strips of its lane.
 *
 * A grace period must begin after the question: who asks while one is under way waits for the next
 * (Documentation/RCU, kernel/rcu/srcutree.c, srcu_gp_start_if_needed()). The next is armed as soon as one ends, while
 * the callbacks of the first still wait for their tick, so two are in flight, and must not be mistaken for each other.
 */

import { type SpanRecord, spansIn } from '../../derive/query.ts';
import type { LaneIndex, RunIndex } from '../../derive/types.ts';

export interface Grace {
  /** Its being armed; null: it is not yet. */
  readonly asked: SpanRecord | null;
  /** One that began before it was asked for is not over. */
  readonly behind: boolean;
  /** The kernel's first look for readers, which may go on; null: it has not looked yet. */
  readonly check: SpanRecord | null;
  readonly readerSeen: boolean;
  /** It is over and only the callbacks are left; null: it is not. */
  readonly delay: SpanRecord | null;
}

/** The tracer may see the question some microseconds after the answer began. */
const slack = 20_000;
/** A grace period and its callbacks are over within so many ticks, or a reader holds it. */
const ticksBack = 100;

type Named = SpanRecord & { readonly name: string };

/** Spans of the strips that began in [a, b], in order of their begin. */
function steps(index: RunIndex, lane: LaneIndex, a: number, b: number): Named[] {
  return [...spansIn(lane, 'track', a, b + 1)]
    .filter((span) => span.t0 >= a && span.t0 <= b)
    .map((span) => ({ ...span, name: index.kinds[span.kind]?.name ?? '' }))
    .sort((x, y) => x.t0 - y.t0);
}

/** The grace period of a thread asleep since `since`, as far as it is known at t; null on a lane without any. */
export function graceOf(index: RunIndex, lane: LaneIndex, since: number, t: number): Grace | null {
  const asleep = spanAsks(index, lane, since);
  if (!asleep) return null;
  const seen = steps(index, lane, since - slack, t);
  const armed = seen.find((span) => span.name === 'gp_armed');
  if (armed === undefined) {
    const behind = isUnderWay(index, lane, since, t);
    return { asked: null, behind, check: null, readerSeen: false, delay: null };
  }
  let check: SpanRecord | null = null;
  let readerSeen = false;
  let delay: SpanRecord | null = null;
  for (const span of seen) {
    if (span.t0 <= armed.t0) continue;
    if (span.name === 'gp_check' && check === null) check = span;
    else if (span.name === 'gp_recheck' && delay === null) readerSeen = true;
    else if (span.name === 'cb_delay' && check !== null) delay ??= span;
  }
  return { asked: armed, behind: false, check, readerSeen, delay };
}

const underWay: ReadonlySet<string> = new Set(['gp_armed', 'gp_check', 'gp_recheck']);

/** Did a grace period begin before `since`, and go on at some time up to t? */
function isUnderWay(index: RunIndex, lane: LaneIndex, since: number, t: number): boolean {
  for (const span of spansIn(lane, 'track', since - slack, t))
    if (span.t0 < since - slack && underWay.has(index.kinds[span.kind]?.name ?? '')) return true;
  return false;
}

/** Did some thread of this lane begin at `since` to wait for what the strips show? */
function spanAsks(index: RunIndex, lane: LaneIndex, since: number): boolean {
  for (const span of spansIn(lane, 'state', since, since + 1)) {
    if (span.t0 === since && index.kinds[span.kind]?.name === 'wait_srcu') return true;
  }
  return false;
}

/** The check of the grace period whose callbacks run at t: the last that ended before their delay began. */
export function checkBefore(index: RunIndex, lane: LaneIndex, t: number): SpanRecord | null {
  const seen = steps(index, lane, t - ticksBack * index.tickNs, t);
  const delay = seen.findLast((span) => span.name === 'cb_delay' && span.t1 <= t + slack);
  const over = delay?.t0 ?? t;
  return seen.findLast((span) => span.name === 'gp_check' && span.t1 <= over + slack) ?? null;
}
