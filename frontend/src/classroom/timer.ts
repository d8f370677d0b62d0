// SPDX-License-Identifier: GPL-2.0-or-later
/** What the timer of a class shows and says. Pure. */

import { t } from '../base/lang/t.ts';
import type { Timer } from './board-state.ts';

/** A timer that has run out is shown for so long, ms (TIMER_SEEN_S of limits.py). */
export const seenMs = 60_000;

export interface Face {
  /** `1:05` */
  readonly text: string;
  readonly over: boolean;
  /** Of the whole length, 0 to 1. */
  readonly left: number;
  /** For screen readers; it changes a few times alone. */
  readonly says: string;
}

/** Null: there is nothing (any more) to show. */
export function faceOf(timer: Timer | null, nowMs: number): Face | null {
  if (timer === null || nowMs > timer.ends + seenMs) return null;
  const leftS = Math.ceil((timer.ends - nowMs) / 1000);
  if (leftS <= 0) return { text: '0:00', over: true, left: 0, says: t('Time is up.') };
  const text = `${Math.floor(leftS / 60)}:${String(leftS % 60).padStart(2, '0')}`;
  const left = timer.length > 0 ? Math.min(1, (timer.ends - nowMs) / timer.length) : 0;
  return { text, over: false, left, says: saysOf(leftS, timer) };
}

function saysOf(leftS: number, timer: Timer): string {
  if (leftS <= 10) return t('Ten seconds are left.');
  if (leftS <= 60 && timer.length > 60_000) return t('One minute is left.');
  return t('A timer runs: {length}.', { length: lengthWords(Math.round(timer.length / 1000)) });
}

/** `5 minutes`, `90 seconds`. */
export function lengthWords(seconds: number): string {
  return seconds % 60 === 0
    ? t('{seconds, plural, one {# minute} other {# minutes}}', { seconds: seconds / 60 })
    : t('{seconds, plural, one {# second} other {# seconds}}', { seconds });
}
