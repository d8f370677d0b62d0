// SPDX-License-Identifier: GPL-2.0-or-later
/** A class as it was planned: when each step begins and ends, and how far the speaker is from that. Pure. */

import { t } from '../../base/lang/t.ts';
import type { Scene } from '../../protocol/lesson.ts';

const minuteMs = 60_000;

/** Minutes since the talk began. */
export interface Planned {
  readonly from: number;
  readonly to: number;
  /** Of the whole class. */
  readonly total: number;
}

/** When a step is due; null: the lesson has no plan. */
export function plannedOf(
  scenes: readonly Pick<Scene, 'id' | 'minutes'>[],
  step: string,
): Planned | null {
  const sum = (of: typeof scenes) => of.reduce((all, { minutes }) => all + minutes, 0);
  const at = scenes.findIndex(({ id }) => id === step);
  const total = sum(scenes);
  if (at < 0 || total === 0) return null;
  const from = sum(scenes.slice(0, at));
  return { from, to: from + (scenes[at]?.minutes ?? 0), total };
}

/** "on time", "2 min behind", "3 min ahead": against the part of the class that the step has. */
export function paceWords(ms: number, { from, to }: Planned): string {
  const now = ms / minuteMs;
  if (now > to) return t('{now} min behind', { now: Math.ceil(now - to) });
  return now < from ? t('{from} min ahead', { from: Math.ceil(from - now) }) : t('on time');
}
