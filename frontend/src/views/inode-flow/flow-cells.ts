// SPDX-License-Identifier: GPL-2.0-or-later
/** The cells of the population, where they are drawn: to be pointed at, and to ring the one that is. */

import { cornersIn, type Place, pitchOf, stationsOf } from './draw-flow.ts';
import type { Band, LaneBox, Layout } from './layout.ts';
import type { Life } from './lives.ts';
import { populationAt } from './tally.ts';

export interface Cell {
  readonly life: Life;
  /** Left upper corner, and the edge, px. */
  readonly x: number;
  readonly y: number;
  readonly side: number;
}

/** Inodes that a file has, and free ones; the queues are stacks without cells. */
export function flowCells(layout: Layout, box: LaneBox, band: Band): readonly Cell[] {
  const { alive, free } = stationsOf(band, layout);
  const people = populationAt(box.lives, box.now);
  const pitch = pitchOf(alive, box.lives.inos.length, layout.em);
  const of = (place: Place, lives: readonly Life[]) =>
    cornersIn(place, lives.length, pitch).map(
      (corner, i): Cell => ({ ...corner, life: lives[i]!, side: pitch - 2 }),
    );
  return [...of(alive, people.alive), ...of(free, people.free)];
}
