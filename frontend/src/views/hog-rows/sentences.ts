// SPDX-License-Identifier: GPL-2.0-or-later
/** The text alternative: one plain sentence from the events in view at this moment. Every number is read off the index. */

import { formatNs, plural } from '../../base/units.ts';
import { laneTime } from '../../derive/align.ts';
import {
  isWait,
  opsUpTo,
  type SpanRecord,
  spansIn,
  statesAt,
  threadRows,
} from '../../derive/query.ts';
import type { Frame, LaneIndex, RunIndex } from '../../derive/types.ts';
import { armTitle, capital, list, type Titles, verbFor } from '../../derive/words.ts';
import { doing, known, ofThreads, oneOp, rates, some } from '../timeline/sentences.ts';
import { type Grace, graceOf } from './grace.ts';
import { largestWake } from './wakes.ts';

type Say = (index: RunIndex, frame: Frame, titles: Titles) => string;

/** Says it for every lane that has something to tell from. */
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
  expedited: some(expedited),
  reader: some(readers),
} as const satisfies Readonly<Record<string, Say>>;

/** "On SRCU 8 of 9 hogs wait for the same SRCU grace period; it was asked for 5.2 ms ago, ..." */
function waits(index: RunIndex, lane: LaneIndex, t: number, titles: Titles): string {
  const name = armTitle(titles, lane);
  if (t > lane.watermark) return `On ${name} nothing is known yet of this moment.`;
  const all = threadRows(lane).length;
  const states = statesAt(lane, t);
  const waiting = states.filter((s): s is SpanRecord => s !== null && isWait(index.kinds[s.kind]));
  if (waiting.length === 0) return `On ${name} ${whatElse(index, states, all, titles.thread)}.`;
  const kind = index.kinds[waiting[0]!.kind]!;
  const who = `On ${name} ${ofThreads(waiting.length, all, titles.thread)} ${verbFor(kind, waiting.length)}`;
  const graces = waiting.map((s) => graceOf(index, lane, s.t0, t));
  const grace = mostWaitedFor(graces);
  if (grace === null) {
    const oldest = Math.min(...waiting.map((s) => s.t0));
    return `${who}; the longest of them for ${formatNs(t - oldest)} now.`;
  }
  const same = graces.filter((g) => g?.askedAt === grace.askedAt).length;
  const shared =
    same === 1
      ? who
      : same === waiting.length
        ? who.replace(' for an ', ' for the same ')
        : `${who}, ${same} of them for the same one`;
  return `${shared}; ${graceWords(grace, t)}.`;
}

/** The grace period that most of the sleepers wait for. */
function mostWaitedFor(graces: readonly (Grace | null)[]): Grace | null {
  let best: { grace: Grace; n: number } | null = null;
  for (const grace of graces) {
    if (grace === null) continue;
    const n = graces.filter((g) => g?.askedAt === grace.askedAt).length;
    if (best === null || n > best.n) best = { grace, n };
  }
  return best?.grace ?? null;
}

function graceWords(grace: Grace, t: number): string {
  if (grace.askedAt === null)
    return grace.behind
      ? 'it has not begun, since the one before is not over'
      : 'it has not begun yet';
  const asked = `it was asked for ${formatNs(t - grace.askedAt)} ago`;
  if (grace.checkNs === null) return `${asked}, and nobody has looked for readers yet`;
  const found = grace.readerSeen ? 'a reader was there' : 'no reader was there';
  const check = `${asked}, the check took ${formatNs(grace.checkNs)}, and ${found}`;
  if (grace.overSince === null) return check;
  return `${check}; it has been over for ${formatNs(t - grace.overSince)}, but nobody was notified`;
}

/** Nobody waits for the lesson's sake: what do they do? */
function whatElse(
  index: RunIndex,
  states: readonly (SpanRecord | null)[],
  all: number,
  thread: string,
): string {
  const words = doing(index, states, all, thread);
  if (states.every((state) => state === null)) return words;
  return `${words}; nobody waits for the lesson's lock or grace period`;
}

function wakes(index: RunIndex, lanes: readonly LaneIndex[], frame: Frame, titles: Titles): string {
  for (const lane of [...lanes].sort((a, b) => b.longestWait - a.longestWait)) {
    const t = laneTime(frame.offset, lane.arm, frame.moment);
    const from = laneTime(frame.offset, lane.arm, frame.start);
    const wake = largestWake(index, lane, t, from);
    if (wake === null) continue;
    const freed = plural(wake.freed, titles.thread);
    const ago = formatNs(t - wake.t);
    const waited =
      wake.longestWait > 0
        ? ` The longest of them had slept for ${formatNs(wake.longestWait)}`
        : '';
    const checked =
      wake.checkNs === null || waited === ''
        ? ''
        : `; the check took ${formatNs(wake.checkNs)} of it, the rest was delay`;
    const end = waited === '' ? '' : '.';
    return `On ${armTitle(titles, lane)} one wake freed ${freed} ${ago} ago.${waited}${checked}${end}`;
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
    let longest = 0;
    for (const span of spansIn(lane, 'track', a, b)) {
      if (index.kinds[span.kind]?.name !== 'exp_gp' || span.t0 < a) continue;
      periods += 1;
      if (!span.open) longest = Math.max(longest, span.t1 - span.t0);
    }
    const most = longest > 0 ? `, the longest ${formatNs(longest)}` : '';
    const { name, plural: many } = titles.operation;
    return `${armTitle(titles, lane)} runs ${plural(periods, 'expedited RCU grace period')} for ${plural(ops, name, many)}${most}`;
  });
  return `In this window ${list(parts)}. Every kernel pays for them, so they cannot be the difference.`;
}

/** Lanes with a reader get a sentence each, those without share one. */
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
    without.length === 0 ? [] : [`On ${list(without)} no reader walks the shrinkers now.`];
  return [...said.map((s) => s.words).filter((words) => words !== ''), ...rest].join(' ');
}

function reader(index: RunIndex, lane: LaneIndex, t: number, titles: Titles): string {
  const name = armTitle(titles, lane);
  const kind = index.kinds.findIndex((k) => k.name === 'reader');
  const inside = [...spansIn(lane, 'function', t, t + 1)].find(
    (s) => s.kind === kind && s.t0 <= t && s.t1 > t,
  );
  const states = statesAt(lane, t);
  const waiting = states.filter((s) => s !== null && isWait(index.kinds[s.kind])).length;
  const all = threadRows(lane).length;
  if (inside === undefined) return '';
  const since = `a reader has been inside shrink_slab for ${formatNs(t - inside.t0)}`;
  const recheck = [...spansIn(lane, 'track', t, t + 1)].some(
    (s) => index.kinds[s.kind]?.name === 'gp_recheck',
  );
  const effect =
    waiting === 0
      ? `no ${titles.thread} waits for it`
      : `${ofThreads(waiting, all, titles.thread)} ${waiting === 1 ? 'waits' : 'wait'} meanwhile`;
  const again = recheck ? ', and the check has found it and looks again' : '';
  return capital(`on ${name} ${since}; ${effect}${again}.`);
}
