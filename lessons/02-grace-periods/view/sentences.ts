// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The text alternative: one sentence about the events that are in view at this moment. Every number comes from the
 * index.
 */

import { firstAbove } from '@page/base/columns.ts';
import { t as tr } from '@page/base/lang/t.ts';
import { formatNs, type Nanos, ns, plural } from '@page/base/units.ts';
import { laneTime } from '@page/derive/align.ts';
import { figure, lengthOf, sinceBegin } from '@page/derive/figures.ts';
import {
  isWait,
  markOf,
  opsUpTo,
  type SpanRecord,
  spanAt,
  spansIn,
  statesAt,
  threadRows,
} from '@page/derive/query.ts';
import { shareText, waitedUpTo } from '@page/derive/summary.ts';
import type { Frame, LaneIndex, Mark, RunIndex } from '@page/derive/types.ts';
import { armTitle, capital, list, severalOf, type Titles, verbFor } from '@page/derive/words.ts';
import { doing, known, ofThreads, oneOp, rates, some } from '@page/views/timeline/sentences.ts';
import { scoreAt, scoreWords } from './look.ts';

// Finds the grace period that a sleeping hog waits for, from the track strips of its lane.
//
// A grace period covers only requests that were made before it began.
// A task that makes its request during a grace period waits for the next grace period.
// Sources: Documentation/RCU, and srcu_gp_start_if_needed() in kernel/rcu/srcutree.c.
// The next grace period is armed as soon as the first ends, while the callbacks of the first still wait for a tick.
// So two grace periods can be in progress, and must be distinguished.

interface Grace {
  /** The span in which the grace period is armed; null if it has not been armed yet. */
  readonly asked: SpanRecord | null;
  /** Whether an earlier grace period, which began before the request, has not ended. */
  readonly behind: boolean;
  /** The first check for readers, which may still be running; null if there was none yet. */
  readonly check: SpanRecord | null;
  readonly readerSeen: boolean;
  /** The callback delay after the grace period; null if the grace period has not ended. */
  readonly delay: SpanRecord | null;
}

/** The event of a request can be up to this much later than the start of its grace period, ns. */
const slack = 20_000;
/** A grace period and its callbacks take at most this many ticks if no reader delays them. */
const ticksBack = 100;

type Named = SpanRecord & { readonly name: string };

/** Return the spans in the track strips that began in [a, b], sorted by their start. */
function steps(index: RunIndex, lane: LaneIndex, a: number, b: number): Named[] {
  return [...spansIn(lane, 'track', a, b + 1)]
    .filter((span) => span.t0 >= a && span.t0 <= b)
    .map((span) => ({ ...span, name: index.kinds[span.kind]?.name ?? '' }))
    .sort((x, y) => x.t0 - y.t0);
}

/**
 * Return what is known at t about the grace period of a thread that has slept since `since`. Return null if the thread
 * does not wait for a grace period.
 */
function graceOf(index: RunIndex, lane: LaneIndex, since: number, t: number): Grace | null {
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

/** Tell whether a grace period that began before `since` was still running at some time up to t. */
function isUnderWay(index: RunIndex, lane: LaneIndex, since: number, t: number): boolean {
  for (const span of spansIn(lane, 'track', since - slack, t))
    if (span.t0 < since - slack && underWay.has(index.kinds[span.kind]?.name ?? '')) return true;
  return false;
}

/** Tell whether a thread of this lane began to wait for SRCU at `since`. */
function spanAsks(index: RunIndex, lane: LaneIndex, since: number): boolean {
  for (const span of spansIn(lane, 'state', since, since + 1)) {
    if (span.t0 === since && index.kinds[span.kind]?.name === 'wait_srcu') return true;
  }
  return false;
}

/**
 * Return the check of the grace period whose callbacks run at t: the last check that ended before the callbacks' delay
 * began.
 */
function checkBefore(index: RunIndex, lane: LaneIndex, t: number): SpanRecord | null {
  const seen = steps(index, lane, t - ticksBack * index.tickNs, t);
  const delay = seen.findLast((span) => span.name === 'cb_delay' && span.t1 <= t + slack);
  const over = delay?.t0 ?? t;
  return seen.findLast((span) => span.name === 'gp_check' && span.t1 <= over + slack) ?? null;
}

// Finds the wake-up that ended the most sleep in a window. A wake-up is one run of the callbacks, which creates a link
// to each hog that it wakes.

export interface Wake {
  readonly t: Nanos;
  readonly freed: number;
  /** The longest sleep that this wake-up ended; null if unknown. */
  readonly longest: SpanRecord | null;
  readonly check: SpanRecord | null;
}

interface Group {
  t: number;
  readonly rows: Set<number>;
  longest: SpanRecord | null;
  /** Sleep that this wake-up ended, summed over all threads, ns. */
  slept: number;
}

/**
 * Return the wake-up in [from, t] that ended the most sleep; if several are equal, return the latest. Links within a
 * quarter of a tick belong to one wake-up.
 */
function largestWake(index: RunIndex, lane: LaneIndex, t: number, from: number): Wake | null {
  let largest: Group | null = null;
  for (const group of groups(index, lane, t, from))
    if (largest === null || group.slept > largest.slept) largest = group;
  if (largest === null) return null;
  const { rows, longest } = largest;
  const check = checkBefore(index, lane, largest.t);
  return { t: ns(largest.t), freed: rows.size, longest, check };
}

/** Yield the wake-ups in [from, t], the latest first. */
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

type Say = (index: RunIndex, frame: Frame, titles: Titles) => string;

/** Join the sentences of all lanes that have data. */
function perLane(of: (index: RunIndex, lane: LaneIndex, t: number, titles: Titles) => string): Say {
  return (index, frame, titles) =>
    known(index)
      .map((lane) => of(index, lane, laneTime(frame.offset, lane.arm, frame.moment), titles))
      .filter((s) => s !== '')
      .join(' ');
}

const saysWaits = perLane(waits);

/** Sentences about rows of threads, by name. */
export const rowSentences = {
  one_op: oneOp,
  waits: saysWaits,
  wakes: some(
    (index, lanes, frame, titles) =>
      wakes(index, lanes, frame, titles) || saysWaits(index, frame, titles),
  ),
  rates,
  waited: some(waited),
  expedited: some(expedited),
  reader: some(readers),
} as const satisfies Readonly<Record<string, Say>>;

/** Write "On SRCU, 8 of 9 hogs wait for the same SRCU grace period; it began 5.2 ms ago, ..." */
function waits(index: RunIndex, lane: LaneIndex, t: number, titles: Titles): string {
  const name = armTitle(titles, lane);
  if (t > lane.watermark) return tr('On {name}, there are no data for this moment yet.', { name });
  const states = statesAt(lane, t);
  const groups = waitingAt(index, states);
  const [largest, ...others] = groups;
  if (largest === undefined)
    return tr('On {name}, {index}.', { name, index: whatElse(index, lane, states, titles.thread) });
  const kind = index.kinds[largest[0]!.kind]!;
  const count = waitersOf(
    index,
    lane,
    largest,
    ofThreads(largest.length, states.length, titles.thread),
  );
  const who = tr('On {name}, {count} {kind}', { name, count, kind: verbFor(kind, largest.length) });
  const also = others.map((group) => {
    const { title } = index.kinds[group[0]!.kind]!;
    return tr(', and {index} {replace}', {
      index: waitersOf(index, lane, group),
      replace: title.replace(/^waits /, ''),
    });
  });
  const graces = largest.map((s) => graceOf(index, lane, s.t0, t));
  const grace = mostWaitedFor(graces);
  if (grace === null) {
    const oldest = largest.reduce((a, b) => (b.t0 < a.t0 ? b : a));
    return tr('{who}{list}; the longest of these waits {arm}.', {
      who,
      list: also.join(''),
      arm: lasting(markOf(lane.arm, oldest), t),
    });
  }
  const same = graces.filter((g) => g?.asked?.t0 === grace.asked?.t0).length;
  const shared =
    same === 1
      ? who
      : same === largest.length
        ? who.replace(tr(' for an '), tr(' for the same '))
        : tr('{who}, {arm} of them for the same grace period', {
            who,
            arm: figure('now', lane.arm, 'with one grace period', same),
          });
  return `${shared}${also.join('')}; ${graceWords(grace, lane, t)}.`;
}

/** Write "Time spent waiting for the lesson's lock or grace period so far: 22 % of the hog's time on SRCU (...)." */
function waited(
  index: RunIndex,
  lanes: readonly LaneIndex[],
  frame: Frame,
  titles: Titles,
): string {
  const parts = lanes.map((lane) => {
    const name = armTitle(titles, lane);
    const t = laneTime(frame.offset, lane.arm, frame.moment);
    const found = waitedUpTo(index, lane, t);
    if (found === null) return tr('an unknown part on {name}', { name });
    const threads = threadRows(lane).length;
    const whose =
      threads === 1
        ? tr("the {thread}'s", { thread: titles.thread })
        : tr("the {thread}'", { thread: severalOf(titles.thread) });
    const say = (what: string, value: number, text: string) =>
      figure('far', lane.arm, what, value, text);
    const { share, longest } = found;
    const of = lane === lanes[0] ? tr(' of {whose} time', { whose }) : '';
    if (longest === null)
      return tr('{shareText}{of} on {name}', {
        shareText: say('share waited', 0, shareText(0)),
        of,
        name,
      });
    const part = say('share waited', share, shareText(share));
    const ops = opsUpTo(lane, t);
    const each = found.ns / ops;
    // The sum includes waits of unfinished umounts, so it gives no mean until enough umounts have finished.
    const early = each > longest.t1 - longest.t0;
    const mean = early
      ? ''
      : tr('{each} for each {name} on average, ', {
          each: say('waited for each op', each, formatNs(each)),
          name: titles.operation.name,
        });
    const most = lengthOf(markOf(lane.arm, longest));
    return tr('{part}{of} on {name} ({mean}the longest wait {most})', {
      part,
      of,
      name,
      mean,
      most,
    });
  });
  return tr("Time spent waiting for the lesson's lock or grace period so far: {parts}.", {
    parts: list(parts),
  });
}

/** Write "4.1 ms ago", or "just now" instead of "0 ns ago". */
function agoOf(mark: Mark, t: number): string {
  const since = sinceBegin(mark, t);
  return t > mark.t0 ? tr('{since} ago', { since }) : tr('just now');
}

/** Write "has lasted 4.1 ms so far". */
function lasting(mark: Mark, t: number): string {
  const since = sinceBegin(mark, t);
  return t > mark.t0 ? tr('has lasted {since} so far', { since }) : tr('begins now');
}

/** Group the threads that wait for the lesson's lock or grace period by kind of wait. The largest group is first. */
function waitingAt(
  index: RunIndex,
  states: readonly (SpanRecord | null)[],
): readonly (readonly SpanRecord[])[] {
  const groups = new Map<number, SpanRecord[]>();
  for (const state of states)
    if (state !== null && isWait(index.kinds[state.kind]))
      groups.set(state.kind, [...(groups.get(state.kind) ?? []), state]);
  return [...groups.values()].sort((a, b) => b.length - a.length);
}

function waitersOf(
  index: RunIndex,
  { arm }: LaneIndex,
  group: readonly SpanRecord[],
  text = String(group.length),
): string {
  return figure('now', arm, `in ${index.kinds[group[0]!.kind]!.name}`, group.length, text);
}

/** Return the grace period that most of the sleeping threads wait for. */
function mostWaitedFor(graces: readonly (Grace | null)[]): Grace | null {
  let best: { grace: Grace; n: number } | null = null;
  for (const grace of graces) {
    if (grace === null) continue;
    const n = graces.filter((g) => g?.asked?.t0 === grace.asked?.t0).length;
    if (best === null || n > best.n) best = { grace, n };
  }
  return best?.grace ?? null;
}

function graceWords(grace: Grace, { arm }: LaneIndex, t: number): string {
  const { asked, check, delay } = grace;
  if (asked === null)
    return grace.behind
      ? tr('the grace period has not begun, because the previous grace period is not over')
      : tr('the grace period has not begun yet');
  // Do not write "requested": the request may have come earlier, during the previous grace period.
  const since = tr('the grace period began {arm}', { arm: agoOf(markOf(arm, asked), t) });
  if (check === null) return tr('{since}, and no check for readers has begun', { since });
  if (check.t1 > t) return tr('{since}, and the check has begun', { since });
  const found = grace.readerSeen ? tr('a reader was there') : tr('no reader was there');
  const looked = tr('{since}, the check took {arm}, and {found}', {
    since,
    arm: lengthOf(markOf(arm, check)),
    found,
  });
  if (delay === null) return looked;
  const over = sinceBegin(markOf(arm, delay), t);
  return tr('{looked}; the grace period has been over for {over}, but no callback has run', {
    looked,
    over,
  });
}

/** Say what the threads do if none of them waits for the lesson's lock or grace period. */
function whatElse(
  index: RunIndex,
  lane: LaneIndex,
  states: readonly (SpanRecord | null)[],
  thread: string,
): string {
  const words = doing(index, lane, states, thread);
  if (states.every((state) => state === null)) return words;
  return tr("{words}; no task waits for the lesson's lock or grace period", { words });
}

function wakes(index: RunIndex, lanes: readonly LaneIndex[], frame: Frame, titles: Titles): string {
  for (const lane of [...lanes].sort((a, b) => b.longestWait - a.longestWait)) {
    const t = laneTime(frame.offset, lane.arm, frame.moment);
    const from = laneTime(frame.offset, lane.arm, frame.start);
    const wake = largestWake(index, lane, t, from);
    if (wake === null) continue;
    // If more threads sleep now than this wake-up woke, describe the sleeping threads instead.
    const asleep = waitingAt(index, statesAt(lane, t))[0]?.length ?? 0;
    if (asleep > wake.freed) return waits(index, lane, t, titles);
    const say = (what: string, value: number, text: string, mark: Mark | null = null) =>
      figure('now', lane.arm, what, value, text, mark);
    const freed = say('freed by the largest wake', wake.freed, plural(wake.freed, titles.thread));
    const since = say('since the largest wake', t - wake.t, formatNs(t - wake.t));
    const ago = t > wake.t ? tr('{since} ago', { since }) : tr('just now');
    const { longest, check } = wake;
    const waited =
      longest === null
        ? ''
        : tr(' The longest sleep that this wake-up ended lasted {arm}', {
            arm: lengthOf(markOf(lane.arm, longest)),
          });
    const checked =
      check === null || waited === ''
        ? ''
        : tr('; the check took {arm} of this time, and the rest was delay', {
            arm: lengthOf(markOf(lane.arm, check)),
          });
    const end = waited === '' ? '' : '.';
    return tr('On {titles}, one wake-up freed {freed} {ago}.{waited}{checked}{end}', {
      titles: armTitle(titles, lane),
      freed,
      ago,
      waited,
      checked,
      end,
    });
  }
  return '';
}

function expedited(
  index: RunIndex,
  lanes: readonly LaneIndex[],
  frame: Frame,
  titles: Titles,
): string {
  const parts = lanes.map((lane) => {
    const a = laneTime(frame.offset, lane.arm, frame.start);
    const b = Math.min(a + frame.span, lane.watermark);
    const ops = opsUpTo(lane, b) - opsUpTo(lane, a);
    let periods = 0;
    let longest: SpanRecord | null = null;
    for (const span of spansIn(lane, 'track', a, b)) {
      if (index.kinds[span.kind]?.name !== 'exp_gp' || span.t0 < a) continue;
      periods += 1;
      const least = longest === null ? 0 : longest.t1 - longest.t0;
      if (!span.open && span.t1 - span.t0 > least) longest = span;
    }
    const most =
      longest === null
        ? ''
        : tr(' (the longest took {arm})', { arm: lengthOf(markOf(lane.arm, longest)) });
    const { name, plural: many } = titles.operation;
    const say = (what: string, n: number, text: string) =>
      figure('window', lane.arm, what, n, text);
    const begun = say(
      'exp_gp begun',
      periods,
      tr(
        '{periods, plural, one {# expedited RCU grace period} other {# expedited RCU grace periods}}',
        { periods },
      ),
    );
    return tr('{titles} runs {begun} for {ops}{most}', {
      titles: armTitle(titles, lane),
      begun,
      ops: say('ops', ops, plural(ops, name, many)),
      most,
    });
  });
  return tr(
    'In this window, {parts}. Every kernel has these grace periods, so they cannot explain the difference.',
    { parts: list(parts) },
  );
}

/** One sentence for each lane that has a reader, and one sentence for all lanes without a reader. */
function readers(
  index: RunIndex,
  lanes: readonly LaneIndex[],
  frame: Frame,
  titles: Titles,
): string {
  const said = lanes.map((lane) => ({
    lane,
    words: reader(index, lane, laneTime(frame.offset, lane.arm, frame.moment), titles),
  }));
  const without = said.filter((s) => s.words === '').map((s) => armTitle(titles, s.lane));
  const rest =
    without.length === 0
      ? []
      : [tr('On {without}, no reader walks the shrinkers now.', { without: list(without) })];
  const failed = lanes.map((lane) => failures(index, lane, frame, titles));
  const words = [...said.map((s) => s.words), ...rest, ...failed];
  return words.filter((one) => one !== '').join(' ');
}

/** Count the walks that did not reach the end; '' if there are none. */
function failures(index: RunIndex, lane: LaneIndex, frame: Frame, titles: Titles): string {
  const score = scoreAt(index, lane, laneTime(frame.offset, lane.arm, frame.moment));
  if (score.gave_up + score.cut_short === 0) return '';
  return tr('On {titles}, {arm}.', {
    titles: armTitle(titles, lane),
    arm: scoreWords(lane.arm, score),
  });
}

function reader(index: RunIndex, lane: LaneIndex, t: number, titles: Titles): string {
  const name = armTitle(titles, lane);
  const kind = index.kinds.findIndex((k) => k.name === 'reader');
  const inside = [...spansIn(lane, 'function', t, t + 1)].find(
    (s) => s.kind === kind && s.t0 <= t && s.t1 > t,
  );
  const states = statesAt(lane, t);
  const waiting = states.filter((s) => s !== null && isWait(index.kinds[s.kind])).length;
  if (inside === undefined) return '';
  const since = tr('a reader has been inside shrink_slab for {arm}', {
    arm: sinceBegin(markOf(lane.arm, inside), t),
  });
  const recheck = [...spansIn(lane, 'track', t, t + 1)].some(
    (s) => index.kinds[s.kind]?.name === 'gp_recheck',
  );
  const effect =
    waiting === 0
      ? tr('no {thread} waits for the reader', { thread: titles.thread })
      : tr('{arm} {waiting} meanwhile', {
          arm: figure(
            'now',
            lane.arm,
            'waiting',
            waiting,
            ofThreads(waiting, states.length, titles.thread),
          ),
          waiting: waiting === 1 ? tr('waits') : tr('wait'),
        });
  const again = recheck ? tr(', and the check has found this reader and tries again') : '';
  return capital(tr('on {name}, {since}; {effect}{again}.', { name, since, effect, again }));
}
