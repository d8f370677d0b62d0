// SPDX-License-Identifier: GPL-2.0-or-later
/** Figures of the lock path that sentence, picture, panel and tips have in common. */

import { t } from '../../base/lang/t.ts';
import { formatCount, formatFigure, formatNs } from '../../base/units.ts';
import { figure, type Scope } from '../../derive/figures.ts';
import type { LaneIndex, RunIndex } from '../../derive/types.ts';
import { burstOf, intervalsOf, type Phase, phasesOf, slowShare } from './lock.ts';

/** "94.3 %", "135": share under the lock, and operations a second. */
export function pathFigures(
  { arm }: Pick<LaneIndex, 'arm'>,
  scope: Scope,
  of: string,
  slow: number | null,
  rate: number | null,
): readonly [string, string] {
  const percent = slow === null ? null : slow * 100;
  return [
    percent === null
      ? '–'
      : figure(scope, arm, `slow ${of}`, percent, `${formatFigure(percent)} %`),
    rate === null ? '–' : figure(scope, arm, `rate ${of}`, rate, formatCount(rate)),
  ];
}

/** Of a phase of the workload, up to the moment or, where it is over, all of it. */
export function phaseFigures(
  lane: Pick<LaneIndex, 'arm'>,
  phase: string,
  over: boolean,
  slow: number | null,
  rate: number | null,
): readonly [string, string] {
  return pathFigures(lane, over ? 'mark' : 'far', `in phase ${phase}`, slow, rate);
}

const during: Readonly<Record<Phase['name'], string>> = {
  before: t('before the listing'),
  listing: t('during the listing'),
  after: t('after the listing'),
};

/**
 * " Of the 25,500 operations during the listing 24,437 came in its first 45.9 ms, before the lock stayed taken; of the
 * others 96.9 % went under it.": why the share of a phase is not that of its columns. Empty: it is. `now`: on the lane.
 */
export function burstWords(
  lane: LaneIndex,
  index: Pick<RunIndex, 'params' | 'workload'>,
  now = Number.POSITIVE_INFINITY,
): string {
  const sentences = phasesOf(index).map((phase) => {
    const burst = burstOf(intervalsOf(lane), phase, now);
    const slow = burst === null ? null : slowShare(burst.then);
    if (burst === null || slow === null) return '';
    const { before, then } = burst;
    const over = now >= phase.t1;
    const of = (what: string, value: number, text: string) =>
      figure(over ? 'mark' : 'far', lane.arm, `${what} in phase ${phase.name}`, value, text);
    const early = before.fast + before.slow;
    const all = early + then.fast + then.slow;
    const [first, length] = [of('early', early, formatCount(early)), formatNs(before.over)];
    const rest = of('slow, late', slow * 100, `${formatFigure(slow * 100)} %`);
    return t(
      ' Of the {all} operations {during}{over} {first} came in its first {length}, before the lock stayed taken; of the others {rest} went under it.',
      {
        all: of('all', all, formatCount(all)),
        during: during[phase.name],
        over: over ? '' : t(' so far'),
        first,
        length: of('length', before.over, length),
        rest,
      },
    );
  });
  return sentences.join('');
}
