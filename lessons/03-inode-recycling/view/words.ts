// SPDX-License-Identifier: GPL-2.0-or-later
/** Sentences, summary, table and counts. Every number comes from the run's events. */

import { quantile } from '@page/base/columns.ts';
import { t, t as tr } from '@page/base/lang/t.ts';
import { formatCount, formatMoment, formatNs, ns } from '@page/base/units.ts';
import { laneTime } from '@page/derive/align.ts';
import { figure, lengthOf, sinceBegin } from '@page/derive/figures.ts';
import { choiceOf, scopeWords } from '@page/derive/prediction.ts';
import { laneOf, lostIn, spanAt, markOf as spanMark, spansIn } from '@page/derive/query.ts';
import type { NearbyRow } from '@page/derive/summary.ts';
import type { Frame, LaneIndex, Mark, RunIndex } from '@page/derive/types.ts';
import { armTitle, capital, list } from '@page/derive/words.ts';
import type { Lesson } from '@page/protocol/lesson.ts';
import type { Answerer, Counts, Sentence } from '@page/views/contract.ts';
import { ageAtReuse, counted, describe, markOf, shadowLeft } from './describe.ts';
import { commonest, lifeOf, limitOf } from './layout.ts';
import {
  agesIn,
  dangerEnd,
  type Life,
  type Lives,
  lifeAt,
  never,
  populationAt,
  stateAt,
  stepAt,
  type Tally,
  tallyOf,
} from './lives.ts';

type PerLane = (see: Seen) => string;

interface Seen {
  readonly index: RunIndex;
  readonly lane: LaneIndex;
  readonly lives: Lives;
  readonly lesson: Lesson;
  readonly name: string;
  /** The moment and the start of the window, in the lane's own time. */
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
          return tr('Events of {name} were lost, so this sentence cannot describe {name}.', {
            name: armTitle(lesson, lane),
          });
        return capital(say(seen(index, lane, frame, lesson)));
      })
      .filter((words) => words !== '')
      .join(' ');
}

/** Describe the life of the enlarged inode at the moment. */
const life: Sentence = (index, frame, lesson) => {
  const lane = known(index)[0];
  if (lane === undefined) return '';
  const see = seen(index, lane, frame, lesson);
  const row = frame.selection?.table === 'points' ? frame.selection.row : null;
  const ino = row !== null && see.lives.byIno.has(row) ? row : commonest([see.lives]);
  const now = ino === null ? null : lifeAt(see.lives, ino, see.t);
  if (ino === null || now === null)
    return tr('On {name}, no inode has been seen yet.', { name: see.name });
  return tr('On {name}, inode {ino} {now}', { name: see.name, ino, now: lifeWords(now, see) });
};

/** Return when a free inode gets its next file, or when a create begins to wait for the inode. */
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
        t < now.shadowEnd
          ? tr('An old reader may still look at the inode.')
          : tr("The inode's grace period is over.");
      return tr('was unlinked {queued} ago and waits for the worker. {reader}', {
        queued: ago('its unlinking', now.queued, spans.queued()),
        reader,
      });
    }
    case 'free': {
      const inside = t < now.shadowEnd;
      const shadow = inside
        ? tr('its grace period is not over, so an old reader may still look at it.')
        : tr('its grace period has been over for {ago}, so no reader can still be looking at it.', {
            ago: ago('its grace period', now.shadowEnd),
          });
      const wait =
        now.waitFrom <= t
          ? tr(' A task that creates a file was given this inode and is waiting.')
          : '';
      return tr('was inactivated {inactivated} ago and is free; {shadow}{wait}', {
        inactivated: ago('its inactivation', now.inactivated, spans.free()),
        shadow,
        wait,
      });
    }
    case 'alive': {
      if (before === null || before.queued === never) return tr('is alive: a file has this inode.');
      const mark = now.early && t < dangerEnd(now) ? spans.early() : spans.alive();
      const age = ageAtReuse(see.lane.arm, now, before, mark);
      if (!now.early)
        return tr(
          'has a new file, {age} after it was released, and after its grace period had ended.',
          {
            age,
          },
        );
      const left = shadowLeft(see.lane.arm, now, before);
      const over = t - before.shadowEnd;
      const of = { age, left: left ?? 'unknown' };
      return over >= 0
        ? tr(
            'has a new file, {age} after the old file was released and {left, select, unknown {} other {{left} }}before its grace period ended. That grace period ended {ago} ago, so no reader can still be looking at the old file.',
            { age: of.age, left: of.left, ago: ago('that grace period', before.shadowEnd) },
          )
        : tr(
            'has a new file, {age} after the old file was released and {left, select, unknown {} other {{left} }}before its grace period ends. An old reader may now look at the wrong file.',
            { age: of.age, left: of.left },
          );
    }
    default:
      return tr('is not known at this moment.');
  }
}

function times(n: number): string {
  return tr('{n, plural, =1 {once} =2 {twice} other {# times}}', { n });
}

function someOf(n: number): string {
  return tr('{n, plural, =0 {none} other {#}}', { n });
}

function inodes(n: number): string {
  return tr('{n, plural, one {# inode} other {# inodes}}', { n });
}

function waits(n: number): string {
  return tr('{n, plural, one {# wait} other {# waits}}', { n });
}

/** Describe the reuses and the waits so far, in fewer words if there are more than two lanes. */
const reuses = perLane((see) => {
  const { index, lane, lives, name, t } = see;
  const tally = tallyOf(lane, lives, t);
  const of = (count: keyof Tally, text?: string) => counted(lane, tally, count, text);
  const early = () => of('early', tally.early === 0 ? someOf(0) : undefined);
  if (index.lanes.length > 2) {
    const held = tally.gpWaits === 0 ? '' : tr(', {gpWaitNs} waited', { gpWaitNs: of('gpWaitNs') });
    return tr('{name}: {reused} reused so far, {early} of them in the shadow{held}.', {
      name,
      reused: of('reused'),
      early: early(),
      held,
    });
  }
  if (tally.reused === 0 && tally.gpWaits === 0)
    return tr('on {name}, no inode has been reused yet.', { name });
  const costs: string[] = [];
  if (tally.gpWaits > 0)
    costs.push(
      tr('tasks waited for RCU {gpWaits}, for {gpWaitNs} in total', {
        gpWaits: of('gpWaits', times(tally.gpWaits)),
        gpWaitNs: of('gpWaitNs'),
      }),
    );
  if (tally.throttles > 0)
    costs.push(
      tr('{throttles} for the backlog', { throttles: of('throttles', times(tally.throttles)) }),
    );
  const back = of('reused', inodes(tally.reused));
  if (costs.length === 0)
    return tr('on {name}, XFS has reused {back} so far, {early} of them inside the shadow.', {
      ...{ name, back, early: early() },
    });
  return tr(
    'on {name}, XFS has reused {back} so far, {early} of them inside the shadow; {costs}.',
    {
      ...{ name, back, early: early(), costs: list(costs) },
    },
  );
});

/** Describe what the process and the worker are doing at the moment, and how long the queue is. */
const dam = perLane((see) => {
  const { index, lane, lives, lesson, name, t } = see;
  const { queues } = lifeOf(index, lane, lesson);
  const limit = limitOf(index, lesson, lane.arm);
  const now = queues.cpus.map((queue) => ({ cpu: queue.cpu, step: stepAt(queue, t) }));
  const high = now.toSorted((a, b) => b.step.list + b.step.rcu - (a.step.list + a.step.rcu))[0];
  if (high === undefined) return '';
  const { list: listed, rcu, hands } = high.step;
  const of = (what: string, n: number) => figure('now', lane.arm, `${what} on CPU ${high.cpu}`, n);
  const parts = [
    tr('{wait} of at most {limit} inodes wait on CPU {cpu}', {
      wait: of('wait', listed + rcu),
      limit: figure('setup', lane.arm, 'limit', limit),
      cpu: high.cpu,
    }),
  ];
  if (rcu > 0) parts.push(tr('{forRCU} of them for RCU', { forRCU: of('for RCU', rcu) }));
  if (hands > 0)
    parts.push(
      tr(
        '{taken} {hands, plural, one {more has been} other {more have been}} taken by the worker',
        {
          taken: of('taken', hands),
          hands,
        },
      ),
    );
  const asleep = lives.waits.find((w) => w.worker && w.t0 <= t && t < w.t1);
  const worker = asleep
    ? tr('; the worker has been waiting for a grace period for {time}', {
        time: sinceBegin(
          markOf(see, 'worker_wait', asleep.id, asleep.cpu, asleep.t0, asleep.t1),
          t,
        ),
      })
    : '';
  const row = lane.rows.find((r) => r.role === 'thread')?.row ?? 0;
  const state = spanAt(lane, row, 'state', t);
  const kind = state === null ? '' : index.kinds[state.kind]?.name;
  const held =
    state !== null && kind === 'wait_backlog'
      ? tr(' The unlink has been waiting too, for {time}.', {
          time: sinceBegin(spanMark(lane.arm, state), t),
        })
      : '';
  return tr('on {name}, {parts}{worker}.{held}', { name, parts: list(parts), worker, held });
});

/** Compare the ages of inodes when they are reused with the durations of their shadows. */
const ages = perLane(({ lane, lives, name, t }) => {
  const { ages: old, shadows } = agesIn(lives, 0, t);
  const tally = tallyOf(lane, lives, t);
  const of = (count: keyof Tally, text?: string) => counted(lane, tally, count, text);
  if (old.length < 5) {
    const { free } = populationAt(lives, t);
    if (free.length === 0)
      return tr('on {name}, no inode is free yet, and no inode has been reused.', { name });
    const shaded = free.filter((one) => t < one.shadowEnd).length;
    const still = tr('{shaded, plural, =0 {none is} one {# is} other {# are}}', { shaded });
    const say = (what: string, n: number, text: string) => figure('now', lane.arm, what, n, text);
    return tr('on {name}, {free} are free, and {shaded} still in the shadow.', {
      name,
      free: say('free', free.length, inodes(free.length)),
      shaded: say('in the shadow', shaded, still),
    });
  }
  const median = (what: string, values: number[]) => {
    const value = quantile(values, 0.5);
    return figure('far', lane.arm, `median ${what}`, value, formatNs(value));
  };
  const waited =
    tally.gpWaits === 0
      ? tr(' No task waited.')
      : tr(' So far, tasks waited {gpWaits}, for {gpWaitNs} in total.', {
          gpWaits: of('gpWaits', times(tally.gpWaits)),
          gpWaitNs: of('gpWaitNs'),
        });
  const inside =
    tally.early === 0
      ? tr('No reuse was inside the shadow.')
      : tr('So far, {early} of {reused} reuses were inside the shadow.', {
          early: of('early'),
          reused: of('reused'),
        });
  return tr(
    'on {name}, inodes were reused {old} after they were released (the median so far), and a shadow lasts {shadows}. {inside}{waited}',
    { name, old: median('age', old), shadows: median('shadow', shadows), inside, waited },
  );
});

/** Count the reuses in which a reader could have seen the wrong file. The wait prevents such reuses. */
const buys: Sentence = (index, frame, lesson) => {
  const tallies = known(index).map((lane) => {
    const see = seen(index, lane, frame, lesson);
    return { lane, name: see.name, tally: tallyOf(see.lane, see.lives, see.t) };
  });
  if (tallies.length === 0) return '';
  const open = tallies.map(({ lane, name, tally }) => {
    const early = counted(lane, tally, 'early', tally.early === 0 ? someOf(0) : undefined);
    return tr('{early} of {reused} on {name}', {
      early,
      reused: counted(lane, tally, 'reused'),
      name,
    });
  });
  return tr(
    'Up to this moment, a reader could have seen the wrong file in these reuses: {open}. This run had no reader, so no reader did see a wrong file.',
    { open: list(open) },
  );
};

export const sentences: Readonly<Record<string, Sentence>> = {
  life,
  reuses,
  dam,
  ages,
  buys,
};

/** Describe the window in words, with a sentence for each lane. */
export function summary(index: RunIndex, frame: Frame, lesson: Lesson): readonly string[] {
  return known(index).map((lane) => {
    const see = seen(index, lane, frame, lesson);
    const to = Math.min(see.from + frame.span, lane.watermark);
    const tally = tallyOf(lane, see.lives, to, see.from);
    const gps = [...spansIn(lane, 'track', see.from, to)].length;
    const lost = lostIn(lane, see.from, to)
      ? tr(' Events were lost here, so none of these numbers is certain.')
      : '';
    const of = (what: string, n: number, text = formatCount(n)) =>
      figure('window', lane.arm, what, n, text);
    const length = of('length', to - see.from, formatNs(to - see.from));
    const lives = tr(
      '{queued} queued, {inactivated} inactivated, {reused} used again, {early} of them inside the shadow',
      {
        queued: of('queued', tally.queued, inodes(tally.queued)),
        inactivated: of('inactivated', tally.inactivated),
        reused: of('reused', tally.reused),
        early: of('early', tally.early),
      },
    );
    const held = tr('{gps}, {gpWaits} for a grace period, and {throttles} for the backlog', {
      gps: of(
        'grace periods',
        gps,
        tr('{gps, plural, one {# grace period} other {# grace periods}}', { gps }),
      ),
      gpWaits: of('gpWaits', tally.gpWaits, waits(tally.gpWaits)),
      throttles: of('throttles', tally.throttles, waits(tally.throttles)),
    });
    return tr('{name}, {length} of this window: {lives}; {held}.{lost}', {
      ...{ name: see.name, length, lives, held, lost },
    });
  });
}

/** Counts of the run so far, a row per arm. */
export function counts(index: RunIndex, frame: Frame, lesson: Lesson): Counts {
  const heads = [
    tr('queued'),
    tr('inactivated'),
    tr('used again'),
    tr('in the shadow'),
    tr('waits for RCU'),
    tr('waits for backlog'),
  ];
  const rows = known(index).map((lane) => {
    const see = seen(index, lane, frame, lesson);
    const tally = tallyOf(lane, see.lives, see.t);
    const names = ['queued', 'inactivated', 'reused', 'early', 'gpWaits', 'throttles'] as const;
    return [lane.arm, names.map((name) => counted(lane, tally, name))] as const;
  });
  return { heads, rows: new Map(rows) };
}

// Answers to predictions, from the events of the run.

/** Least number of inodes that an answer needs. */
const least = 50;

/** Answer how many of a hundred reuses on the first arm came inside the shadow. */
const earlyShare: Answerer = (index, prediction, lesson) => {
  const lane = laneOf(index, prediction.arms[0]);
  if (lane === null || lostIn(lane, 0, lane.watermark)) return null;
  const { lives } = lifeOf(index, lane, lesson);
  const { early, reused } = tallyOf(lane, lives, lane.watermark);
  if (reused < least) return null;
  const value = (early / reused) * 100;
  const words = t(
    '{scope}, {early} of {reused} reuses on {name} were inside the shadow, which is {value} in a hundred.',
    {
      scope: scopeWords(index),
      early: formatCount(early),
      reused: formatCount(reused),
      name: armTitle(lesson, lane),
      value: Math.round(value),
    },
  );
  return { value, choice: choiceOf(prediction, value), words };
};

/** Answer how often the unlinking program waited for the backlog on the first arm. */
const throttles: Answerer = (index, prediction, lesson) => {
  const lane = laneOf(index, prediction.arms[0]);
  if (lane === null || lostIn(lane, 0, lane.watermark)) return null;
  const { lives } = lifeOf(index, lane, lesson);
  const { queued, throttles: value } = tallyOf(lane, lives, lane.watermark);
  if (queued < least) return null;
  const words = t(
    '{scope}, the unlinking program on {name} had to wait {value, plural, =1 {once} other {# times}} while {queued} inodes were queued.',
    {
      scope: scopeWords(index),
      name: armTitle(lesson, lane),
      value,
      queued: formatCount(queued),
    },
  );
  return { value, choice: choiceOf(prediction, value), words };
};

export const answers: Readonly<Record<string, Answerer>> = {
  early_share: earlyShare,
  throttle_waits: throttles,
};

// The table of the marks near the moment, with a row for each mark.

const mostRows = 50;

/**
 * Return the marks nearest to the moment, at most 50: changes in the lives of inodes, batches, waits, and grace
 * periods.
 */
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
