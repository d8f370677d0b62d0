// SPDX-License-Identifier: GPL-2.0-or-later
/** Marks near the moment, a row each. */

import { formatMoment, ns } from '../../base/units.ts';
import { laneTime } from '../../derive/align.ts';
import { lengthOf } from '../../derive/figures.ts';
import type { NearbyRow } from '../../derive/summary.ts';
import type { Frame, LaneIndex, Mark, RunIndex } from '../../derive/types.ts';
import { armTitle } from '../../derive/words.ts';
import type { Lesson } from '../../protocol/lesson.ts';
import { describe } from './describe.ts';
import { markOf } from './figures.ts';
import { lifeOf } from './layout.ts';
import { dangerEnd, never } from './lives.ts';
import { known } from './words.ts';

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
