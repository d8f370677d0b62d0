// SPDX-License-Identifier: GPL-2.0-or-later
/** The events behind a mark of an inode or of a worker: those that name it, from the begin of the mark to its end. */

import { t as tr } from '../../base/lang/t.ts';
import { type Behind, behindMark, madeOfPoints, mostRows } from '../../derive/behind.ts';
import { laneOf } from '../../derive/query.ts';
import type { Frame, LaneIndex, Mark, RunIndex } from '../../derive/types.ts';
import type { Lesson } from '../../protocol/lesson.ts';
import { lifeOf, namesOf } from './layout.ts';
import { type Life, lifeAt, never } from './lives.ts';

/** Points whose first field is the number of an inode. */
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
    'Computed from events: it begins when the inode is queued, and ends with the first grace period that began after that.',
  ),
  walker: tr(
    'Modelled: nobody read here; who had found the inode before it was queued could have gone on reading until that grace period ended.',
  ),
  early: tr(
    'Computed from events: the inode was queued and used again before the first grace period that began in between had ended.',
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
  // Of a file that was given the inode again the begin is the event; its end is another's.
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
    ? tr("A file had this inode before the workload's start; only its end is an event.")
    : tr("A file had this inode before the workload's start; no event has named it since.");
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
