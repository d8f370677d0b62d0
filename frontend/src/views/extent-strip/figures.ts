// SPDX-License-Identifier: GPL-2.0-or-later
/** Figures of a lane at the moment, for the line below it and for the counts. */

import { formatCount, formatFigure, plural } from '../../base/units.ts';
import type { LaneIndex } from '../../derive/types.ts';
import type { Facts, Now, Sums } from './scans.ts';
import { sumsOf } from './scans.ts';

interface Told {
  readonly facts: Facts;
  readonly now: Now;
  readonly lane: LaneIndex;
}

/** What its budget is charged for, in words. */
export function chargeWords({ charge, budget }: Facts): string {
  if (charge === null) return '';
  return charge === 'looks'
    ? `${formatCount(budget)} looks`
    : `${formatCount(budget)} gains; looks are free`;
}

/** "scan 9: looked at 32, freed 0 · so far 288 and 32" */
export function figures({ facts, now }: Told): { text: string; strong: boolean }[] {
  if (now.beyond) return [{ text: 'not known yet', strong: false }];
  if (now.scan === null) return [];
  const all = sumsOf(facts, 0, now.visits);
  const words = (text: string) => ({ text, strong: false });
  const number = (n: number) => ({ text: formatCount(n), strong: true });
  return [
    words(`scan ${formatCount(now.scan.number)} has looked at `),
    number(now.sums.visited),
    words(', freed '),
    number(now.sums.freed),
    words('; all so far '),
    number(all.visited),
    words(' and '),
    number(all.freed),
  ];
}

/** Visits for each entry freed; a dash while nothing was. */
export function perFreed({ visited, freed }: Sums): string {
  return freed === 0 ? '–' : formatFigure(visited / freed);
}

export const countHeads = ['scans', 'visited', 'freed', 'kept', 'spared', 'visited per freed'];

/** Scans that are over at the moment. */
export function scansOver({ scans }: Facts, visits: number): number {
  let n = 0;
  for (const scan of scans) if (!scan.open && scan.to <= visits) n += 1;
  return n;
}

export function countRow({ facts, now }: Told): string[] {
  const sums = sumsOf(facts, 0, now.visits);
  const { visited, freed, kept, spared } = sums;
  const counts = [scansOver(facts, now.visits), visited, freed, kept, spared];
  return [...counts.map(formatCount), perFreed(sums)];
}

/** "3 entries were visited that no event told." */
export function untoldWords({ untold }: Facts): string {
  return untold === 0
    ? ''
    : ` ${plural(untold, 'visit', 'visits')} were counted but not told one by one.`;
}
