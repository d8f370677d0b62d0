// SPDX-License-Identifier: GPL-2.0-or-later
/** The marks nearest to the moment as rows of a table: spans, and points with their fields. */

import { firstAtLeast } from '../../base/columns.ts';
import { formatMoment, ns } from '../../base/units.ts';
import { laneTime } from '../../derive/align.ts';
import { type NearbyRow, nearbyOf } from '../../derive/summary.ts';
import type { Frame, LaneIndex, RunIndex } from '../../derive/types.ts';
import { armTitle, fieldWords } from '../../derive/words.ts';
import type { Lesson } from '../../protocol/lesson.ts';
import { pointMark } from './hit.ts';

const most = 50;
/** Points get at most so many rows, so that they never drive out all spans. */
const mostPoints = 25;

/** At most 50 marks nearest to the moment, in order of time. */
export function nearbyMarks(index: RunIndex, frame: Frame, lesson: Lesson): NearbyRow[] {
  const points = index.lanes.flatMap((lane) => pointsNear(lane, frame, lesson));
  points.sort((a, b) => Math.abs(a.t0 - frame.moment) - Math.abs(b.t0 - frame.moment));
  const kept = points.slice(0, mostPoints);
  const far = (row: NearbyRow) =>
    Math.max(0, row.t0 - frame.moment, frame.moment - (row.t0 + row.mark.t1 - row.mark.t0));
  return [...nearbyOf(index, frame, lesson), ...kept]
    .sort((a, b) => far(a) - far(b))
    .slice(0, most)
    .sort((a, b) => a.t0 - b.t0);
}

function pointsNear(lane: LaneIndex, frame: Frame, lesson: Lesson): NearbyRow[] {
  const { points } = lane;
  const t = laneTime(frame.offset, lane.arm, frame.moment);
  const shift = frame.moment - t;
  const middle = firstAtLeast(points.length, (i) => points.t[i]!, t);
  const rows: NearbyRow[] = [];
  const from = Math.max(0, middle - mostPoints);
  for (let i = from; i < Math.min(points.length, middle + mostPoints); i++) {
    if (Math.abs(points.t[i]! - t) > frame.span / 2) continue;
    const point = lesson.points[points.kind[i]!];
    if (point === undefined) continue;
    const mark = pointMark(lane, i);
    const fields = fieldWords(points, i, point);
    rows.push({
      mark,
      t0: ns(mark.t0 + shift),
      when: formatMoment(mark.t0 + shift, frame.span / 10),
      lane: armTitle(lesson, lane),
      row: lane.rows.find((r) => r.row === mark.row)?.name ?? '',
      what: fields === '' ? point.title : `${point.title}: ${fields}`,
      length: '',
      cpu: points.cpu[i]! < 0 ? '' : String(points.cpu[i]),
    });
  }
  return rows;
}
