// SPDX-License-Identifier: GPL-2.0-or-later
/** The wall for LaneCanvas. All pure functions of (index, frame, size). */

import { t } from '../../base/lang/t.ts';
import { heldTime } from '../../derive/align.ts';
import { laneOf } from '../../derive/query.ts';
import type { Mark } from '../../derive/types.ts';
import type { Artist, Drawing } from '../contract.ts';
import { drawWalls } from './draw.ts';
import { clearingMark, overClearing, shownClearing } from './draw-clearing.ts';
import { cellAt, cellBox, layoutWalls, type WallLayout } from './layout.ts';
import { cellOf, describeCell, markAt, newestMark, stepFrom } from './marks.ts';
import { roomOf, wallOf } from './wall.ts';

export function layoutOf(
  { index, lesson, size, show }: Drawing,
  headerHeight: number,
  fontSize: number,
): WallLayout {
  const arms = index.lanes.map((lane) => lane.arm);
  const clears = show?.includes('clearing') ?? false;
  return layoutWalls(arms, roomOf(index, lesson), size, headerHeight, fontSize, clears);
}

/** An unread bit is pointed at in the middle half of its cell. */
const innerShare = 0.5;

export function hitWalls(layout: WallLayout, drawing: Drawing, x: number, y: number): Mark | null {
  const strip = layout.lanes.find((laid) => overClearing(layout, laid, x, y));
  const lane = strip === undefined ? null : laneOf(drawing.index, strip.arm);
  if (lane !== null) {
    const wall = wallOf(lane, drawing.lesson);
    const one = shownClearing(wall, drawing);
    return one === null ? null : clearingMark(drawing.index, wall, one);
  }
  const found = cellAt(layout, x, y);
  if (found === null) return null;
  const { wall, row, col, inner } = found;
  const { index, lesson, frame } = drawing;
  return markAt(index, lesson, frame, wall.arm, row, col, inner <= innerShare);
}

export const wallArtist: Artist<WallLayout> = {
  layout: layoutOf,
  draw: drawWalls,
  hit: hitWalls,
  step(_layout, { index, lesson, frame }, from, key) {
    if (from === null) return newestMark(index, lesson, frame);
    return stepFrom(index, lesson, frame, from, key);
  },
  place(layout, _drawing, mark) {
    const wall = layout.lanes.find((laid) => laid.arm === mark.arm);
    if (wall === undefined) return null;
    const { row, col } = cellOf(mark);
    const { x, y, wide, high } = cellBox(layout, wall, row, col);
    return { x: x + wide / 2, y: y + high / 2 };
  },
  describe({ index, lesson, frame }, mark) {
    const lane = laneOf(index, mark.arm);
    return lane === null ? '' : describeCell(index, mark, lesson, heldTime(lane, frame));
  },
  label: t('Walls of memory cgroups by shrinkers, one per kernel: a cell is a possible visit'),
};
