// SPDX-License-Identifier: GPL-2.0-or-later
/** The text alternative: sentences about a moment, counts, and answers. Every number comes from the events. */

import { firstAbove } from '@page/base/columns.ts';
import { t as tr } from '@page/base/lang/t.ts';
import { formatCount, formatMoment, formatNs, ns } from '@page/base/units.ts';
import { heldTime, laneTime } from '@page/derive/align.ts';
import { about, figure } from '@page/derive/figures.ts';
import { choiceOf, forTen } from '@page/derive/prediction.ts';
import { laneOf, lostIn } from '@page/derive/query.ts';
import type { NearbyRow } from '@page/derive/summary.ts';
import type { Frame, LaneIndex, Mark, Nanos, RunIndex } from '@page/derive/types.ts';
import { armTitle, capital, list } from '@page/derive/words.ts';
import type { Lesson } from '@page/protocol/lesson.ts';
import { sampleAt } from '@page/store/lane.ts';
import type { Answerer, Counts, Sentence } from '@page/views/contract.ts';
import {
  callName,
  callTime,
  counted,
  countWords,
  fewCounted,
  markAt,
  type Noun,
  noWords,
  ofCall,
  touches,
} from './marks.ts';
import {
  Bit,
  type Call,
  type Cells,
  Count,
  memcgName,
  shrinkerName,
  type Wall,
  wallOf,
} from './wall.ts';

interface Now {
  readonly lane: LaneIndex;
  readonly wall: Wall;
  readonly name: string;
  readonly t: Nanos;
  readonly cells: Cells;
  readonly n: Float64Array;
}

function nowOf(index: RunIndex, frame: Frame, lesson: Lesson): Now[] {
  return index.lanes
    .filter((lane) => lane.points.length > 0)
    .map((lane) => {
      const wall = wallOf(lane, lesson);
      const t = heldTime(lane, frame);
      const cells = wall.at(t);
      const name = lesson.arms.length > 0 ? armTitle(lesson, lane) : lane.arm;
      return { lane, wall, name, t, cells, n: cells.n };
    });
}

/** Join the sentences of all lanes. The sentence of a lane without data at the moment says that data are missing. */
function perLane(say: (now: Now) => string): Sentence {
  return (index, frame, lesson) =>
    nowOf(index, frame, lesson)
      .map((now) =>
        now.t > now.lane.watermark && !now.lane.ended
          ? tr('With the {name}, there are no data for this moment yet.', { name: now.name })
          : say(now),
      )
      .filter((words) => words !== '')
      .join(' ');
}

const few = (n: number, noun: Noun) => (n === 0 ? noWords(noun) : countWords(n, noun));

/** Return the warning that lost events make the counts lower bounds; '' if no events were lost. */
function bound({ lane, n, t }: Now): string {
  return lostIn(lane, n[Count.began]!, t)
    ? tr(' Events were lost, so these counts are lower bounds.')
    : '';
}

function memcgs({ wall }: Now): number {
  return wall.replay.grid.memcgs.length - 1;
}

/** Write "Call 3 with the list walk made 4,332 visits, 57 memcgs times 76 shrinkers, 4,275 in vain." */
function call(now: Now): string {
  const { n, name, wall } = now;
  if (n[Count.call] === 0)
    return tr('With the {name}, no call of drop_caches has begun yet.', { name });
  const over = n[Count.ended]! > 0;
  const pass = n[Count.pass]!;
  const whole = memcgs(now) * n[Count.shrinkers]! * pass;
  const area =
    !wall.replay.readsMap && over && n[Count.visits] === whole ? areaWords(now, pass) : '';
  const visits = visitsOf(now);
  const begin = over
    ? tr('{call} with the {name} made {visits}{area}', {
        call: capital(callName(now)),
        name,
        visits,
        area,
      })
    : tr('{call} with the {name} has made {visits} so far', {
        call: capital(callName(now)),
        name,
        visits,
      });
  const share =
    n[Count.visits] === 0 ? '' : tr(', {vain} in vain', { vain: fewCounted(now, 'vain') });
  const gain =
    n[Count.freed]! > 0
      ? tr(' The call freed {freed} for memcgs.', { freed: fewCounted(now, 'freed', 'object') })
      : tr(' The call freed nothing for memcgs.');
  return tr('{begin}{share}.{gain}{bound}', {
    ...{ begin, share, gain: over ? gain : '', bound: bound(now) },
  });
}

/** Write the factors of the number of visits: `, 2 passes of 57 memcgs times 76 shrinkers`. */
function areaWords(now: Now, passes: number): string {
  const of = { memcgs: rowsOf(now), shrinkers: counted(now, 'shrinkers', 'shrinker') };
  return passes > 1
    ? tr(', {passes} of {memcgs} memcgs times {shrinkers}', {
        passes: counted(now, 'pass', 'pass'),
        ...{ memcgs: of.memcgs, shrinkers: of.shrinkers },
      })
    : tr(', {memcgs} memcgs times {shrinkers}', { memcgs: of.memcgs, shrinkers: of.shrinkers });
}

/** Format the visits so far, linked to their cells. */
function visitsOf(now: Now): string {
  const text = counted(now, 'visits', 'visit');
  return now.n[Count.visits]! > 0 ? about(now.lane.arm, 'visited', text) : text;
}

function rowsOf(now: Now): string {
  return figure('now', now.lane.arm, 'memcgs', memcgs(now));
}

function bits(now: Now): string {
  const { n, name, wall } = now;
  const set = n[Count.bits]!;
  const objects = n[Count.objects]!;
  const grown = set - objects;
  const why =
    grown > 0
      ? tr(': {objects} because of objects, and {bitsOfGrowth} because the maps grew', {
          objects: counted(now, 'objects'),
          bitsOfGrowth: figure('now', now.lane.arm, 'bits of growth', grown),
        })
      : set > 0
        ? tr(', all because of objects')
        : '';
  const read = wall.replay.readsMap
    ? tr(' Only these bits are visited.')
    : tr(' Nobody reads these bits, because the walk calls every shrinker.');
  const many = fewCounted(now, 'bits', 'bit');
  const all = set > 0 ? about(now.lane.arm, 'set', many) : many;
  return tr('With the {name}, {all} {set, plural, one {is} other {are}} set{why}.{read}{seen}', {
    ...{ name, all, set, why, read, seen: seenByXray(now) },
  });
}

/**
 * Compare the count of set bits with the x-ray's count. The time of an x-ray sample is not exact, and bits that changed
 * within its error can explain a difference.
 */
function seenByXray({ lane, t, wall }: Now): string {
  const sample = sampleAt(lane.samples('shrinker-maps'), t);
  const bitsSet = sample?.facts['bits_set'];
  if (sample === null || bitsSet === undefined) return '';
  const at = (when: number) => wall.at(when, 'x-ray').n[Count.bits]!;
  // Bits change, so the largest count may lie inside the interval of error, not at one of its ends.
  const around = [-sample.error, 0, sample.error].map((by) => at(sample.t + by));
  const within = bitsSet >= Math.min(...around) && bitsSet <= Math.max(...around);
  const past = (what: string, value: number, text = formatCount(value)) =>
    figure('now', lane.arm, `${what} by the x-ray`, value, text);
  const ago = tr('{since} ago', {
    since: past('since the look', t - sample.t, formatNs(t - sample.t)),
  });
  const saw = past('bits', bitsSet);
  if (!within) {
    return tr(' But {ago} the x-ray saw {saw}, while the events say {bitsThen}.', {
      ago,
      saw,
      bitsThen: past('bits then', at(sample.t)),
    });
  }
  const then = at(t) === bitsSet ? '' : tr(', which agrees with the events of that time');
  return tr(" The x-ray saw {saw} in the guest's memory {ago}{then}.", { saw, ago, then });
}

function first(now: Now): string {
  const { n, name, wall } = now;
  if (!wall.replay.readsMap) return call(now);
  if (n[Count.call] === 0) return call(now);
  const found = wall.calls()[n[Count.call]! - 1];
  if (found === undefined) return call(now);
  // An earlier run in the guest is a reason only if each growth of the maps has its own event.
  const grown =
    n[Count.expanded] === 0 && !wall.replay.inferred
      ? tr(
          ' The maps had room for all shrinkers and did not grow, because this guest has run the workload before.',
        )
      : '';
  const looks = counted(now, n[Count.again]! > 0 ? 'again' : 'cleared');
  const again = n[Count.cleared]! > 0 ? about(now.lane.arm, 'again', looks) : looks;
  const { bitsBefore } = found;
  const before = few(bitsBefore, 'bit');
  const set = figure('operation', now.lane.arm, 'bits before', bitsBefore, before);
  return tr(
    'On {name}, {call} began with {set} set. Of the {visits} in {call}, {again} were second checks of bits that had just been cleared.{grown}{bound}',
    {
      name,
      call: callName(now),
      set,
      visits: counted(now, 'visits', 'visit'),
      again,
      grown,
      bound: bound(now),
    },
  );
}

/** Write "8 containers made a file, which set a bit for shrinker 20; none of them are set now." */
function touched(now: Now): string {
  const { n, name, cells, wall, lane, t } = now;
  const done = touches(lane).filter((touch) => touch.t <= t);
  const set = (id: number, row: number) =>
    cells.bit[row * wall.replay.grid.stride + id] !== Bit.clear;
  const pairs = new Map(
    done.map(({ at }) => {
      const [row, id] = [wall.replay.rows[at]!, lane.points.b[at]!];
      return [`${row} ${id}`, { row, id }] as const;
    }),
  );
  const all = [...pairs.values()];
  const on = all.filter(({ row, id }) => set(id, row)).length;
  const ids = list([...new Set(all.map(({ id }) => shrinkerName(lane, id, t)))].slice(0, 3));
  const fate =
    all.length === 1
      ? on === 1
        ? tr('it is set now')
        : tr('it is not set now')
      : tr('{some} of them {on, plural, one {is} other {are}} set now', {
          some: figure('now', lane.arm, 'of them set', on, still(on, all.length)),
          on,
        });
  const lit =
    all.length === 0
      ? tr(
          'With the {name}, no container has a set bit except its bit for the cgroup filesystem.',
          {
            name,
          },
        )
      : tr('With the {name}, {touched} made a file, which set a bit for {ids}; {fate}.', {
          name,
          touched: about(
            lane.arm,
            'touched',
            figure('now', lane.arm, 'containers', all.length, countWords(all.length, 'container')),
          ),
          ids,
          fate,
        });
  if (n[Count.call] === 0) return lit;
  const over = n[Count.ended]! > 0;
  const freed = fewCounted(now, 'freed', 'object');
  const calls = tr(
    '{call} {over, select, yes {made} other {has made}} {visits} and freed {freed} for memcgs.',
    {
      ...{ call: capital(callName(now)), over: over ? 'yes' : 'no', freed },
      visits: counted(now, 'visits', 'visit'),
    },
  );
  return `${lit} ${calls}${bound(now)}`;
}

const still = (on: number, all: number) =>
  on === all ? tr('all') : tr('{n, plural, =0 {none} other {#}}', { n: on });

/** Say how often bits were set, cleared and checked again, and what the loss of a bit would mean. */
function price(now: Now): string {
  const { name, wall } = now;
  const sets = tr('{ops} so far', { ops: fewCounted(now, 'sets', 'time') });
  if (!wall.replay.readsMap) {
    return tr(
      'With the {name}, bits were set {sets}, including bits that were already set. Nothing depends on these bits: {call} would make its {visits} without them.',
      { name, sets, visits: visitsOf(now), call: callName(now) },
    );
  }
  const looks = counted(now, 'again');
  const again = now.n[Count.cleared]! > 0 ? about(now.lane.arm, 'again', looks) : looks;
  return tr(
    "With the {name}, bits were set {sets}, including bits that were already set. In {call}, {cleared} were cleared, and {again} visits were second checks, in case an object had been added. If a bit were lost, its object's memory would never be reclaimed.{bound}",
    { name, sets, call: callName(now), cleared: counted(now, 'cleared'), again, bound: bound(now) },
  );
}

/** Compare the visits of all lanes in the same call, and name the numbers of memcgs and shrinkers. */
const growth: Sentence = (index, frame, lesson) => {
  const nows = nowOf(index, frame, lesson).filter((now) => now.n[Count.call]! > 0);
  if (nows.length === 0) return tr('No call of drop_caches has begun yet.');
  const parts = nows.map((now) => {
    const took =
      now.n[Count.ended]! > 0 ? tr(' (over after {time})', { time: callTime(now, now.t) }) : '';
    return tr('the {name} has made {visits}{took}', {
      name: now.name,
      visits: visitsOf(now),
      took,
    });
  });
  const wide = nows[0]!;
  const size = tr('{memcgs} memcgs and {shrinkers}', {
    memcgs: rowsOf(wide),
    shrinkers: counted(wide, 'shrinkers', 'shrinker'),
  });
  return tr('With {size}, {call}: {parts}.{bound}', {
    size,
    call: callName(wide),
    parts: list(parts),
    bound: nows.map(bound).find((b) => b !== '') ?? '',
  });
};

export const sentences: Readonly<Record<string, Sentence>> = {
  call: perLane(call),
  bits: perLane(bits),
  first: perLane(first),
  touched: perLane(touched),
  price: perLane(price),
  growth,
};

/** Return a call of a lane by its number, counted from 1; null if it has not ended or its events were lost. */
export function doneCall(lane: LaneIndex, lesson: Lesson, number: number): Call | null {
  const found = wallOf(lane, lesson).calls()[number - 1];
  if (found === undefined || found.ended === 0) return null;
  return lostIn(lane, found.began, found.ended) ? null : found;
}

function visitsIn(number: number): Answerer {
  return (index, prediction, lesson) => {
    const lanes = prediction.arms.map((arm) => laneOf(index, arm));
    const [one, other] = lanes.map((lane) => lane && doneCall(lane, lesson, number));
    if (!one || !other || other.visits === 0) return null;
    const ratio = one.visits / other.visits;
    const [a, b] = lanes.map((lane) => armTitle(lesson, lane!));
    const words = tr(
      'Call {number} made {visits} visits with the {a} and {visits2} with the {b}: {ratio} visits with the {a} for every ten with the {b}.',
      {
        number,
        visits: formatCount(one.visits),
        a,
        visits2: formatCount(other.visits),
        b,
        ratio: forTen(ratio),
      },
    );
    return { value: ratio * 10, choice: choiceOf(prediction, ratio * 10), words };
  };
}

export const answers: Readonly<Record<string, Answerer>> = {
  visits_first: visitsIn(1),
  visits_third: visitsIn(3),
};

/** Return the counts of the current or last call, for each arm. */
export function counts(index: RunIndex, frame: Frame, lesson: Lesson): Counts {
  const rows = nowOf(index, frame, lesson).map(({ lane, n, t }) => {
    const least = lostIn(lane, n[Count.began]!, t) ? '≥ ' : '';
    const now = { lane, n };
    const names = ['visits', 'vain', 'again', 'freed', 'bits', 'rootVisits'] as const;
    const time = n[Count.call] === 0 ? '–' : callTime(now, Math.min(t, lane.watermark));
    const columns = [...names.map((name) => `${least}${counted(now, name)}`), time];
    return [lane.arm, columns] as const;
  });
  const heads = [
    tr('visits'),
    tr('in vain'),
    tr('second checks'),
    tr('objects freed'),
    tr('bits set'),
    tr('for the root'),
  ];
  return { heads: [...heads, tr('time of the call')], rows: new Map(rows) };
}

// Describes the window in words, and lists the visits near the moment in a table.

/** Describe each call that touches the window, with one sentence per lane. */
export function summary(index: RunIndex, frame: Frame, lesson: Lesson): readonly string[] {
  return index.lanes.map((lane) => {
    const a = laneTime(frame.offset, lane.arm, frame.start);
    const b = Math.min(a + frame.span, lane.watermark);
    const title = armTitle(lesson, lane);
    const calls = wallOf(lane, lesson)
      .calls()
      .filter((call) => call.began < b && (call.ended === 0 || call.ended >= a));
    if (calls.length === 0) return tr('{title}: no call in this window.', { title });
    return `${title}: ${calls
      .slice(0, 5)
      .map((call) => callWords(lane.arm, call))
      .join('; ')}.`;
  });
}

function callWords(arm: string, call: Call): string {
  const of = (name: string, value: number, text?: string) =>
    call.ended === 0
      ? figure('window', arm, name, value, text)
      : ofCall(arm, call.number, name, value, text);
  const took = call.ended - call.began;
  const time =
    call.ended === 0
      ? tr('is not over yet')
      : tr('took {time}', { time: of('time', took, formatNs(took)) });
  const passes = call.passes > 1 ? tr(' in {pass} passes', { pass: of('pass', call.passes) }) : '';
  const again =
    call.again > 0 ? tr(', {again} of them second checks', { again: of('again', call.again) }) : '';
  const visits = of('visits', call.visits, countWords(call.visits, 'visit'));
  const freed = of('freed', call.freed, countWords(call.freed, 'object'));
  const rootVisits = of('rootVisits', call.rootVisits, countWords(call.rootVisits, 'visit'));
  const root = tr(' and {rootVisits} for the root cgroup, as on every kernel', { rootVisits });
  return tr(
    'call {number} {time}: {visits}{passes}{again}, {vain} in vain and {freed} freed{root}',
    {
      number: call.number,
      time,
      visits,
      passes,
      again,
      vain: of('vain', call.vain),
      freed,
      root,
    },
  );
}

const mostNearby = 50;

/** Return the 50 visits or walks that are nearest to the moment, in order of time. */
export function table(index: RunIndex, frame: Frame, lesson: Lesson): readonly NearbyRow[] {
  const found = index.lanes.flatMap((lane) => near(lane, lesson, frame));
  found.sort((a, b) => Math.abs(a.t0 - frame.moment) - Math.abs(b.t0 - frame.moment));
  return found
    .slice(0, mostNearby)
    .sort((a, b) => a.t0 - b.t0)
    .map((one) => rowOf(index, frame, lesson, one));
}

interface Near {
  readonly lane: LaneIndex;
  readonly wall: Wall;
  /** Index of the visit among the points, and its frame time. */
  readonly at: number;
  readonly t0: number;
}

/** Return the visits up to the moment, with the newest first. Later visits would reveal how the run ends. */
function near(lane: LaneIndex, lesson: Lesson, frame: Frame): Near[] {
  const wall = wallOf(lane, lesson);
  const order = lane.pointsOf(wall.replay.visitsReplayed ? 'visit' : 'walk');
  const t = heldTime(lane, frame);
  const shift = frame.offset.get(lane.arm) ?? 0;
  const from = laneTime(frame.offset, lane.arm, frame.start);
  const end = firstAbove(order.length, (i) => lane.points.t[order.order[i]!]!, t);
  const list: Near[] = [];
  for (let i = end - 1; i >= Math.max(0, end - mostNearby); i--) {
    const at = order.order[i]!;
    const time = lane.points.t[at]!;
    if (time < from) break;
    list.push({ lane, wall, at, t0: time + shift });
  }
  return list;
}

function rowOf(index: RunIndex, frame: Frame, lesson: Lesson, one: Near): NearbyRow {
  const { lane, wall, at, t0 } = one;
  const { points } = lane;
  const row = wall.replay.rows[at]!;
  const walk = !wall.replay.visitsReplayed;
  const id = walk ? 0 : Math.max(0, points.b[at]!);
  const time = ns(points.t[at]!);
  const cell = markAt(index, lesson, frame, lane.arm, row, id);
  const again = wall.replay.secondChecks[at] === 1;
  const kind = walk ? cell?.kind : kindOf(index, points.c[at]!, again, row);
  const mark: Mark = {
    arm: lane.arm,
    table: 'points',
    id: row * 65_536 + id,
    row: 0,
    kind: kind ?? 0,
    t0: time,
    t1: time,
  };
  return {
    mark,
    t0: ns(t0),
    when: formatMoment(t0, frame.span / 100),
    lane: armTitle(lesson, lane),
    row: memcgName(wall.replay, row),
    what: walk
      ? tr('walk: {visits}, {bits} set', {
          visits: countWords(points.b[at]!, 'visit'),
          bits: countWords(points.c[at]!, 'bit'),
        })
      : `${points.b[at]! < 0 ? tr('a shrinker that is not memcg-aware') : shrinkerName(lane, id, time)}: ${outcome(points.c[at]!, again)}`,
    length: '',
    cpu: String(points.cpu[at]!),
  };
}

function kindOf(index: RunIndex, ret: number, again: boolean, row: number): number {
  const name =
    row === 0
      ? 'root_visit'
      : ret > 0
        ? 'visit_freed'
        : ret === 0
          ? 'visit_busy'
          : again
            ? 'visit_again'
            : 'visit_vain';
  return Math.max(
    0,
    index.kinds.findIndex((k) => k.name === name),
  );
}

function outcome(ret: number, again: boolean): string {
  const look = again ? 'second' : 'first';
  if (ret > 0)
    return tr('{objects} freed{look, select, second {, second check} other {}}', {
      ...{ objects: countWords(ret, 'object'), look },
    });
  if (ret === 0)
    return tr('something found, nothing freed{look, select, second {, second check} other {}}', {
      look,
    });
  return tr('in vain{look, select, second {, second check} other {}}', { look });
}
