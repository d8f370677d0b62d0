// SPDX-License-Identifier: GPL-2.0-or-later
/** Sums of a lane up to the moment. */

import { formatFigure } from '../../base/units.ts';
import type { LaneNow } from './now.ts';

export interface SoFar {
  readonly transfers: number;
  /** Operations, those that are not over by their part: with many CPUs most are under way. */
  readonly ops: number;
  readonly forName: number;
  readonly upgrades: number;
}

export function soFar({ model, done }: Pick<LaneNow, 'model' | 'done'>): SoFar {
  if (model === null) return { transfers: 0, ops: 0, forName: 0, upgrades: 0 };
  const { transfers, forName, upgrades } = model.sums;
  return {
    transfers: transfers[done]!,
    ops: done / Math.max(1, model.counted.perOp),
    forName: forName[done]!,
    upgrades: upgrades[done]!,
  };
}

/** Transfers of each operation so far; a dash before there is half of one. */
export function perStatWords({ transfers, ops }: Pick<SoFar, 'transfers' | 'ops'>): string {
  return ops < 0.5 ? '–' : formatFigure(transfers / ops);
}
