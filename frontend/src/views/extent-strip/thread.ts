// SPDX-License-Identifier: GPL-2.0-or-later
/** The list of entries that may be freed: which lanes have one, read off their visits, and its order. */

import type { LaneIndex } from '../../derive/types.ts';
import { type Boxes, letterOf } from './block-replay.ts';

const delayed = 1;
const lists = new WeakMap<LaneIndex, boolean>();

/**
 * Does this kernel go along a list? Then its first visit is to the entry that was made last (the list grows at its
 * head), while a walk through the tree begins at the left end.
 */
export function hasList(lane: LaneIndex): boolean {
  let known = lists.get(lane);
  if (known === undefined) {
    known = startsAtNewest(lane);
    lists.set(lane, known);
  }
  return known;
}

function startsAtNewest(lane: LaneIndex): boolean {
  const { points } = lane;
  const visit = lane.pointsOf('visit');
  const insert = lane.pointsOf('insert');
  const first = visit.order[0];
  if (visit.length === 0 || first === undefined) return false;
  let made = 0;
  let newest = -1;
  for (let p = 0; p < insert.length && insert.order[p]! < first; p++) {
    const i = insert.order[p]!;
    if (points.a[i] !== points.a[first] || letterOf(points.d[i]!) === delayed) continue;
    made += 1;
    newest = points.b[i]!;
  }
  return made > 1 && points.b[first] === newest;
}

/** Boxes on the list, from its head: the newest first. */
export function threadOf(boxes: Boxes): number[] {
  const on: number[] = [];
  for (let box = 0; box < boxes.there.length; box++) {
    if (boxes.there[box] === 1 && boxes.letter[box]! > delayed && boxes.made[box]! > 0)
      on.push(box);
  }
  return on.sort((x, y) => boxes.made[y]! - boxes.made[x]!);
}

/** Times that an entry was put on the list or taken off, among the first `upTo` points; null: there is no list. */
export function listSteps(lane: LaneIndex, upTo: number): number | null {
  if (!hasList(lane)) return null;
  const { points } = lane;
  const counted = (name: string, counts: (i: number) => boolean) => {
    const { order, length } = lane.pointsOf(name);
    let n = 0;
    for (let p = 0; p < length && order[p]! < upTo; p++) n += counts(order[p]!) ? 1 : 0;
    return n;
  };
  const on = counted('insert', (i) => letterOf(points.d[i]!) > delayed);
  return on + counted('visit', (i) => points.e[i] === 2);
}
