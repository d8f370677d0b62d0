// SPDX-License-Identifier: GPL-2.0-or-later
/** Figures of a lane at the moment, for the line below it and for the counts. */

import { formatCount, formatFigure } from '../../base/units.ts';
import type { LaneIndex } from '../../derive/types.ts';
import type { Facts, Now, Sums } from './scans.ts';
import { sumsOf } from './scans.ts';

interface Sentences {
  readonly facts: Facts;
  readonly now: Now;
  readonly lane: LaneIndex;
}

/** What its budget is charged for, in words. */
export function chargeWords({ charge, budget }: Facts): string {
  if (charge === null) return '';
  return charge === 'looks'
    ? `budget: ${formatCount(budget)} looks`
    : `budget: ${formatCount(budget)} gains, looks are free`;
}

/** "scan 9: looked at 32, freed 0 · so far 288 and 32" */
export function figures({ facts, now }: Sentences): { text: string; strong: boolean }[] {
  if (now.beyond) return [{ text: 'not known yet', strong: false }];
  if (now.scan === null) return [];
  const all = sumsOf(facts, 0, now.visits);
  const words = (text: string) => ({ text, strong: false });
  const number = (n: number) => ({ text: formatCount(n), strong: true });
  return [
    words(`scan ${formatCount(now.scan.number)}: looked at `),
    number(now.sums.visited),
    words(', freed '),
    number(now.sums.freed),
    words('. All: '),
    number(all.visited),
    words(', freed '),
    number(all.freed),
  ];
}

/** Visits for each entry freed; a dash while nothing was. */
export function perFreed({ visited, freed }: Sums): string {
  return freed === 0 ? '–' : formatFigure(visited / freed);
}

/** Scans that are over at the moment. */
export function scansOver({ scans }: Facts, visits: number): number {
  let n = 0;
  for (const scan of scans) if (!scan.open && scan.to <= visits) n += 1;
  return n;
}

export interface Counted extends Sums {
  readonly scans: number;
}

export function counted({ facts, now }: Sentences): Counted {
  return { ...sumsOf(facts, 0, now.visits), scans: scansOver(facts, now.visits) };
}
