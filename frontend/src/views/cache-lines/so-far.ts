// SPDX-License-Identifier: GPL-2.0-or-later
/** Sums of a lane up to the moment. */

import type { LaneNow } from './now.ts';

export interface SoFar {
  readonly transfers: number;
  readonly ops: number;
  readonly forName: number;
  readonly upgrades: number;
}

export function soFar({ model, done }: Pick<LaneNow, 'model' | 'done'>): SoFar {
  if (model === null) return { transfers: 0, ops: 0, forName: 0, upgrades: 0 };
  const { transfers, ops, forName, upgrades } = model.sums;
  return {
    transfers: transfers[done]!,
    ops: ops[done]!,
    forName: forName[done]!,
    upgrades: upgrades[done]!,
  };
}
