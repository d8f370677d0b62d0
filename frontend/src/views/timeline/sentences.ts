// SPDX-License-Identifier: GPL-2.0-or-later
/** Sentences about the picture, from the events that any lesson declares. Every number is read from the index. */

import { firstAbove } from '../../base/columns.ts';
import { t as tr } from '../../base/lang/t.ts';
import { formatCount, formatNs, plural } from '../../base/units.ts';
import { laneTime } from '../../derive/align.ts';
import { figure, lengthOf, type Scope } from '../../derive/figures.ts';
import { pointRange } from '../../derive/lane-index.ts';
import {
  isWait,
  lostIn,
  opsUpTo,
  type SpanRecord,
  spansIn,
  statesAt,
  threadRows,
} from '../../derive/query.ts';
import type { Frame, KindFacts, LaneIndex, Layer, RunIndex } from '../../derive/types.ts';
import {
  armTitle,
  list,
  severalOf,
  shareWords,
  shortTitle,
  type Titles,
  verbFor,
} from '../../derive/words.ts';
import type { Lesson } from '../../protocol/lesson.ts';
import { opMark } from './describe.ts';

// Totals over a part of a lane, for sentences and panels: time by kind, calls, and points.

/** Totals of one kind in [a, b), over the selected rows. */
export interface KindTally {
  readonly kind: number;
  readonly facts: KindFacts;
  /** Time inside [a, b), ns. */
  readonly ns: number;
  readonly n: number;
  /** Duration of the longest span, including its part outside [a, b), ns. */
  readonly longest: number;
}

/**
 * Totals of the kinds in a layer that have spans in [a, b), in descending order of time. For states, only the
 * workload's threads are included.
 */
export function tallyKinds(
  index: RunIndex,
  lane: LaneIndex,
  layer: Layer,
  a: number,
  b: number,
  row: number | null = null,
): KindTally[] {
  const threads = new Set(threadRows(lane).map((r) => r.row));
  const ns = new Float64Array(index.kinds.length);
  const n = new Uint32Array(index.kinds.length);
  const longest = new Float64Array(index.kinds.length);
  for (const span of spansIn(lane, layer, a, b)) {
    if (row !== null ? span.row !== row : layer === 'state' && !threads.has(span.row)) continue;
    const k = span.kind;
    ns[k] = ns[k]! + Math.min(span.t1, b) - Math.max(span.t0, a);
    n[k] = n[k]! + 1;
    longest[k] = Math.max(longest[k]!, span.t1 - span.t0);
  }
  return index.kinds
    .map((facts, kind) => {
      return { kind, facts, ns: ns[kind]!, n: n[kind]!, longest: longest[kind]! };
    })
    .filter((tally) => tally.n > 0)
    .sort((x, y) => y.ns - x.ns || x.kind - y.kind);
}

/** The number of operations that ended in [a, b). */
function opsIn(lane: LaneIndex, a: number, b: number): number {
  return opsUpTo(lane, b) - opsUpTo(lane, a);
}

/** The number of points with this name in [a, b). */
export function pointsIn(lane: LaneIndex, name: string, a: number, b: number): number {
  const { from, to } = pointRange(lane.points, lane.pointsOf(name), a, b);
  return to - from;
}

type Say<T = Titles> = (index: RunIndex, frame: Frame, titles: T) => string;

/** Titles, and the declared points, which sentences about points need. */
export type PointTitles = Titles & Pick<Lesson, 'points'>;

export function known(index: RunIndex): LaneIndex[] {
  return index.lanes.filter((lane) => lane.spans.length > 0 || lane.points.length > 0);
}

/** The part of the window whose data have arrived on a lane, in the lane's own time; null if no data have arrived. */
export function windowOf(frame: Frame, lane: LaneIndex): { a: number; b: number } | null {
  const a = laneTime(frame.offset, lane.arm, frame.start);
  const b = Math.min(a + frame.span, lane.watermark);
  return b > a ? { a, b } : null;
}

/** Apply `say` to the lanes that have events. */
export function some<T>(
  say: (index: RunIndex, lanes: readonly LaneIndex[], frame: Frame, titles: T) => string,
): Say<T> {
  return (index, frame, titles) => {
    const lanes = known(index);
    return lanes.length === 0 ? '' : say(index, lanes, frame, titles);
  };
}

/** Make one sentence for each lane that has something to report. */
function perLane<T extends Titles>(
  of: (index: RunIndex, lane: LaneIndex, a: number, b: number, titles: T) => string,
): Say<T> {
  return (index, frame, titles) =>
    known(index)
      .map((lane) => {
        const window = windowOf(frame, lane);
        return window === null ? '' : of(index, lane, window.a, window.b, titles);
      })
      .filter((words) => words !== '')
      .join(' ');
}

/** Writes figures about one kind of item on a lane. */
const sayer = (scope: Scope, lane: LaneIndex, of: string) => {
  return (what: string, value: number, text = formatCount(value)) =>
    figure(scope, lane.arm, `${what} ${of}`, value, text);
};

/** Write "8 of 9 hogs", if the lesson calls a thread a hog. */
export function ofThreads(n: number, all: number, thread: string): string {
  if (all === 1) return tr('the one {thread}', { thread });
  return n === all
    ? tr('all {all}', { all: plural(all, thread, severalOf(thread)) })
    : tr('{n} of {all}', { n, all: plural(all, thread, severalOf(thread)) });
}

/**
 * Describe one operation in detail: the operation at the moment, or if there is none, the last earlier operation in the
 * window.
 */
export const oneOp: Say = some((index, [lane], frame, titles) => {
  const t = laneTime(frame.offset, lane!.arm, frame.moment);
  const from = laneTime(frame.offset, lane!.arm, frame.start);
  return oneOpOf(index, lane!, t, from, titles);
});

function oneOpOf(
  index: RunIndex,
  lane: LaneIndex,
  t: number,
  from: number,
  titles: Titles,
): string {
  const { order, length } = lane.opsByEnd;
  const at = firstAbove(length, (i) => lane.ops.t1[order[i]!]!, t);
  const p = at < length && lane.ops.t0[order[at]!]! <= t ? at : at - 1;
  if (p < 0)
    return tr('On {titles}, no {name} has started yet.', {
      titles: armTitle(titles, lane),
      name: titles.operation.name,
    });
  const i = order[p]!;
  const [a, b, row] = [lane.ops.t0[i]!, lane.ops.t1[i]!, lane.ops.row[i]!];
  // The last operation ended before the window, so the window has no operation to describe.
  if (b <= from)
    return tr('On {titles}, no {name} of this window has begun yet.', {
      titles: armTitle(titles, lane),
      name: titles.operation.name,
    });
  const mark = opMark(lane, i);
  const spent = tallyKinds(index, lane, 'state', a, b, row)
    .filter(({ ns }) => ns >= (b - a) * 0.01)
    .slice(0, 4)
    .map(({ facts, ns }) => {
      const dismissed = facts.lesson ? '' : tr(' (not the lesson)');
      const part = figure('mark', lane.arm, `time ${facts.name}`, ns, formatNs(ns), mark);
      return tr('{part} it {facts}{dismissed}', { part, facts: verbFor(facts, 1), dismissed });
    });
  const took = tr('On {titles}, this {name} {t} {mark}', {
    titles: armTitle(titles, lane),
    name: titles.operation.name,
    t: t >= b ? tr('took') : tr('takes'),
    mark: lengthOf(mark),
  });
  return spent.length === 0 ? `${took}.` : `${took}: ${list(spent)}.`;
}

/** Counts of operations from the start to the moment, never a rate. */
export const rates: Say = some((_index, lanes, frame, titles) => {
  const until = (lane: LaneIndex) => laneTime(frame.offset, lane.arm, frame.moment);
  const counts = lanes.map((lane) => ({
    arm: lane.arm,
    name: armTitle(titles, lane),
    ops: opsUpTo(lane, until(lane)),
  }));
  const { name, plural: many } = titles.operation;
  const parts = counts.map(({ arm, name: title, ops }, i) => {
    const text =
      i === 0 ? tr('has done {ops}', { ops: plural(ops, name, many) }) : formatCount(ops);
    return `${title} ${figure('far', arm, 'ops', ops, text)}`;
  });
  const unproven = lanes.filter((lane) => lostIn(lane, 0, until(lane)));
  if (unproven.length > 0) {
    const names = list(unproven.map((lane) => armTitle(titles, lane)));
    return tr('Up to this moment, {parts}. Events of {names} were lost, so no ratio is given.', {
      parts: list(parts),
      names,
    });
  }
  const [first, ...others] = counts;
  if (first === undefined || first.ops < 20 || others.length === 0) {
    return tr('Up to this moment, {parts}.', { parts: list(parts) });
  }
  const shares = others.map((o) => {
    const share = (o.ops / first.ops) * 100;
    const text = formatCount(Math.round(share));
    return tr('{arm} on {name}', {
      arm: figure('far', o.arm, `for each 100 on ${first.arm}`, share, text),
      name: o.name,
    });
  });
  return tr('Up to this moment, {parts}: for each 100 on {name}, {shares}.', {
    parts: list(parts),
    name: first.name,
    shares: list(shares),
  });
});

/** What the threads do at the moment. */
const now: Say = (index, frame, titles) =>
  known(index)
    .map((lane) => {
      const t = laneTime(frame.offset, lane.arm, frame.moment);
      const name = armTitle(titles, lane);
      if (t > lane.watermark && !lane.ended)
        return tr('On {name}, there are no data for this moment yet.', { name });
      const states = statesAt(lane, t);
      return tr('On {name}, {index}.', { name, index: doing(index, lane, states, titles.thread) });
    })
    .join(' ');

/** Write "3 of 4 hogs run and 1 sleeps on something else". */
export function doing(
  index: RunIndex,
  lane: LaneIndex,
  states: readonly (SpanRecord | null)[],
  thread: string,
): string {
  const counts = new Map<number, number>();
  for (const s of states) if (s !== null) counts.set(s.kind, (counts.get(s.kind) ?? 0) + 1);
  if (counts.size === 0) return tr('no {thread} does anything', { thread });
  const parts = [...counts]
    .sort((a, b) => b[1] - a[1] || a[0] - b[0])
    .slice(0, 3)
    .map(([kind, n], i) => {
      const text = i === 0 ? ofThreads(n, states.length, thread) : formatCount(n);
      const facts = index.kinds[kind]!;
      return `${figure('now', lane.arm, `in ${facts.name}`, n, text)} ${verbFor(facts, n)}`;
    });
  return list(parts);
}

/** The cost of the most expensive wait per operation, arm by arm. */
const waitCost: Say = perLane((index, lane, a, b, titles) => {
  const name = armTitle(titles, lane);
  const { name: op, plural: many } = titles.operation;
  if (lostIn(lane, a, b))
    return tr('Events of {name} were lost in this window, so no cost is reported.', { name });
  const wait = tallyKinds(index, lane, 'state', a, b).find(({ facts }) => isWait(facts));
  const ops = opsIn(lane, a, b);
  const done = figure('window', lane.arm, 'ops', ops, plural(ops, op, many));
  if (wait === undefined)
    return tr('On {name}, no {thread} waits in this window of {done}.', {
      name,
      thread: titles.thread,
      done,
    });
  const { facts } = wait;
  const title = tr('On {name}, “{facts}”', { name, facts: shortTitle(facts) });
  const time = (what: string, value: number) =>
    figure('window', lane.arm, `${what} ${facts.name}`, value, formatNs(value));
  const whole = tr('{ns} in this window', { ns: time('time', wait.ns) });
  if (ops === 0)
    return tr('{title} takes {whole}, and no {op} ends in that time.', { title, whole, op });
  return tr('{title} costs {ns} per {op}: {whole} of {done}.', {
    title,
    ns: time('cost', wait.ns / ops),
    op,
    whole,
    done,
  });
});

/** The function that accounts for the largest part of the threads' time. */
const dominant: Say = perLane((index, lane, a, b, titles) => {
  const [most] = tallyKinds(index, lane, 'function', a, b);
  const name = armTitle(titles, lane);
  if (most === undefined) return tr('On {name}, no traced function runs in this window.', { name });
  const say = sayer('window', lane, most.facts.name);
  const calls = say(
    'calls',
    most.n,
    tr('{n, plural, one {# call} other {# calls}}', { n: most.n }),
  );
  const time = say('time', most.ns, formatNs(most.ns));
  const longest = say('longest', most.longest, formatNs(most.longest));
  return tr(
    'On {name}, no traced function takes more of this window than “{facts}”: {time} in {calls}{n, plural, one {} other {; the longest call takes {longest} in all}}.',
    { name, facts: shortTitle(most.facts), time, calls, n: most.n, longest },
  );
});

/** The mean duration of each phase of the tracks. */
const phases: Say = perLane((index, lane, a, b, titles) => {
  const parts = tallyKinds(index, lane, 'track', a, b)
    .filter(({ facts }) => facts.lesson)
    .slice(0, 4)
    .map(({ facts, n, ns }) => {
      const say = sayer('window', lane, facts.name);
      return `${say('calls', n)} × ${shortTitle(facts)} (${say('time', ns, formatNs(ns))})`;
    });
  return parts.length === 0
    ? ''
    : tr('On {titles}, this window has {parts}.', {
        titles: armTitle(titles, lane),
        parts: list(parts),
      });
});

/** The number of points of each name, from the start to the moment. */
const points: Say<PointTitles> = some((_index, lanes, frame, titles) =>
  lanes
    .map((lane) => {
      const t = laneTime(frame.offset, lane.arm, frame.moment);
      const counts = titles.points
        .map(({ name, title }) => ({
          name,
          title: title.split(/[:;]/)[0]!.trim(),
          n: pointsIn(lane, name, -1e18, t + 1),
        }))
        .filter(({ n }) => n > 0)
        .map(({ name, title, n }) => `${figure('far', lane.arm, `points ${name}`, n)} × ${title}`);
      const lost = lostIn(lane, 0, t) ? tr(' Events were lost, so these are lower bounds.') : '';
      const name = armTitle(titles, lane);
      if (counts.length === 0)
        return tr('On {name}, none of these events has been seen yet.{lost}', { name, lost });
      return tr('On {name}, up to this moment: {counts}.{lost}', {
        name,
        counts: list(counts),
        lost,
      });
    })
    .join(' '),
);

/** The number of links in the window, and the number of threads that they reach. */
const links: Say = perLane((_index, lane, a, b, titles) => {
  const { order, length } = lane.linksByTime;
  const from = firstAbove(length, (i) => lane.links.t[order[i]!]!, a - 1);
  const to = firstAbove(length, (i) => lane.links.t[order[i]!]!, b);
  const freed = new Set<number>();
  for (let p = from; p < to; p++) freed.add(lane.links.to[order[p]!]!);
  const name = armTitle(titles, lane);
  const say = sayer('window', lane, 'links');
  if (to === from) return tr('On {name}, this window has no link.', { name });
  const threads = plural(freed.size, titles.thread, severalOf(titles.thread));
  const many = say(
    'number',
    to - from,
    tr('{to, plural, one {# link} other {# links}}', { to: to - from }),
  );
  return tr('On {name}, {many} of this window {to} {freed}.', {
    name,
    many,
    to: to - from === 1 ? tr('reaches') : tr('reach'),
    freed: say('threads', freed.size, threads),
  });
});

/** The share of the threads' time in each state. */
const states: Say = perLane((index, lane, a, b, titles) => {
  const rows = threadRows(lane).length;
  const whole = rows * (b - a);
  const parts = tallyKinds(index, lane, 'state', a, b)
    .filter(({ ns }) => ns >= whole / 200)
    .slice(0, 4)
    .map(({ facts, ns }) => `${shareWords(lane, facts, ns / whole)} ${shortTitle(facts)}`);
  if (parts.length === 0) return '';
  const many = plural(rows, titles.thread, severalOf(titles.thread));
  return tr('{name}: shares of the time of {many} in this window: {parts}.', {
    name: armTitle(titles, lane),
    many: figure('setup', lane.arm, 'threads', rows, many),
    parts: list(parts),
  });
});

/** Sentences for any lesson's events, by name. */
export const timelineSentences = {
  now,
  states,
  wait_cost: waitCost,
  functions: dominant,
  phases,
  points,
  links,
  rates,
  one_op: oneOp,
} as const satisfies Readonly<Record<string, Say<PointTitles>>>;
