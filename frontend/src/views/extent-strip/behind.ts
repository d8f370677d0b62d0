// SPDX-License-Identifier: GPL-2.0-or-later
/** The events behind a box, a unit of the budget or the list: those that name its block, up to the moment. */

import { t } from '../../base/lang/t.ts';
import { formatCount } from '../../base/units.ts';
import { type Behind, madeOfPoints, mostRows, placeOfPoint } from '../../derive/behind.ts';
import { laneOf } from '../../derive/query.ts';
import type { Frame, LaneIndex, Mark, RunIndex } from '../../derive/types.ts';
import type { Lesson } from '../../protocol/lesson.ts';
import { fileOf, telling } from './block-replay.ts';
import { blockOf, isUnspent, partOf } from './marks.ts';
import { laneNow } from './now.ts';
import { threadOf } from './thread.ts';

export function behindBox(
  index: RunIndex,
  frame: Frame,
  lesson: Lesson,
  mark: Mark,
): Behind | null {
  const lane = laneOf(index, mark.arm);
  if (lane === null) return null;
  const part = partOf(lesson, mark);
  const now = laneNow({ index, frame }, lane);
  if (isUnspent(mark)) return behindUnspent(lane, lesson, mark, now.points);
  if (part === 'thread') {
    const on = threadOf(now.boxes);
    const places = on.slice(0, mostRows).map((box) => now.boxes.made[box]! - 1);
    return madeOfPoints(lane, lesson, mark, {
      who: t('{n} entries', { n: formatCount(on.length) }),
      how: t(
        'Computed from events: entries that may be freed, the one that was made last at its head.',
      ),
      places,
    });
  }
  const block = blockOf(index, lane, mark, lesson);
  const made = placeOfPoint(lane, mark);
  const named = part === 'unit' ? [made] : placesOf(lane, block, now.points);
  const places = named.filter((i) => i >= 0).slice(-mostRows);
  return madeOfPoints(lane, lesson, mark, {
    who: t('block {block}', { block: formatCount(block) }),
    how:
      places.length > 0 ? '' : t('No event made it: up to this moment none has named this block.'),
    places,
    ...(places.includes(made) ? { made } : {}),
  });
}

/** No event made it: the drawer shows where the lane has come to. */
function behindUnspent(lane: LaneIndex, lesson: Lesson, mark: Mark, upTo: number): Behind {
  const made = madeOfPoints(lane, lesson, mark, {
    who: t('unit {row}', { row: formatCount(mark.row + 1) }),
    how: t('No event has spent it up to this moment; the last one of the lane is below.'),
    places: upTo > 0 ? [upTo - 1] : [],
  });
  return { ...made, title: t('of the budget: not spent') };
}

/** Points of the file among the first `upTo` that name a block. */
function placesOf(lane: LaneIndex, block: number, upTo: number): number[] {
  const { kind, a, b, c } = lane.points;
  const kinds = new Set(
    telling.flatMap((name) => {
      const { order, length } = lane.pointsOf(name);
      return length > 0 ? [kind[order[0]!]!] : [];
    }),
  );
  const file = fileOf(lane);
  const places: number[] = [];
  for (let i = 0; i < upTo; i++) {
    if (!kinds.has(kind[i]!) || a[i] !== file) continue;
    if (b[i]! <= block && block < b[i]! + Math.max(1, c[i]!)) places.push(i);
  }
  return places;
}
