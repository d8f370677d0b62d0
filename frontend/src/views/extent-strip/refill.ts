// SPDX-License-Identifier: GPL-2.0-or-later
/** Entries that were freed and are there again: when none is left to free, the workload looks the blocks up once more. */

import { firstAtLeast } from '../../base/columns.ts';
import type { LaneIndex } from '../../derive/types.ts';
import { type Boxes, fileOf, freed } from './block-replay.ts';
import type { Now } from './scans.ts';

/** One entry that came back: the place of its point, and how many visits had been made. */
interface Back {
  readonly place: number;
  readonly visits: number;
  readonly block: number;
}

const known = new WeakMap<LaneIndex, readonly Back[]>();

/** In order of time, of the file that is drawn. */
function backsOf(lane: LaneIndex): readonly Back[] {
  const found = known.get(lane);
  if (found !== undefined) return found;
  const { kind, a, b, e, length } = lane.points;
  const kindOf = (name: string) => {
    const of = lane.pointsOf(name);
    return of.length > 0 ? kind[of.order[0]!] : undefined;
  };
  const [visit, insert, file] = [kindOf('visit'), kindOf('insert'), fileOf(lane)];
  const gone = new Set<number>();
  const backs: Back[] = [];
  let visits = 0;
  for (let i = 0; i < length; i++) {
    if (kind[i] === visit) visits += 1;
    if (a[i] !== file) continue;
    const block = b[i]!;
    if (kind[i] === visit && e[i] === freed) gone.add(block);
    if (kind[i] === insert && gone.delete(block)) backs.push({ place: i, visits, block });
  }
  known.set(lane, backs);
  return backs;
}

/** How many entries have come back among the first `upTo` points of a lane. */
export function backSoFar(lane: LaneIndex, upTo: number): number {
  const all = backsOf(lane);
  return firstAtLeast(all.length, (p) => all[p]!.place, upTo);
}

/** How often the entry of one block has come back. */
export function backsOfBlock(lane: LaneIndex, block: number, upTo: number): number {
  return backsOf(lane).filter((one) => one.block === block && lane.points.t[one.place]! <= upTo)
    .length;
}

/** Visits after which entries came back, each once, up to a visit. */
export function refillsOf(lane: LaneIndex, upTo: number): readonly number[] {
  const at = new Set(backsOf(lane).map(({ visits }) => visits));
  return [...at].filter((visits) => visits <= upTo);
}

/** Visits for which an entry goes on to be shown as just back: one scan of the usual budget. */
const shownFor = 32;

/** How new an entry is that has come back, from 1 down to 0; 0: it is not new, or never went. */
export function newness(
  { back, there }: Boxes,
  box: number,
  { visits }: Pick<Now, 'visits'>,
): number {
  const at = back[box]! - 1;
  if (at < 0 || there[box] === 0) return 0;
  return Math.max(0, 1 - (visits - at) / shownFor);
}
