// SPDX-License-Identifier: GPL-2.0-or-later
/** What sentences speak of on a strip: entries of this scan, freed ones, those on the list, those with data. */

import type { Drawing } from '../contract.ts';
import type { Pen } from '../paints.ts';
import { edgesOf, strokeRegion } from '../region.ts';
import type { StripLane } from './layout.ts';
import { lookOf } from './looks.ts';
import type { LaneNow } from './now.ts';
import { threadOf } from './thread.ts';

export const regions = ['scan', 'freed', 'ahead', 'list', 'data'] as const;
export type StripRegion = (typeof regions)[number];

export const blockBytes = 4096;

/** What the last answer to who asks for data said, bytes of the file; null: nobody has asked yet. */
export function answerOf({
  lane,
  points,
}: LaneNow): { readonly p: number; readonly data: number; readonly hole: number } | null {
  const { order, length } = lane.pointsOf('answer');
  let p = length - 1;
  while (p >= 0 && order[p]! >= points) p -= 1;
  if (p < 1) return null;
  return { p, data: lane.points.a[order[p - 1]!]!, hole: lane.points.a[order[p]!]! };
}

/** Delayed entries between the hand and the first entry behind it that may be freed; null: there is none. */
export function aheadOf({ lane, now, boxes, blocks }: LaneNow): readonly number[] | null {
  const visit = lane.pointsOf('visit').order[now.visits - 1];
  const at = visit === undefined ? -1 : lane.points.b[visit]!;
  const ahead: number[] = [];
  for (let box = 0; box < blocks.length; box++) {
    if (blocks[box]! <= at || boxes.there[box] === 0) continue;
    if (boxes.letter[box] !== 1) return ahead;
    ahead.push(box);
  }
  return null;
}

/** Boxes of a region. */
export function regionOf(one: LaneNow, name: StripRegion): ReadonlySet<number> {
  const { boxes, now, blocks } = one;
  const all = Array.from({ length: blocks.length }, (_, box) => box);
  switch (name) {
    case 'list':
      return new Set(threadOf(boxes));
    case 'ahead':
      return new Set(aheadOf(one) ?? []);
    case 'freed':
      return new Set(all.filter((box) => lookOf(boxes, box, now) === 'freed'));
    case 'scan':
      return new Set(
        all.filter((box) => ['vain', 'spared', 'freed'].includes(lookOf(boxes, box, now))),
      );
    case 'data': {
      const answer = answerOf(one);
      if (answer === null) return new Set();
      const [from, to] = [answer.data / blockBytes, answer.hole / blockBytes];
      return new Set(all.filter((box) => blocks[box]! >= from && blocks[box]! < to));
    }
  }
}

export function drawSpoken(
  pen: Pen,
  { arm, grid }: StripLane,
  { frame, theme }: Drawing,
  one: LaneNow,
): void {
  for (const name of regions) {
    if (!frame.regions?.some((region) => region.arm === arm && region.name === name)) continue;
    const boxes = regionOf(one, name);
    const { columns, rows } = grid;
    const edges = edgesOf(rows, columns, (row, col) => boxes.has(row * columns + col));
    const half = grid.gap / 2;
    const x = (col: number) => grid.x - half + col * grid.cell;
    const y = (row: number) => grid.y - (grid.pitch - grid.high) / 2 + row * grid.pitch;
    strokeRegion(
      pen,
      theme,
      edges.map(({ c0, r0, c1, r1 }) => [x(c0), y(r0), x(c1), y(r1)]),
    );
  }
}
