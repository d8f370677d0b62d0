// SPDX-License-Identifier: GPL-2.0-or-later
/** The toy's lanes: what an inode is on each kernel, from its old file to the next. */

import { t } from '../../../base/lang/t.ts';
import { formatNs } from '../../../base/units.ts';
import type { Face, Item, Row, Stretch } from '../../../toys/types.ts';
import { type Fate, isOld, type Race } from './rule.ts';

export function readerRow(race: Race): Row {
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

export function filesRow({ unlink, create }: Race): Row {
  return {
    name: 'files',
    title: 'files',
    items: [
      { kind: 'step', at: unlink, label: 'unlink()', code: true, face: 'work' },
      { kind: 'step', at: create, label: 'creat()', code: true, face: 'work', handle: 'create' },
    ],
  };
}

export function laneRow(name: string, title: string, race: Race, fate: Fate, span: number): Row {
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
    // What does not fit is said by the words below the lane, or stands on another lane.
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
    stretch(reused, seen, t('the old reader looks'), 'hazard', 'hatched');
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
      verdict: t('nobody waits; the reader sees the wrong file for {long}', { long }),
      face: 'hazard',
    };
  }
  if (wait?.who === 'create') {
    const long = formatNs(wait.to - wait.from);
    return {
      verdict: t('who creates the file waits {long}, with the directory locked', { long }),
      face: 'wait',
    };
  }
  if (wait?.who === 'worker')
    return {
      verdict: t('the worker waits {time}, once for a batch; what comes meanwhile dams up', {
        time: formatNs(wait.to - wait.from),
      }),
      face: 'wait',
    };
  return reused === null
    ? { verdict: t('nobody waits; the inode is out of use for longer'), face: 'gain' }
    : { verdict: t('nobody waits, nothing goes wrong'), face: 'gain' };
}
