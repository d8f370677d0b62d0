// SPDX-License-Identifier: GPL-2.0-or-later
/** The answer to a prediction, from the events: operations of two arms over equal guest time since the start. */

import type { Prediction } from '../protocol/lesson.ts';
import { laneOf, lostIn, opsUpTo } from './query.ts';
import type { RunIndex } from './types.ts';

export interface Answer {
  /** Operations of the first arm for one of the second. */
  readonly ratio: number;
  /** Index into the prediction's choices. */
  readonly choice: number;
  /** Guest time since the start that both were counted over. */
  readonly overNs: number;
  readonly ops: readonly [number, number];
}

/** Fewer operations than this on either arm prove nothing. */
const least = 5;

export function answerOf(prediction: Prediction, index: RunIndex): Answer | null {
  const [one, other] = prediction.arms.map((arm) => laneOf(index, arm));
  if (!one || !other) return null;
  const overNs = Math.min(one.watermark, other.watermark);
  // A number that rests on lost events is refused.
  if (lostIn(one, 0, overNs) || lostIn(other, 0, overNs)) return null;
  const ops = [opsUpTo(one, overNs), opsUpTo(other, overNs)] as const;
  if (ops[0] < 1 || ops[1] < least) return null;
  const ratio = ops[0] / ops[1];
  const above = prediction.bounds.filter((bound) => ratio >= bound).length;
  const choice = Math.min(above, prediction.choices.length - 1);
  return { ratio, choice, overNs, ops };
}

/** A small ratio as people say it: "22 for each 100". */
export function ratioWords(ratio: number): string {
  return `${Math.round(ratio * 100)} for each 100`;
}
