// SPDX-License-Identifier: GPL-2.0-or-later
/** The answer to a prediction, from the events: operations of two arms over equal guest time since the start. */

import type { Prediction } from '../protocol/lesson.ts';
import { laneOf, lostIn, opsUpTo } from './query.ts';
import type { LaneIndex, RunIndex } from './types.ts';
import { armTitle, type Titles } from './words.ts';

export interface Answer {
  readonly value: number;
  /** Index into the prediction's choices. */
  readonly choice: number;
  /** What the events say, as a sentence. */
  readonly words: string;
  /** A model's answer, from what was counted; else it is counted. */
  readonly modelled?: boolean;
}

/** Fewer operations than this on either arm prove nothing. */
const least = 5;

/** Operations of one lane in times of another's, over equal guest time; null: it cannot be said. */
export function opsShare(one: LaneIndex | null, other: LaneIndex | null): number | null {
  if (!one || !other) return null;
  const overNs = Math.min(one.watermark, other.watermark);
  // A number that rests on lost events is refused.
  if (lostIn(one, 0, overNs) || lostIn(other, 0, overNs)) return null;
  const ops = [opsUpTo(one, overNs), opsUpTo(other, overNs)] as const;
  return ops[0] < 1 || ops[1] < least ? null : ops[0] / ops[1];
}

export function opsRatio(index: RunIndex, prediction: Prediction, titles: Titles): Answer | null {
  const [one, other] = prediction.arms.map((arm) => laneOf(index, arm));
  const ratio = opsShare(one ?? null, other ?? null);
  if (!one || !other || ratio === null) return null;
  const [first, second] = [armTitle(titles, one), armTitle(titles, other)];
  const words = `${scopeWords(index)} ${forTen(ratio)} ${titles.operation.plural} on ${first} for ten on ${second}.`;
  return { value: ratio, choice: choiceOf(prediction, ratio), words };
}

/** What part of a run its answers speak of. */
export function scopeWords({ live, reading }: Pick<RunIndex, 'live' | 'reading'>): string {
  return live || reading === 'coming' ? 'So far' : 'In the whole run';
}

/** The choice whose bounds hold a value. */
export function choiceOf(
  prediction: Pick<Prediction, 'bounds' | 'choices'>,
  value: number,
): number {
  const above = prediction.bounds.filter((bound) => value >= bound).length;
  return Math.min(above, prediction.choices.length - 1);
}

/** "2.3 for ten of rwsem's" without claiming more digits than the counts carry. */
export function forTen(ratio: number): string {
  const ten = ratio * 10;
  return ten >= 9.95 ? String(Math.round(ten)) : ten.toFixed(1);
}
