// SPDX-License-Identifier: GPL-2.0-or-later
/** The toy of the lives: an old reader is dragged across an unlink and the next life of the inode. */

import { t } from '../../../base/lang/t.ts';
import { formatCount } from '../../../base/units.ts';
import type { Limits, Play, Setting, Times, Toy } from '../../../toys/types.ts';
import { filesRow, laneRow, readerRow } from './rows.ts';
import { callRcu, type Fate, type Race, stock, waitAtRecycle, waitInWorker } from './rule.ts';
import { inodeTimes } from './times.ts';
import { type Fates, innocent, outcome, says } from './words.ts';

/** The shortest reader, as a share of the time before the unlink. */
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

/** A short reader who has left before the inode is used again. */
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

/** Places that are tried for a proof, over the whole line. */
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
  return t('No: of {n} places of reader and file, none does.', {
    n: formatCount(tried),
  });
}

export const walker: Toy = {
  title: t('Let it see the wrong file'),
  ask: t(
    'A file is unlinked, and the next file gets its inode. Drag a reader who walks under RCU, its end, and the moment of the next file. Who sees what, and who waits, on four kernels?',
  ),
  leavesOut: t(
    'One inode and one reader. A grace period that he holds up ends when he leaves; in a kernel a tick or so later.',
  ),
  handles: [
    { name: 'reader', title: t('the reader') },
    { name: 'end', title: t('the end of the reader') },
    { name: 'create', title: t('the next file') },
  ],
  switches: [],
  goals: [
    {
      name: 'wrong',
      title: t('On stock, let the reader see the wrong file.'),
      can: () => t('Yes: it must come before the unlink and stay until the next file.'),
    },
    {
      name: 'nobody',
      title: t('On wait at recycle, make nobody wait.'),
      can: () => t('Yes: the shadow must be over by itself when the file is created.'),
    },
    {
      name: 'innocent',
      title: t('Have a create wait longer for a reader who never saw the old file.'),
      can: () => t('Yes: a long reader who comes after the unlink holds the next grace period up.'),
    },
    {
      name: 'elsewhere',
      title: t('Let it see the wrong file on one of the other three.'),
      can: neverElsewhere,
    },
  ],
  times: inodeTimes,
  start,
  limits,
  move,
  play,
};
