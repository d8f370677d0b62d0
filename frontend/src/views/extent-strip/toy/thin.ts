// SPDX-License-Identifier: GPL-2.0-or-later
/** The file that the toy begins with: the entries of the recording before its first scan, thinned to so many boxes. */

import type { RunIndex } from '../../../derive/types.ts';
import { blocksOf, letterOf } from '../block-replay.ts';
import { factsOf } from '../scans.ts';
import type { Entry } from './rule.ts';

export const boxes = 32;

export interface Thinned {
  readonly entries: readonly Entry[];
  readonly budget: number;
  /** Entries of the recording to each box; 0: no run has them, and they are chosen. */
  readonly each: number;
}

/** As in the lesson's first step, one box for sixteen. */
const chosen: Thinned = {
  entries: Array.from({ length: boxes }, (_, b) => (b < boxes / 2 ? 'D' : 'W')),
  budget: 2,
  each: 0,
};

export function thinned(index: RunIndex | null): Thinned {
  const lane = index?.lanes[0];
  const blocks = index === null ? [] : Array.from(blocksOf(index));
  const budget = lane === undefined ? 0 : factsOf(lane).budget;
  if (lane === undefined || budget === 0 || blocks.length < boxes) return chosen;
  // Who is delayed says it itself, as does who is made: the first word on each block.
  const delayed = new Map<number, boolean>();
  for (const name of ['found', 'insert', 'visit']) {
    const { order, length } = lane.pointsOf(name);
    for (let p = 0; p < length; p++) {
      const i = order[p]!;
      const block = lane.points.b[i]!;
      if (!delayed.has(block)) delayed.set(block, letterOf(lane.points.d[i]!) === 1);
    }
  }
  const each = blocks.length / boxes;
  return {
    entries: Array.from({ length: boxes }, (_, b) =>
      delayed.get(blocks[Math.floor((b + 0.5) * each)]!) ? 'D' : 'W',
    ),
    budget: Math.max(1, Math.round(budget / each)),
    each: Math.round(each),
  };
}
