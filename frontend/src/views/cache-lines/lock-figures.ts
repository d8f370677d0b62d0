// SPDX-License-Identifier: GPL-2.0-or-later
/** Figures of the lock path that sentence, picture, panel and tips have in common. */

import { formatCount, formatFigure } from '../../base/units.ts';
import { figure, type Scope } from '../../derive/figures.ts';
import type { LaneIndex } from '../../derive/types.ts';

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
