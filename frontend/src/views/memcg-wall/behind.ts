// SPDX-License-Identifier: GPL-2.0-or-later
/** The events behind a cell: those of this memcg and shrinker in the call that goes on, and the one that set its bit. */

import { t as tr } from '../../base/lang/t.ts';
import { heldTime } from '../../derive/align.ts';
import { type Behind, madeOfPoints, mostRows } from '../../derive/behind.ts';
import { laneOf } from '../../derive/query.ts';
import type { Frame, Mark, RunIndex } from '../../derive/types.ts';
import type { Lesson } from '../../protocol/lesson.ts';
import type { EventReplay } from './event-replay.ts';
import type { Face } from './faces.ts';
import { cellOf, madeBy } from './marks.ts';
import { memcgName, shrinkerName } from './names.ts';
import { wallOf } from './wall.ts';

export function behindCell(
  index: RunIndex,
  frame: Frame,
  lesson: Lesson,
  mark: Mark,
): Behind | null {
  const lane = laneOf(index, mark.arm);
  if (lane === null) return null;
  const wall = wallOf(lane, lesson);
  const t = heldTime(lane, frame);
  const cells = wall.at(t, 'text');
  const { row, col } = cellOf(mark);
  const face = lesson.kinds[mark.kind]?.name as Face;
  const here = eventsOf(wall.replay, cells.at, row, col);
  // A step of a clearing has its own time; any other cell is what its newest event made it.
  const exact = here.places.find((i) => lane.points.t[i] === mark.t0);
  const made = exact ?? madeBy(wall, cells, row, col, face);
  const places = made < 0 ? here.places : [...new Set([...here.places, made])];
  const who = `${memcgName(wall.replay, row)}, ${shrinkerName(lane, col, t)}`;
  const named = places.length > 0 ? places : here.call < 0 ? [] : [here.call];
  return madeOfPoints(lane, lesson, mark, {
    who,
    how: made >= 0 ? '' : noneWords(here.call),
    places: named.toSorted((a, b) => a - b),
    ...(made < 0 ? {} : { made }),
  });
}

function noneWords(call: number): string {
  return call < 0
    ? tr('No event made it: no call of drop_caches has begun at this moment.')
    : tr(
        'No event made it: since this call of drop_caches began, no visit to this cell was recorded.',
      );
}

/** Visits, sets and clears of a cell since the last call began, the newest few; and where the call began, -1: none. */
function eventsOf(
  replay: EventReplay,
  until: number,
  row: number,
  col: number,
): { readonly places: readonly number[]; readonly call: number } {
  const { points } = replay.lane;
  const places: number[] = [];
  for (let i = until - 1; i >= 0; i--) {
    const role = replay.role(points.kind[i]!);
    if (role === 'call') return { places: places.reverse(), call: i };
    if (replay.rows[i] !== row || points.b[i] !== col || places.length === mostRows) continue;
    if (role === 'visit' || role === 'set' || role === 'cleared') places.push(i);
  }
  return { places: places.reverse(), call: -1 };
}
