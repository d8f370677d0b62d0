// SPDX-License-Identifier: GPL-2.0-or-later
/** What a box and a unit of the budget are, at a moment: one of the lesson's kinds. */

import type { Boxes } from './block-replay.ts';
import { kept, letters, spared } from './block-replay.ts';
import type { Facts, Now } from './scans.ts';

export const looks = [
  'unknown',
  'delayed',
  'written',
  'hole',
  'unwritten',
  'vain',
  'spared',
  'freed',
  'gone',
] as const;
export type Look = (typeof looks)[number];

const byLetter: readonly Look[] = ['unknown', 'delayed', 'written', 'hole', 'unwritten'];

/** A box as this scan has left it; what earlier scans did shows only in what is gone. */
export function lookOf(boxes: Boxes, box: number, now: Now): Look {
  const letter = boxes.letter[box]!;
  if (letter === 0) return 'unknown';
  const visit = boxes.visit[box]!;
  const mine = now.scan !== null && visit > now.scan.from && visit <= now.visits;
  if (mine) {
    const fate = boxes.fate[box]!;
    if (fate === kept) return 'vain';
    if (fate === spared) return 'spared';
    // Made anew since the visit: it is an entry like others, but not while the scan is still there.
    return 'freed';
  }
  return boxes.there[box] === 1 ? byLetter[letter]! : 'gone';
}

/** The letter that is written into a box. */
export function letterIn(boxes: Boxes, box: number): string {
  return letters[boxes.letter[box]!] ?? '';
}

export type Spent = 'left' | 'spent_vain' | 'spent_gain' | 'spared';

/** What this scan's budget went to so far, unit by unit. */
export function spending(fateOf: (visit: number) => number, facts: Facts, now: Now): Spent[] {
  const units: Spent[] = [];
  for (let v = now.scan?.from ?? 0; v < now.visits; v++) {
    const fate = fateOf(v);
    if (fate === 2) units.push('spent_gain');
    else if (facts.charge !== 'gains') units.push(fate === spared ? 'spared' : 'spent_vain');
  }
  return units;
}
