// SPDX-License-Identifier: GPL-2.0-or-later
/** Figures of a lane at the moment, for the words below the lane and for the counts. */

import { t } from '@page/base/lang/t.ts';
import { formatCount, formatFigure } from '@page/base/units.ts';
import { figure } from '@page/derive/figures.ts';
import type { LaneIndex } from '@page/derive/types.ts';
import { backSoFar, type Facts, type LaneNow, type Now, type Sums, sumsOf } from './replay.ts';

interface Sentences {
  readonly facts: Facts;
  readonly now: Now;
  readonly lane: LaneIndex;
}

/** What the lane's budget is charged for, in words. */
export function chargeWords(one: Sentences): string {
  const { charge } = one.facts;
  if (charge === null) return '';
  return charge === 'looks'
    ? t('budget: {n} looks', { n: budgetOf(one) })
    : t('budget: {n} freed entries', { n: budgetOf(one) });
}

type One = Pick<Sentences, 'lane' | 'facts' | 'now'>;

/** Return a figure about the current scan or, between two scans, about the last scan. */
export function ofScan({ lane, now }: One, name: keyof Sums, text?: string): string {
  const [value, scan] = [now.sums[name], now.scan?.number ?? 0];
  return now.over
    ? figure('mark', lane.arm, `${name} of scan ${scan}`, value, text)
    : figure('operation', lane.arm, name, value, text);
}

/** Return a figure about all scans up to the moment. */
export function soFar({ lane, facts, now }: One, name: keyof Sums, text?: string): string {
  return figure('far', lane.arm, name, sumsOf(facts, 0, now.visits)[name], text);
}

/** Return the number of entries that were freed and put back. */
export function backText(
  { lane, points }: Pick<LaneNow, 'lane' | 'points'>,
  text?: string,
): string {
  return figure('far', lane.arm, 'put back', backSoFar(lane, points), text);
}

/** Return the number of the current scan, counted from 1. */
export function scanNumber({ lane, now }: One): string {
  return figure('now', lane.arm, 'scan', now.scan?.number ?? 0);
}

export function budgetOf({ lane, facts }: One, text?: string): string {
  return figure('setup', lane.arm, 'budget', facts.budget, text);
}

/** Return the visits per freed entry, up to the moment; a dash while no entry has been freed. */
export function eachFreed({ lane, facts, now }: One): string {
  const sums = sumsOf(facts, 0, now.visits);
  const { visited, freed } = sums;
  return freed === 0
    ? '–'
    : figure('far', lane.arm, 'entries visited per entry freed', visited / freed, perFreed(sums));
}

export function scansSoFar({ lane, facts, now }: One, of = formatCount): string {
  const n = scansOver(facts, now.visits);
  return figure('far', lane.arm, 'scans over', n, of(n));
}

/**
 * Format the number of looks per freed entry in scans that have ended, such as "9 looks"; null if nothing was freed.
 */
export function eachFreedByOver({ lane, facts, now }: One): string | null {
  const over = facts.scans.filter((scan) => !scan.open && scan.to <= now.visits);
  const sums = sumsOf(facts, 0, over.at(-1)?.to ?? 0);
  const { visited, freed } = sums;
  if (freed === 0) return null;
  const text = visited === freed ? t('1 look') : t('{n} looks', { n: perFreed(sums) });
  return figure('far', lane.arm, 'visited per freed, of scans over', visited / freed, text);
}

/** The words between the figures of the scan and the sums of all scans. */
export const soFarWords = t('. So far: ');
/** The words of soFarWords, for the beginning of a line. */
export const soFarBegin = t('So far: ');

/** Return the parts of a line like "scan 9: looked at 32, freed 0. So far: 288, freed 32". */
export function figures(
  one: Sentences & Pick<LaneNow, 'points'>,
): { text: string; strong: boolean }[] {
  const { now } = one;
  if (now.beyond) return [{ text: t('not known yet'), strong: false }];
  if (now.scan === null) return [];
  const words = (text: string) => ({ text, strong: false });
  const number = (text: string) => ({ text, strong: true });
  return [
    words(t('scan {n}: looked at ', { n: scanNumber(one) })),
    number(ofScan(one, 'visited')),
    words(t(', freed ')),
    number(ofScan(one, 'freed')),
    words(soFarWords),
    number(soFar(one, 'visited')),
    words(t(', freed ')),
    number(soFar(one, 'freed')),
    ...(backSoFar(one.lane, one.points) > 0
      ? [words(t(', put back ')), number(backText(one))]
      : []),
  ];
}

/** Return the visits per freed entry; a dash if no entry was freed. */
export function perFreed({ visited, freed }: Sums): string {
  return freed === 0 ? '–' : formatFigure(visited / freed);
}

export function scansOver({ scans }: Facts, visits: number): number {
  let n = 0;
  for (const scan of scans) if (!scan.open && scan.to <= visits) n += 1;
  return n;
}
