// SPDX-License-Identifier: GPL-2.0-or-later
/** Describes marks in words, and finds the events behind a mark. */

import { t, t as tr } from '@page/base/lang/t.ts';
import { formatCount, formatMoment, formatNs, ns } from '@page/base/units.ts';
import { type Behind, behindMark, madeOfPoints, mostRows } from '@page/derive/behind.ts';
import { figure, lengthOf } from '@page/derive/figures.ts';
import { laneOf } from '@page/derive/query.ts';
import type { Frame, LaneIndex, Mark, RunIndex } from '@page/derive/types.ts';
import { armTitle } from '@page/derive/words.ts';
import type { Lesson } from '@page/protocol/lesson.ts';
import { kindAt, lifeOf, namesOf } from './layout.ts';
import { type Life, lifeAt, never, type Tally } from './lives.ts';

// Figures that the sentences, the picture and the tooltips of this view share.

/** Format a count of the run up to the moment. A count whose name ends in Ns is a time in ns. */
export function counted(
  lane: LaneIndex,
  tally: Tally,
  name: keyof Tally,
  text = name.endsWith('Ns') ? formatNs(tally[name]) : formatCount(tally[name]),
): string {
  return figure('far', lane.arm, name, tally[name], text);
}

/** Format the time between the release of an inode and its next file. */
export function ageAtReuse(
  arm: string,
  { ino, born }: Life,
  before: Life,
  mark: Mark | null = null,
): string {
  const value = born - before.queued;
  return figure('mark', arm, `age of ${ino} at ${born}`, value, formatNs(value), mark);
}

/** Format how much of the shadow was left at the reuse; null if the shadow's end is unknown. */
export function shadowLeft(arm: string, { ino, born }: Life, before: Life): string | null {
  if (before.shadowEnd === never) return null;
  const value = before.shadowEnd - born;
  return figure('mark', arm, `shadow of ${ino} at ${born}`, value, formatNs(value));
}

/** Return a mark for a time span of an inode or a CPU. If the span is open, the mark ends at the watermark. */
export function markOf(
  { index, lane }: { readonly index: RunIndex; readonly lane: LaneIndex },
  kind: string,
  id: number,
  row: number,
  t0: number,
  t1: number,
): Mark {
  const known = Math.min(t1, lane.watermark);
  return {
    arm: lane.arm,
    table: 'points',
    id,
    row,
    kind: kindAt(index, kind),
    t0: ns(Math.max(t0, 0)),
    t1: ns(Math.max(known, t0, 0)),
    ...(t1 > known ? { open: true } : {}),
  };
}

export function describe(index: RunIndex, mark: Mark, lesson: Lesson): string {
  const kind = index.kinds[mark.kind];
  const lane = laneOf(index, mark.arm);
  if (kind === undefined || lane === null) return '';
  const arm = armTitle(lesson, lane);
  const length = lengthOf(mark) + (mark.open ? t(' so far') : '');
  const from = t('from {t0}', { t0: formatMoment(mark.t0, 1e6) });
  const { lives, queues } = lifeOf(index, lane, lesson);
  if (kind.name === 'batch') {
    const batch = queues.batches.find((one) => one.id === mark.id);
    const items = batch?.items ?? 0;
    const n = figure(
      'mark',
      mark.arm,
      'items',
      items,
      t('{items, plural, one {# inode} other {# inodes}}', { items }),
      mark,
    );
    return t('{arm}, CPU {row}: the worker has taken {n}, {length}, {from}.', {
      arm,
      row: mark.row,
      n,
      length,
      from,
    });
  }
  if (kind.name === 'worker_wait') {
    return t('{arm}, CPU {row}: the worker waits for a grace period, {length}, {from}.', {
      arm,
      row: mark.row,
      length,
      from,
    });
  }
  if (mark.table !== 'points') return `${arm}: ${kind.title}, ${length}, ${from}.`;
  const life = lifeAt(lives, mark.row, mark.t0);
  return t('Inode {row}, {arm}: {what} {from}.', {
    row: mark.row,
    arm,
    what: inodeWords(mark, kind.name, life, length),
    from,
  });
}

function inodeWords(mark: Mark, kind: string, life: Life | null, length: string): string {
  switch (kind) {
    case 'alive':
      return t('a file has this inode, {length},', { length });
    case 'queued':
      return t('unlinked and queued for the worker, {length},', { length });
    case 'free':
      return t('inactivated; the next file may get this inode, {length},', { length });
    case 'shadow':
      return t('an old reader may still look at it, {length},', { length });
    case 'wait_gp':
      return t('a create gets this inode and waits for its grace period, {length},', {
        length,
      });
    case 'early': {
      const before = life?.before;
      if (life === null || before == null) return t('used again inside its shadow,');
      const left = shadowLeft(mark.arm, life, before);
      const age = ageAtReuse(mark.arm, life, before, mark);
      return left === null
        ? t('used again {age} after it was released', { age })
        : t('used again {age} after it was released, {left} before its grace period ended,', {
            ...{ age, left },
          });
    }
    case 'reuse':
      return life?.before == null
        ? t('used again,')
        : t('used again after its shadow, {age} after it was released,', {
            age: ageAtReuse(mark.arm, life, life.before, mark),
          });
    default:
      return `${kind}, ${length},`;
  }
}

// The events behind a mark: those that name the mark's inode or worker, from the start to the end of the mark.

/** Points whose first field is an inode number. */
const ofInode: ReadonlySet<string> = new Set([
  'queued',
  'listed',
  'inactivated',
  'reuse',
  'fresh',
  'gp_wait',
  'gp_wait_done',
]);
const ofWorker: ReadonlySet<string> = new Set(['batch', 'batch_done', 'gp_wait', 'gp_wait_done']);

const computed: Readonly<Record<string, string>> = {
  shadow: tr(
    'Computed from events: the shadow begins when the inode is queued, and ends with the first grace period that began after that.',
  ),
  walker: tr(
    "Modelled: there was no reader here. A reader that had found the inode before it was queued could have continued until the inode's grace period ended.",
  ),
  early: tr(
    'Computed from events: the inode was queued, and it was reused before the end of the first grace period that began after the queueing.',
  ),
};

export function behindInode(
  index: RunIndex,
  _frame: Frame,
  lesson: Lesson,
  mark: Mark,
): Behind | null {
  const lane = laneOf(index, mark.arm);
  if (lane === null || mark.table !== 'points') return behindMark(index, lesson, mark);
  const kind = lesson.kinds[mark.kind]?.name ?? '';
  if (kind === 'batch' || kind === 'worker_wait') return behindWorker(lane, lesson, mark);
  const life = lifeAt(lifeOf(index, lane, lesson).lives, mark.row, mark.t0);
  const again = kind === 'early' || kind === 'reuse';
  const from = again ? (life?.before?.queued ?? mark.t0) : mark.t0;
  // The mark of a reuse begins at its event. The event at the end of the mark is about something else.
  const until = again ? mark.t0 : mark.t1;
  const all = placesOf(lane, lesson, ofInode, from, until, (i) => lane.points.a[i] === mark.row);
  const made = all.find((i) => lane.points.t[i] === mark.t0);
  return madeOfPoints(lane, lesson, mark, {
    who: tr('inode {row}', { row: mark.row }),
    how: computed[kind] ?? beforeWords(kind, life),
    places: all.slice(0, mostRows),
    ...(made === undefined ? {} : { made }),
  });
}

function beforeWords(kind: string, life: Life | null): string {
  if (kind !== 'alive' || life === null || life.born > 0) return '';
  return life.queued < never
    ? tr(
        'A file had this inode before the workload started; the only event about that file is its end.',
      )
    : tr(
        'A file had this inode before the workload started, and no event has named the inode since.',
      );
}

function behindWorker(lane: LaneIndex, lesson: Lesson, mark: Mark): Behind {
  const onCpu = (i: number) => lane.points.cpu[i] === mark.row;
  return madeOfPoints(lane, lesson, mark, {
    who: tr('worker of CPU {row}', { row: mark.row }),
    places: placesOf(lane, lesson, ofWorker, mark.t0, mark.t1, onCpu).slice(0, mostRows),
  });
}

function placesOf(
  lane: LaneIndex,
  lesson: Lesson,
  wanted: ReadonlySet<string>,
  from: number,
  to: number,
  fits: (i: number) => boolean,
): number[] {
  const { points } = lane;
  const kinds = new Set(namesOf(lesson).flatMap((name, kind) => (wanted.has(name) ? [kind] : [])));
  const places: number[] = [];
  for (let i = 0; i < points.length; i++) {
    const t = points.t[i]!;
    if (t >= from && t <= to && kinds.has(points.kind[i]!) && fits(i)) places.push(i);
  }
  return places;
}
