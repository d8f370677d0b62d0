// SPDX-License-Identifier: GPL-2.0-or-later
/** Sentences, summary, table and counts. Every number is read off the events of the run. */

import { quantile } from '../../base/search.ts';
import { formatCount, formatMoment, formatNs, ns, plural } from '../../base/units.ts';
import { laneTime } from '../../derive/align.ts';
import { figure, lengthOf, sinceBegin } from '../../derive/figures.ts';
import { lostIn, spanAt, markOf as spanMark, spansIn } from '../../derive/query.ts';
import type { NearbyRow } from '../../derive/summary.ts';
import type { Frame, LaneIndex, Mark, RunIndex } from '../../derive/types.ts';
import { armTitle, capital, list } from '../../derive/words.ts';
import type { Lesson } from '../../protocol/lesson.ts';
import type { Counts, Sentence } from '../contract.ts';
import { describe } from './describe.ts';
import { ageAtReuse, counted, markOf, shadowLeft } from './figures.ts';
import { commonest } from './hero.ts';
import { lifeOf, limitOf } from './layout.ts';
import { dangerEnd, type Life, type Lives, lifeAt, never, stateAt } from './lives.ts';
import { stepAt } from './queues.ts';
import { agesIn, populationAt, type Tally, tallyOf } from './tally.ts';

type PerLane = (see: Seen) => string;

interface Seen {
  readonly index: RunIndex;
  readonly lane: LaneIndex;
  readonly lives: Lives;
  readonly lesson: Lesson;
  readonly name: string;
  /** The lane's own time: of the moment, of the window's begin. */
  readonly t: number;
  readonly from: number;
}

function seen(index: RunIndex, lane: LaneIndex, frame: Frame, lesson: Lesson): Seen {
  const { lives } = lifeOf(index, lane, lesson);
  const t = Math.min(laneTime(frame.offset, lane.arm, frame.moment), lane.watermark);
  const from = laneTime(frame.offset, lane.arm, frame.start);
  return { index, lane, lives, lesson, name: armTitle(lesson, lane), t, from };
}

function known(index: RunIndex): readonly LaneIndex[] {
  return index.lanes.filter((lane) => lane.points.length > 0);
}

function perLane(say: PerLane): Sentence {
  return (index, frame, lesson) =>
    known(index)
      .map((lane) => {
        if (lostIn(lane, 0, lane.watermark))
          return `Events of ${armTitle(lesson, lane)} were lost, so nothing is said about it.`;
        return capital(say(seen(index, lane, frame, lesson)));
      })
      .filter((words) => words !== '')
      .join(' ');
}

/** The life of the enlarged inode, as far as the moment has come. */
const life: Sentence = (index, frame, lesson) => {
  const lane = known(index)[0];
  if (lane === undefined) return '';
  const see = seen(index, lane, frame, lesson);
  const row = frame.selection?.table === 'points' ? frame.selection.row : null;
  const ino = row !== null && see.lives.byIno.has(row) ? row : commonest([see.lives]);
  const now = ino === null ? null : lifeAt(see.lives, ino, see.t);
  if (ino === null || now === null) return `On ${see.name} no inode has been seen yet.`;
  return `On ${see.name} inode ${ino} ${lifeWords(now, see)}`;
};

/** When the next file has it, or who creates one begins to wait for it. */
const freeUntil = ({ waitFrom, next }: Life) => Math.min(waitFrom, next);

function lifeWords(now: Life, see: Seen): string {
  const { t } = see;
  const { before } = now;
  const { ino } = now;
  const until = Math.min(now.inactivated, now.next);
  const spans = {
    queued: () => markOf(see, 'queued', now.queuedId, ino, now.queued, until),
    free: () => markOf(see, 'free', now.queuedId, ino, now.inactivated, freeUntil(now)),
    early: () => markOf(see, 'early', now.bornId, ino, now.born, dangerEnd(now)),
    alive: () => markOf(see, 'alive', now.bornId, ino, now.born, now.queued),
  } as const;
  const ago = (what: string, from: number, mark: Mark | null = null) =>
    figure('now', see.lane.arm, `since ${what}`, t - from, formatNs(t - from), mark);
  switch (stateAt(now, t)) {
    case 'queued': {
      const reader =
        t < now.shadowEnd ? 'An old reader may still look at it.' : 'Its grace period is over.';
      return `was unlinked ${ago('its unlinking', now.queued, spans.queued())} ago and waits for the worker. ${reader}`;
    }
    case 'free': {
      const inside = t < now.shadowEnd;
      const shadow = inside
        ? 'its grace period is not over: an old reader may still look.'
        : `its grace period has been over for ${ago('its grace period', now.shadowEnd)}: nobody can be looking any more.`;
      const wait = now.waitFrom <= t ? ` Who creates a file was given it and waits.` : '';
      return `was inactivated ${ago('its inactivation', now.inactivated, spans.free())} ago and is free; ${shadow}${wait}`;
    }
    case 'alive': {
      if (before === null || before.queued === never) return 'is alive: a file has it.';
      const mark = now.early && t < dangerEnd(now) ? spans.early() : spans.alive();
      const age = ageAtReuse(see.lane.arm, now, before, mark);
      if (!now.early)
        return `has a new file, ${age} after it was let go, when its grace period was over.`;
      const left = shadowLeft(see.lane.arm, now, before);
      const over = t - before.shadowEnd;
      const early = `has a new file, ${age} after the old one was let go and ${left === null ? '' : `${left} `}before its grace period`;
      return over >= 0
        ? `${early} ended. That was ${ago('that grace period', before.shadowEnd)} ago: nobody can be looking at the old file any more.`
        : `${early} ends. An old reader may now look at the wrong file.`;
    }
    default:
      return 'is not known at this moment.';
  }
}

function times(n: number): string {
  return n === 1 ? 'once' : n === 2 ? 'twice' : `${formatCount(n)} times`;
}

/** Reuses so far, and what was waited for; in few words where there are many lanes. */
const reuses = perLane((see) => {
  const { index, lane, lives, name, t } = see;
  const tally = tallyOf(lane, lives, t);
  const of = (count: keyof Tally, text?: string) => counted(lane, tally, count, text);
  const early = () => of('early', tally.early === 0 ? 'none' : undefined);
  if (index.lanes.length > 2) {
    const held = tally.gpWaits === 0 ? '' : `, ${of('gpWaitNs')} waited`;
    return `${name}: ${of('reused')} came back so far, ${early()} in the shadow${held}.`;
  }
  if (tally.reused === 0 && tally.gpWaits === 0) return `on ${name} no inode has come back yet.`;
  const waits: string[] = [];
  if (tally.gpWaits > 0)
    waits.push(
      `${of('gpWaits', times(tally.gpWaits))} somebody waited for RCU, ${of('gpWaitNs')} in all`,
    );
  if (tally.throttles > 0) waits.push(`${of('throttles', times(tally.throttles))} for the backlog`);
  const cost = waits.length === 0 ? '' : `; ${list(waits)}`;
  const back = of('reused', plural(tally.reused, 'inode'));
  return `on ${name} ${back} came back so far, ${early()} of them inside the shadow${cost}.`;
});

/** What the process and the worker do now, and how high the water stands. */
const dam = perLane((see) => {
  const { index, lane, lives, lesson, name, t } = see;
  const { queues } = lifeOf(index, lane, lesson);
  const limit = limitOf(index);
  const now = queues.cpus.map((queue) => ({ cpu: queue.cpu, step: stepAt(queue, t) }));
  const high = now.toSorted((a, b) => b.step.list + b.step.rcu - (a.step.list + a.step.rcu))[0];
  if (high === undefined) return '';
  const { list: listed, rcu, hands } = high.step;
  const of = (what: string, n: number) => figure('now', lane.arm, `${what} on CPU ${high.cpu}`, n);
  const parts = [
    `${of('wait', listed + rcu)} of ${figure('setup', lane.arm, 'limit', limit)} inodes wait on CPU ${high.cpu}`,
  ];
  if (rcu > 0) parts.push(`${of('for RCU', rcu)} of them for RCU`);
  const more = hands === 1 ? 'more is' : 'more are';
  if (hands > 0) parts.push(`${of('taken', hands)} ${more} in the worker's hands`);
  const asleep = lives.waits.find((w) => w.worker && w.t0 <= t && t < w.t1);
  const worker = asleep
    ? `; the worker waits for a grace period, for ${sinceBegin(markOf(see, 'worker_wait', asleep.id, asleep.cpu, asleep.t0, asleep.t1), t)} now`
    : '';
  const row = lane.rows.find((r) => r.role === 'thread')?.row ?? 0;
  const state = spanAt(lane, row, 'state', t);
  const kind = state === null ? '' : index.kinds[state.kind]?.name;
  const held =
    state !== null && kind === 'wait_backlog'
      ? ` Who unlinks waits with it, for ${sinceBegin(spanMark(lane.arm, state), t)} now.`
      : '';
  return `on ${name} ${list(parts)}${worker}.${held}`;
});

/** How old inodes are when they come back, beside how long their shadows are. */
const ages = perLane(({ lane, lives, name, t }) => {
  const { ages: old, shadows } = agesIn(lives, 0, t);
  const tally = tallyOf(lane, lives, t);
  const of = (count: keyof Tally, text?: string) => counted(lane, tally, count, text);
  if (old.length < 5) {
    const { free } = populationAt(lives, t);
    if (free.length === 0) return `on ${name} no inode is free yet, and none has come back.`;
    const shaded = free.filter((one) => t < one.shadowEnd).length;
    const still = shaded === 0 ? 'none is' : `${formatCount(shaded)} are`;
    const say = (what: string, n: number, text: string) => figure('now', lane.arm, what, n, text);
    return `on ${name} ${say('free', free.length, plural(free.length, 'inode'))} are free, and ${say('in the shadow', shaded, still)} in the shadow still.`;
  }
  const median = (what: string, values: number[]) => {
    const value = quantile(values, 0.5);
    return figure('far', lane.arm, `median ${what}`, value, formatNs(value));
  };
  const waits =
    tally.gpWaits === 0
      ? ' Nobody waited.'
      : ` So far ${of('gpWaits', times(tally.gpWaits))} somebody waited, ${of('gpWaitNs')} in all.`;
  const inside =
    tally.early === 0
      ? 'None came back inside it.'
      : `${of('early')} of ${of('reused')} came back inside it so far.`;
  return `on ${name} inodes came back ${median('age', old)} after they were let go (the median so far), and a shadow lasts ${median('shadow', shadows)}. ${inside}${waits}`;
});

/** What the wait buys: occasions at which a reader could have been harmed. */
const buys: Sentence = (index, frame, lesson) => {
  const tallies = known(index).map((lane) => {
    const see = seen(index, lane, frame, lesson);
    return { lane, name: see.name, tally: tallyOf(see.lane, see.lives, see.t) };
  });
  if (tallies.length === 0) return '';
  const open = tallies.map(({ lane, name, tally }) => {
    const early = counted(lane, tally, 'early', tally.early === 0 ? 'none' : undefined);
    return `${early} of ${counted(lane, tally, 'reused')} on ${name}`;
  });
  return `Up to this moment a reader could have been caught in ${list(open)}. No reader walked here; these are the occasions, not the accidents.`;
};

export const sentences: Readonly<Record<string, Sentence>> = {
  life,
  reuses,
  dam,
  ages,
  buys,
};

/** The window in words, a sentence per lane. */
export function summary(index: RunIndex, frame: Frame, lesson: Lesson): readonly string[] {
  return known(index).map((lane) => {
    const see = seen(index, lane, frame, lesson);
    const to = Math.min(see.from + frame.span, lane.watermark);
    const tally = tallyOf(lane, see.lives, to, see.from);
    const gps = [...spansIn(lane, 'track', see.from, to)].length;
    const lost = lostIn(lane, see.from, to)
      ? ' Events were lost here, so no number is proven.'
      : '';
    const of = (what: string, n: number, text = formatCount(n)) =>
      figure('window', lane.arm, what, n, text);
    const many = (what: string, n: number, one: string) => of(what, n, plural(n, one));
    const length = of('length', to - see.from, formatNs(to - see.from));
    const lives = `${many('queued', tally.queued, 'inode')} queued, ${of('inactivated', tally.inactivated)} inactivated, ${of('reused', tally.reused)} used again, ${of('early', tally.early)} of them inside the shadow`;
    const waits = `${many('grace periods', gps, 'grace period')}, ${many('gpWaits', tally.gpWaits, 'wait')} for one, ${many('throttles', tally.throttles, 'wait')} for the backlog`;
    return `${see.name}, ${length} of this window: ${lives}; ${waits}.${lost}`;
  });
}

const mostRows = 50;

/** At most 50 marks near the moment: turns in the lives of inodes, batches, waits, grace periods. */
export function table(index: RunIndex, frame: Frame, lesson: Lesson): readonly NearbyRow[] {
  const found: { readonly mark: Mark; readonly far: number; readonly lane: LaneIndex }[] = [];
  for (const lane of known(index)) {
    const t = laneTime(frame.offset, lane.arm, frame.moment);
    for (const mark of marksOf(index, lane, lesson, t - frame.span / 2, t + frame.span / 2))
      found.push({ mark, far: Math.abs(mark.t0 - t), lane });
  }
  found.sort((a, b) => a.far - b.far);
  return found
    .slice(0, mostRows)
    .map(({ mark, lane }): NearbyRow => {
      const t0 = mark.t0 + (frame.offset.get(lane.arm) ?? 0);
      const kind = index.kinds[mark.kind];
      return {
        mark,
        t0: ns(t0),
        when: formatMoment(t0, frame.span / 10),
        lane: armTitle(lesson, lane),
        row: mark.table === 'points' ? String(mark.row) : '',
        what: describe(index, mark, lesson) || (kind?.title ?? ''),
        length: lengthOf(mark),
        cpu: '',
      };
    })
    .sort((a, b) => a.t0 - b.t0);
}

function marksOf(index: RunIndex, lane: LaneIndex, lesson: Lesson, a: number, b: number): Mark[] {
  const { lives, queues } = lifeOf(index, lane, lesson);
  const marks: Mark[] = [];
  const add = (kind: string, id: number, row: number, t0: number, t1: number) => {
    if (t0 >= a && t0 < b) marks.push(markOf({ index, lane }, kind, id, row, t0, t1));
  };
  for (const one of lives.all) {
    const { bornId, born, queued, ino } = one;
    if (queued < never)
      add('queued', one.queuedId, ino, queued, Math.min(one.inactivated, one.next));
    if (bornId < 0 || one.before === null) continue;
    if (one.early) add('early', bornId, ino, born, dangerEnd(one));
    else add('reuse', bornId, ino, born, queued);
  }
  for (const batch of queues.batches) add('batch', batch.id, batch.cpu, batch.t0, batch.t1);
  for (const wait of lives.waits)
    if (wait.worker) add('worker_wait', wait.id, wait.cpu, wait.t0, wait.t1);
  return marks;
}

/** Counts of the run so far, a row per arm. */
export function counts(index: RunIndex, frame: Frame, lesson: Lesson): Counts {
  const heads = [
    'queued',
    'inactivated',
    'used again',
    'in the shadow',
    'waits for RCU',
    'waits for backlog',
  ];
  const rows = known(index).map((lane) => {
    const see = seen(index, lane, frame, lesson);
    const tally = tallyOf(lane, see.lives, see.t);
    const names = ['queued', 'inactivated', 'reused', 'early', 'gpWaits', 'throttles'] as const;
    return [lane.arm, names.map((name) => counted(lane, tally, name))] as const;
  });
  return { heads, rows: new Map(rows) };
}
