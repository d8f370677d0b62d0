// SPDX-License-Identifier: GPL-2.0-or-later
/** The toy about inodes' lives: drag an old reader across an unlink and across the next life of the inode. */

import { quantile } from '@page/base/columns.ts';
import { t } from '@page/base/lang/t.ts';
import { formatCount, formatNs, millisecond } from '@page/base/units.ts';
import type { RunIndex } from '@page/derive/types.ts';
import type { Lesson } from '@page/protocol/lesson.ts';
import type {
  Face,
  Item,
  Limits,
  Play,
  Row,
  Setting,
  Stretch,
  Times,
  Toy,
} from '@page/toys/types.ts';
import { lifeOf } from './layout.ts';
import { type Life, never } from './lives.ts';

// A file is unlinked, its inode is reused, and a reader may still look at it. This model computes the outcome on each
// kernel. Pure.
//
// The model follows fs/xfs/xfs_icache.c of 6.1 and the three patches of this lesson. A reader that found the inode
// before the unlink walks under RCU. A grace period ends only when every reader that was inside at its beginning has
// left. The arms *wait at recycle* and *call_rcu* start a grace period when the inode is queued. The arm *wait in the
// worker* starts a grace period when the worker takes the inode. The arm *stock* starts no grace period.
// cond_synchronize_rcu() waits until the current grace period ends, and then for a complete grace period. All times are
// in ns.

export interface Race {
  readonly unlink: number;
  /** Time from the unlink until the worker has inactivated the inode. */
  readonly work: number;
  /**
   * Time from the unlink to the end of a grace period that is requested at the unlink, if the toy's reader does not
   * delay its end.
   */
  readonly asked: number;
  /**
   * How long cond_synchronize_rcu() sleeps. The function waits for a grace period that begins after the call, so the
   * sleep may include the rest of the current grace period.
   */
  readonly whole: number;
  /** Time from the unlink to the end of a grace period that another part of the kernel requested. */
  readonly shadow: number;
  readonly reader: { readonly from: number; readonly to: number };
  /** When a task creates a file and would get this inode. */
  readonly create: number;
}

export interface Wait {
  readonly who: 'create' | 'worker';
  readonly from: number;
  readonly to: number;
}

export interface Fate {
  /** When the inode gets onto the worker's list. */
  readonly listed: number;
  /** When the inode is inactivated, so that the next file may have it. */
  readonly free: number;
  /** End of the grace period after which no old reader is left. */
  readonly over: number;
  /** When a new file gets the inode; null if the create took another inode. */
  readonly reused: number | null;
  readonly wait: Wait | null;
  /** Whether the reader found the old file and later looks at the new one. */
  readonly wrong: boolean;
}

/** Return when a grace period from `begin` to `usual` ends. A reader that is inside at `begin` may delay the end. */
export function graceEnd({ reader }: Pick<Race, 'reader'>, begin: number, usual: number): number {
  return Math.max(usual, reader.from < begin ? reader.to : 0);
}

/** Tell whether the reader found the inode while the old file had it. */
export function isOld({ reader, unlink }: Race): boolean {
  return reader.from < unlink;
}

function fated(race: Race, fate: Omit<Fate, 'wrong'>): Fate {
  const wrong = isOld(race) && fate.reused !== null && race.reader.to > fate.reused;
  return { ...fate, wrong };
}

export function stock(race: Race): Fate {
  const { unlink, work, shadow, create } = race;
  const free = unlink + work;
  const over = Math.max(unlink + shadow, isOld(race) ? race.reader.to : 0);
  return fated(race, { listed: unlink, free, over, reused: taken(create, free), wait: null });
}

/** Return `create` if the inode is free at that time, otherwise null. */
function taken(create: number, free: number): number | null {
  return create >= free ? create : null;
}

export function waitAtRecycle(race: Race): Fate {
  const { unlink, work, asked, whole, create } = race;
  const free = unlink + work;
  const over = graceEnd(race, unlink, unlink + asked);
  const base = { listed: unlink, free, over };
  const at = taken(create, free);
  if (at === null || at >= over) return fated(race, { ...base, reused: at, wait: null });
  // The next grace period begins when the current one has ended.
  const to = graceEnd(race, over, Math.max(over, at + whole));
  return fated(race, { ...base, reused: to, wait: { who: 'create', from: at, to } });
}

export function waitInWorker(race: Race): Fate {
  const { unlink, work, whole, create } = race;
  const begin = unlink + work;
  const over = graceEnd(race, begin, begin + whole);
  const wait = { who: 'worker', from: begin, to: over } as const;
  return fated(race, { listed: unlink, free: over, over, reused: taken(create, over), wait });
}

export function callRcu(race: Race): Fate {
  const { unlink, work, asked, create } = race;
  const over = graceEnd(race, unlink, unlink + asked);
  const free = over + work;
  return fated(race, { listed: over, free, over, reused: taken(create, free), wait: null });
}

// Median times of a run. On stock: from the unlink of an inode to its inactivation, to its reuse, and to the end of its
// shadow. On *wait at recycle*: from the unlink to the end of the shadow, and the duration of a wait.

/** Times that are used if there is no run, ns. */
const chosen = {
  work: millisecond,
  again: 3 * millisecond,
  shadow: 14 * millisecond,
  asked: 6 * millisecond,
  whole: 9 * millisecond,
};
/** Margins of the toy before the unlink and after the longest wait without a reader, as shares of a wait. */
const lead = 0.35;
const tail = 0.5;

function inodeTimes(index: RunIndex | null, lesson: Lesson): Times {
  const found = index === null ? null : measured(index, lesson);
  if (found === null) return laid(chosen, null);
  const { work, again, asked, whole, shadow } = found;
  const words = [
    t(
      'on stock, it takes {work} from an unlink until the inode is free, {again} until another file uses the inode, and {shadow} until the end of the inode’s shadow',
      { work: formatNs(work), again: formatNs(again), shadow: formatNs(shadow) },
    ),
    t(
      'on “wait at recycle”, it takes {asked} until the end of the shadow, and a wait lasts {whole}',
      {
        asked: formatNs(asked),
        whole: formatNs(whole),
      },
    ),
  ];
  return laid(found, t('{words}; each time is a median', { words: words.join('; ') }));
}

function measured(index: RunIndex, lesson: Lesson): typeof chosen | null {
  const lane = index.lanes.find((one) => one.arm === 'stock');
  const asking = index.lanes.find((one) => one.arm === 'wait-at-recycle');
  if (lane === undefined || asking === undefined) return null;
  const { lives } = lifeOf(index, lane, lesson);
  const other = lifeOf(index, asking, lesson).lives;
  const ages = (all: readonly Life[], of: (life: Life) => number) =>
    all.map((life) => of(life) - life.unlinked).filter((age) => Number.isFinite(age) && age > 0);
  const waits = other.waits.map(({ t0, t1 }) => t1 - t0).filter((ns) => ns < never);
  const columns = {
    work: ages(lives.all, (life) => life.inactivated),
    again: ages(lives.all, (life) => life.next),
    shadow: ages(lives.all, (life) => life.shadowEnd),
    asked: ages(other.all, (life) => life.shadowEnd),
    whole: waits,
  };
  if (Object.values(columns).some((all) => all.length === 0)) return null;
  const median = (name: keyof typeof columns) => quantile(columns[name], 0.5);
  return {
    ...{ work: median('work'), again: median('again'), shadow: median('shadow') },
    ...{ asked: median('asked'), whole: median('whole') },
  };
}

function laid(found: typeof chosen, from: string | null): Times {
  const { again, asked, whole, shadow } = found;
  const unlink = lead * whole;
  const work = Math.min(found.work, whole);
  const create = unlink + Math.min(asked, Math.max(again, work * 1.2));
  return {
    at: { unlink, work, create, asked, whole, shadow },
    span: unlink + asked + (1 + tail) * whole,
    from,
  };
}

// What the toy says about the outcome on *stock* and on *wait at recycle*, which differ most.

interface Fates {
  readonly stock: Fate;
  readonly recycle: Fate;
  readonly worker: Fate;
  readonly rcu: Fate;
}

/** Tell whether a create waits at all, or waits longer, for a reader that never saw the old file. */
function innocent(race: Race, { recycle }: Fates): boolean {
  const alone = waitAtRecycle({ ...race, reader: { from: -2, to: -1 } });
  const length = ({ wait }: Fate) => (wait === null ? 0 : wait.to - wait.from);
  return !isOld(race) && length(recycle) > length(alone);
}

function outcome(race: Race, fates: Fates): Play['outcome'] {
  const { wait } = fates.recycle;
  if (fates.stock.wrong) {
    const long = formatNs(race.reader.to - race.create);
    const instead =
      wait === null
        ? ''
        : t(
            ' On “wait at recycle”, the create sleeps for {time}, and by then the reader is gone.',
            {
              time: formatNs(wait.to - wait.from),
            },
          );
    return {
      face: 'hazard',
      words: t(
        'On stock, the reader looks at the wrong file for {long}, because it found the inode under the old name.{instead}',
        { long, instead },
      ),
    };
  }
  if (innocent(race, fates))
    return {
      face: 'wait',
      words: t(
        'The reader came after the unlink and cannot see the old file. But RCU knows nothing about files. A grace period waits for every reader that is active when the grace period begins.',
      ),
    };
  if (wait === null)
    return {
      face: 'gain',
      words: t(
        'The shadow is over when the file is created. So no task waits on “wait at recycle”, and nothing would have gone wrong on stock either.',
      ),
    };
  return {
    face: 'wait',
    words: t(
      'Nothing goes wrong on stock. On “wait at recycle”, the create still sleeps for {time}, because the kernel does not know that no reader is left.',
      { time: formatNs(wait.to - wait.from) },
    ),
  };
}

function says(race: Race, fates: Fates): Readonly<Record<string, string>> {
  const { from, to } = race.reader;
  const began = isOld(race) ? t('found the file before the unlink') : t('comes after the unlink');
  const left =
    to <= race.unlink
      ? t('gone before it')
      : to <= race.create
        ? t('gone before the next file')
        : t('still there when the next file comes');
  const end = fates.stock.wrong
    ? t('on stock, the reader sees the wrong file')
    : t('on stock, the reader sees no wrong file');
  const { wait } = fates.recycle;
  const sleeps =
    wait === null
      ? t('no task waits')
      : t('the create waits {time}', { time: formatNs(wait.to - wait.from) });
  return {
    reader: t('{began}, {left}; {end}', { began, left, end }),
    end: t('walks for {time}, {left}; {end}', { time: formatNs(to - from), left, end }),
    create: t('{create} after the unlink; with “wait at recycle”, {sleeps}; {end}', {
      create: formatNs(race.create - race.unlink),
      sleeps,
      end,
    }),
  };
}

// The toy's rows: the states of the inode on each kernel, from its old file to the next.

function readerRow(race: Race): Row {
  const { from, to } = race.reader;
  const face: Face = isOld(race) ? 'hazard' : 'other';
  return {
    name: 'reader',
    title: t('a reader under RCU'),
    items: [
      { kind: 'stretch', from, to, label: t('walks'), face, look: 'solid', handle: 'reader' },
      { kind: 'step', at: to, label: '', face, handle: 'end', aside: true },
    ],
  };
}

function filesRow({ unlink, create }: Race): Row {
  return {
    name: 'files',
    title: 'files',
    items: [
      { kind: 'step', at: unlink, label: 'unlink()', code: true, face: 'work' },
      { kind: 'step', at: create, label: 'creat()', code: true, face: 'work', handle: 'create' },
    ],
  };
}

function laneRow(name: string, title: string, race: Race, fate: Fate, span: number): Row {
  const { unlink, create } = race;
  const { listed, free, over, reused, wait, wrong } = fate;
  const items: Item[] = [];
  const stretch = (
    from: number,
    to: number,
    label: string,
    face: Face,
    look: Stretch['look'],
  ): void => {
    // A label that does not fit can be left out: the words below the lane, or another lane, say the same.
    const terse = label !== 'queued';
    const place = { from, to: Math.min(to, span) };
    if (to > from) items.push({ kind: 'stretch', ...place, label, face, look, terse });
  };
  stretch(0, unlink, t('old file'), 'work', 'solid');
  stretch(unlink, listed, t('with RCU'), 'mechanism', 'hollow');
  if (wait?.who === 'worker') {
    stretch(listed, wait.from, t('queued'), 'other', 'hollow');
    stretch(
      wait.from,
      wait.to,
      t('the worker waits {time}', { time: formatNs(wait.to - wait.from) }),
      'wait',
      'hatched',
    );
  } else stretch(listed, free, t('queued'), 'other', 'hollow');
  const next = wait?.who === 'create' ? wait.from : (reused ?? span);
  stretch(free, next, t('free'), 'idle', 'hollow');
  if (wait?.who === 'create')
    stretch(
      wait.from,
      wait.to,
      t('the create waits {time}', { time: formatNs(wait.to - wait.from) }),
      'wait',
      'hatched',
    );
  if (reused !== null) {
    const seen = wrong ? Math.min(race.reader.to, span) : reused;
    stretch(reused, seen, t('old reader looks'), 'hazard', 'hatched');
    stretch(seen, span, t('new file'), 'work', 'solid');
    if (wrong) items.push({ kind: 'step', at: reused, label: t('wrong file'), face: 'hazard' });
  }
  if (over <= span)
    items.push({ kind: 'step', at: over, label: t('grace period over'), face: 'mechanism' });
  if (reused === null)
    items.push({ kind: 'step', at: create, label: t('takes another inode'), face: 'gain' });
  return { name, title, items, ...verdict(race, fate) };
}

function verdict(race: Race, fate: Fate): { readonly verdict: string; readonly face: Face } {
  const { wait, wrong, reused } = fate;
  if (wrong) {
    const long = formatNs(race.reader.to - (reused ?? 0));
    return {
      verdict: t('no task waits; the reader sees the wrong file for {long}', { long }),
      face: 'hazard',
    };
  }
  if (wait?.who === 'create') {
    const long = formatNs(wait.to - wait.from);
    return {
      verdict: t('the create waits {long}, with the directory locked', { long }),
      face: 'wait',
    };
  }
  if (wait?.who === 'worker')
    return {
      verdict: t(
        'the worker waits {time}, once for a whole batch; meanwhile newly queued inodes pile up',
        {
          time: formatNs(wait.to - wait.from),
        },
      ),
      face: 'wait',
    };
  return reused === null
    ? { verdict: t('no task waits; the inode stays unused for longer'), face: 'gain' }
    : { verdict: t('no task waits, and nothing goes wrong'), face: 'gain' };
}

/** Duration of the shortest reader, as a share of the time before the unlink. */
const shortest = 0.1;

export function raceOf({ at }: Times, setting: Setting): Race {
  const { unlink, work, shadow, asked, whole } = at as Record<
    'unlink' | 'work' | 'shadow' | 'asked' | 'whole',
    number
  >;
  const { reader, end, create } = setting.at as Record<'reader' | 'end' | 'create', number>;
  const of = { unlink, work, shadow, asked, whole };
  return { ...of, reader: { from: reader, to: end }, create };
}

/** Return the initial setting: a short reader that leaves before the inode is reused. */
function start({ at }: Times): Setting {
  const { unlink, create } = at as Record<'unlink' | 'create', number>;
  return { at: { reader: unlink * 0.3, end: unlink * 0.85, create }, on: {} };
}

function limits(times: Times, { at }: Setting, handle: string): Limits {
  const { unlink, work } = times.at as Record<'unlink' | 'work', number>;
  const { reader, end } = at as Record<'reader' | 'end', number>;
  const last = times.span * 0.97;
  if (handle === 'create') return { min: unlink + work, max: last };
  if (handle === 'end') return { min: reader + shortest * unlink, max: last };
  return { min: 0, max: last - (end - reader) };
}

function move(_times: Times, setting: Setting, handle: string, to: number): Setting {
  const at = { ...setting.at, [handle]: to };
  if (handle === 'reader') at['end'] = to + setting.at['end']! - setting.at['reader']!;
  return { ...setting, at };
}

function fatesOf(race: Race): Fates {
  return {
    stock: stock(race),
    recycle: waitAtRecycle(race),
    worker: waitInWorker(race),
    rcu: callRcu(race),
  };
}

function play(times: Times, setting: Setting): Play {
  const race = raceOf(times, setting);
  const fates = fatesOf(race);
  const lane = (name: string, title: string, fate: Fate) =>
    laneRow(name, title, race, fate, times.span);
  return {
    rows: [
      readerRow(race),
      filesRow(race),
      lane('stock', t('stock'), fates.stock),
      lane('recycle', t('wait at recycle'), fates.recycle),
      lane('worker', t('wait in the worker'), fates.worker),
      lane('rcu', 'call_rcu', fates.rcu),
    ],
    says: says(race, fates),
    outcome: outcome(race, fates),
    reached: reached(race, fates),
  };
}

function others({ recycle, worker, rcu }: Fates): readonly Fate[] {
  return [recycle, worker, rcu];
}

function reached(race: Race, fates: Fates): readonly string[] {
  const goals: string[] = [];
  if (fates.stock.wrong) goals.push('wrong');
  if (others(fates).some((fate) => fate.wrong)) goals.push('elsewhere');
  if (fates.recycle.wait === null && fates.recycle.reused !== null) goals.push('nobody');
  if (innocent(race, fates)) goals.push('innocent');
  return goals;
}

/** Number of positions along the axis that are tried to show that a goal is impossible. */
const grain = 48;

function neverElsewhere(times: Times): string {
  let tried = 0;
  for (let c = 0; c < grain; c++)
    for (let a = 0; a < grain; a++)
      for (let b = a + 1; b <= grain; b++) {
        const place = (k: number) => (k / grain) * times.span;
        const create = Math.max(place(c), times.at['unlink']! + times.at['work']!);
        const setting = { at: { reader: place(a), end: place(b), create }, on: {} };
        tried += 1;
        if (others(fatesOf(raceOf(times, setting))).some((fate) => fate.wrong)) return t('Yes.');
      }
  return t('No: the reader sees the wrong file in none of the {n} positions that were tried.', {
    n: formatCount(tried),
  });
}

export const walker: Toy = {
  title: t('Show the reader the wrong file'),
  ask: t(
    'A file is unlinked, and the next file gets its inode. Drag the RCU reader, the end of the reader, and the moment at which the next file is created. What does the reader see on each of four kernels, and which task waits?',
  ),
  leavesOut: t(
    'This model has only one inode and one reader. A grace period that waits for the reader ends when the reader leaves; in a real kernel it ends about a tick later.',
  ),
  handles: [
    { name: 'reader', title: t('the reader') },
    { name: 'end', title: t("the end of the reader's walk") },
    { name: 'create', title: t('the next file') },
  ],
  switches: [],
  goals: [
    {
      name: 'wrong',
      title: t('On stock, let the reader see the wrong file.'),
      can: () => t('Yes: the reader must come before the unlink and stay until the next file.'),
    },
    {
      name: 'nobody',
      title: t('On “wait at recycle”, let no task wait.'),
      can: () => t('Yes: the shadow must end before the file is created.'),
    },
    {
      name: 'innocent',
      title: t('Make a create wait longer for a reader that never saw the old file.'),
      can: () => t('Yes: a long reader that comes after the unlink delays the next grace period.'),
    },
    {
      name: 'elsewhere',
      title: t('Let the reader see the wrong file on one of the three patched kernels.'),
      can: neverElsewhere,
    },
  ],
  times: inodeTimes,
  start,
  limits,
  move,
  play,
};
