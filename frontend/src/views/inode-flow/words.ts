// SPDX-License-Identifier: GPL-2.0-or-later
/** Sentences, summary, table and counts. Every number is read off the events of the run. */

import { quantile } from '../../base/search.ts';
import { formatCount, formatMoment, formatNs, ns, plural } from '../../base/units.ts';
import { laneTime } from '../../derive/align.ts';
import { lostIn, spanAt, spansIn } from '../../derive/query.ts';
import type { NearbyRow } from '../../derive/summary.ts';
import type { Frame, LaneIndex, Mark, RunIndex } from '../../derive/types.ts';
import { armTitle, capital, list } from '../../derive/words.ts';
import type { Lesson } from '../../protocol/lesson.ts';
import type { Counts, Sentence } from '../contract.ts';
import { describe } from './describe.ts';
import { commonest } from './hero.ts';
import { kindAt, lifeOf, limitOf } from './layout.ts';
import { type Life, type Lives, lifeAt, never, stateAt } from './lives.ts';
import { stepAt } from './queues.ts';
import { agesIn, populationAt, tallyOf } from './tally.ts';

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
  return `On ${see.name} inode ${ino} ${lifeWords(now, see.t)}`;
};

function lifeWords(now: Life, t: number): string {
  const { before } = now;
  switch (stateAt(now, t)) {
    case 'queued': {
      const reader =
        t < now.shadowEnd ? 'An old reader may still look at it.' : 'Its grace period is over.';
      return `was unlinked ${formatNs(t - now.queued)} ago and waits for the worker. ${reader}`;
    }
    case 'free': {
      const inside = t < now.shadowEnd;
      const shadow = inside
        ? 'its grace period is not over: an old reader may still look.'
        : `its grace period has been over for ${formatNs(t - now.shadowEnd)}: nobody can be looking any more.`;
      const wait = now.waitFrom <= t ? ` Who creates a file was given it and waits.` : '';
      return `was inactivated ${formatNs(t - now.inactivated)} ago and is free; ${shadow}${wait}`;
    }
    case 'alive': {
      if (before === null || before.queued === never) return 'is alive: a file has it.';
      const age = formatNs(now.born - before.queued);
      if (!now.early)
        return `has a new file, ${age} after it was let go, when its grace period was over.`;
      const left = before.shadowEnd === never ? '' : `${formatNs(before.shadowEnd - now.born)} `;
      const over = t - before.shadowEnd;
      const early = `has a new file, ${age} after the old one was let go and ${left}before its grace period`;
      return over >= 0
        ? `${early} ended. That was ${formatNs(over)} ago: nobody can be looking at the old file any more.`
        : `${early} ends. An old reader may now look at the wrong file.`;
    }
    default:
      return 'is not known at this moment.';
  }
}

function times(n: number): string {
  return n === 1 ? 'once' : n === 2 ? 'twice' : `${formatCount(n)} times`;
}

/** Reuses of the window, and what was waited for; in few words where there are many lanes. */
const reuses = perLane(({ index, lane, lives, name, t, from }) => {
  const tally = tallyOf(lane, lives, t, from);
  if (index.lanes.length > 2) {
    const early = tally.early === 0 ? 'none' : formatCount(tally.early);
    const held = tally.gpWaits === 0 ? '' : `, ${formatNs(tally.gpWaitNs)} waited`;
    return `${name}: ${formatCount(tally.reused)} came back, ${early} in the shadow${held}.`;
  }
  if (tally.reused === 0 && tally.gpWaits === 0) return `on ${name} no inode has come back yet.`;
  const inside =
    tally.early === 0
      ? 'none of them inside its shadow'
      : `${formatCount(tally.early)} of them inside the shadow`;
  const waits: string[] = [];
  if (tally.gpWaits > 0)
    waits.push(
      `${times(tally.gpWaits)} somebody waited for RCU, ${formatNs(tally.gpWaitNs)} in all`,
    );
  if (tally.throttles > 0) waits.push(`${times(tally.throttles)} for the backlog`);
  const cost = waits.length === 0 ? '' : `; ${list(waits)}`;
  return `on ${name} ${plural(tally.reused, 'inode')} came back in this window, ${inside}${cost}.`;
});

/** What the process and the worker do now, and how high the water stands. */
const dam = perLane(({ index, lane, lives, lesson, name, t }) => {
  const { queues } = lifeOf(index, lane, lesson);
  const limit = limitOf(index);
  const now = queues.cpus.map((queue) => ({ cpu: queue.cpu, step: stepAt(queue, t) }));
  const high = now.toSorted((a, b) => b.step.list + b.step.rcu - (a.step.list + a.step.rcu))[0];
  if (high === undefined) return '';
  const { list: listed, rcu, hands } = high.step;
  const parts = [
    `${formatCount(listed + rcu)} of ${formatCount(limit)} inodes wait on CPU ${high.cpu}`,
  ];
  if (rcu > 0) parts.push(`${formatCount(rcu)} of them for RCU`);
  if (hands > 0) parts.push(`${formatCount(hands)} more are in the worker's hands`);
  const asleep = lives.waits.find((w) => w.worker && w.t0 <= t && t < w.t1);
  const worker = asleep
    ? `; the worker waits for a grace period, for ${formatNs(t - asleep.t0)} now`
    : '';
  const row = lane.rows.find((r) => r.role === 'thread')?.row ?? 0;
  const state = spanAt(lane, row, 'state', t);
  const kind = state === null ? '' : index.kinds[state.kind]?.name;
  const held =
    state !== null && kind === 'wait_backlog'
      ? ` Who unlinks waits with it, for ${formatNs(t - state.t0)} now.`
      : '';
  return `on ${name} ${list(parts)}${worker}.${held}`;
});

/** How old inodes are when they come back, beside how long their shadows are. */
const ages = perLane(({ lane, lives, name, t, from }) => {
  const { ages: old, shadows } = agesIn(lives, from, t);
  const tally = tallyOf(lane, lives, t, from);
  if (old.length < 5) {
    const { free } = populationAt(lives, t);
    if (free.length === 0) return `on ${name} no inode is free yet, and none has come back.`;
    const shaded = free.filter((one) => t < one.shadowEnd).length;
    const still = shaded === 0 ? 'none is' : `${formatCount(shaded)} are`;
    return `on ${name} ${plural(free.length, 'inode')} are free, and ${still} in the shadow still.`;
  }
  const age = formatNs(quantile(old, 0.5));
  const shadow = formatNs(quantile(shadows, 0.5));
  const waits =
    tally.gpWaits === 0
      ? ' Nobody waited.'
      : ` ${capital(times(tally.gpWaits))} somebody waited, ${formatNs(tally.gpWaitNs)} in all.`;
  const inside =
    tally.early === 0
      ? 'None came back inside it.'
      : `${formatCount(tally.early)} of ${formatCount(tally.reused)} came back inside it.`;
  return `on ${name} inodes come back ${age} after they were let go (the median), and a shadow lasts ${shadow}. ${inside}${waits}`;
});

/** What the wait buys: occasions at which a reader could have been harmed. */
const buys: Sentence = (index, frame, lesson) => {
  const tallies = known(index).map((lane) => {
    const see = seen(index, lane, frame, lesson);
    return { name: see.name, tally: tallyOf(see.lane, see.lives, see.t) };
  });
  if (tallies.length === 0) return '';
  const open = tallies.map(({ name, tally }) =>
    tally.early === 0
      ? `none of ${formatCount(tally.reused)} on ${name}`
      : `${formatCount(tally.early)} of ${formatCount(tally.reused)} on ${name}`,
  );
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
    return `${see.name}, ${formatNs(to - see.from)}: ${plural(tally.queued, 'inode')} queued, ${formatCount(tally.inactivated)} inactivated, ${formatCount(tally.reused)} used again, ${formatCount(tally.early)} of them inside the shadow; ${plural(gps, 'grace period')}, ${plural(tally.gpWaits, 'wait')} for one, ${plural(tally.throttles, 'wait')} for the backlog.${lost}`;
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
        length: formatNs(mark.t1 - mark.t0),
        cpu: '',
      };
    })
    .sort((a, b) => a.t0 - b.t0);
}

function marksOf(index: RunIndex, lane: LaneIndex, lesson: Lesson, a: number, b: number): Mark[] {
  const { lives, queues } = lifeOf(index, lane, lesson);
  const marks: Mark[] = [];
  const add = (kind: string, id: number, row: number, t0: number, t1: number) => {
    if (!(t0 >= a && t0 < b)) return;
    const end = Math.min(t1, lane.watermark);
    const of = kindAt(index, kind);
    marks.push({
      arm: lane.arm,
      table: 'points',
      id,
      row,
      kind: of,
      t0: ns(t0),
      t1: ns(Math.max(t0, end)),
    });
  };
  for (const one of lives.all) {
    if (one.queued < never) add('queued', one.queuedId, one.ino, one.queued, one.inactivated);
    if (one.bornId >= 0 && one.before !== null)
      add(one.early ? 'early' : 'reuse', one.bornId, one.ino, one.born, one.queued);
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
    const figures = [
      tally.queued,
      tally.inactivated,
      tally.reused,
      tally.early,
      tally.gpWaits,
      tally.throttles,
    ];
    return [lane.arm, figures.map(formatCount)] as const;
  });
  return { heads, rows: new Map(rows) };
}
