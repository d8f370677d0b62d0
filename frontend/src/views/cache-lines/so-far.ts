// SPDX-License-Identifier: GPL-2.0-or-later
/** Sums of a lane up to the moment. */

import { t } from '../../base/lang/t.ts';
import { formatFigure } from '../../base/units.ts';
import { figure } from '../../derive/figures.ts';
import type { Lesson } from '../../protocol/lesson.ts';
import { transfersPerStat } from './model.ts';
import type { LaneNow } from './now.ts';
import { operationWords } from './refusal.ts';

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

/** A figure of the order up to the moment. */
export function far(one: LaneNow, name: keyof SoFar, text?: string): string {
  return figure('far', one.lane.arm, name, soFar(one)[name], text);
}

/** "4 stats so far" without the last two words. */
export function operationsFar(one: LaneNow, lesson: Lesson): string {
  return far(one, 'ops', operationWords(soFar(one).ops, lesson));
}

/** In place of a figure of the whole run while that is not whole: a recording comes in, or a guest still runs. */
export const stillRead = t('still being read');

/** Transfers of each operation of the whole run, its cold begin included: the figure to compare. */
export function perStatWhole({ lane, model }: Pick<LaneNow, 'lane' | 'model'>): string {
  if (!lane.ended) return stillRead;
  const each = model === null ? Number.NaN : transfersPerStat(model);
  return Number.isNaN(each)
    ? '–'
    : figure('run', lane.arm, 'transfers per op', each, formatFigure(each));
}

/** Transfers of each operation so far; a dash before there is half of one. */
export function perStatWords(one: LaneNow): string {
  const { transfers, ops } = soFar(one);
  const each = transfers / ops;
  return ops < 0.5
    ? '–'
    : figure('far', one.lane.arm, 'transfers per op', each, formatFigure(each));
}
