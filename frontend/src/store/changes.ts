// SPDX-License-Identifier: GPL-2.0-or-later
/** Changes that a visitor makes to arms, and the lesson that comes once more with an arm of his own. Pure. */

import type { Lesson } from '../protocol/lesson.ts';
import type { ChangedMessage } from '../protocol/messages.ts';

const over: ReadonlySet<ChangedMessage['phase']> = new Set(['refused', 'built', 'failed']);

/** Whether nothing more comes of it. */
export function isOver(change: Pick<ChangedMessage, 'phase'>): boolean {
  return over.has(change.phase);
}

/** The newest word of each arm that is changed; the end of a change that a newer one replaced is no news. */
export function withChange(
  all: readonly ChangedMessage[],
  next: ChangedMessage,
): readonly ChangedMessage[] {
  const same = (one: ChangedMessage) => one.lesson === next.lesson && one.base === next.base;
  const before = all.find(same);
  const replaced = before !== undefined && before.arm !== next.arm && before.arm !== '';
  if (replaced && next.phase === 'failed' && !isOver(before)) return all;
  return [...all.filter((one) => !same(one)), next];
}

/**
 * A lesson that comes again, with all that did not change as it was: what is made of its steps, kinds and points is then
 * not made anew, and nobody is moved.
 */
export function sharing(before: Lesson | null, next: Lesson): Lesson {
  if (before === null || before.slug !== next.slug) return next;
  const parts = Object.entries(next).map(([key, value]) => {
    const old: unknown = before[key as keyof Lesson];
    return [key, JSON.stringify(old) === JSON.stringify(value) ? old : value];
  });
  return Object.fromEntries(parts) as Lesson;
}
