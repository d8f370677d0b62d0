// SPDX-License-Identifier: GPL-2.0-or-later
/** Changes that a visitor makes to arms, and the lesson that comes once more with an arm of his own. Pure. */

import type { Arm, Lesson } from '../protocol/lesson.ts';
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

// Arms that a visitor made by a change of another one. Pure.

/** Whether a change of a visitor made the arm. */
export function isOwn(arm: string): boolean {
  return arm.startsWith('own-');
}

/** Arms that can be changed. */
export function changeable(lesson: Pick<Lesson, 'arms'>): readonly Arm[] {
  return lesson.arms.filter((arm) => !isOwn(arm.name));
}

/** Whether the lesson is about patches: else there is nothing to change. */
export function hasPatches(lesson: Pick<Lesson, 'arms'>): boolean {
  return changeable(lesson).some((arm) => arm.patch_texts.length > 0);
}

/** The arm that its name says. */
const named = /^own-(.+)-[0-9a-f]{10}$/;

/** The arm that an arm of a visitor's was made from, by its name or the patches of both; null: it is none. */
export function madeFrom(lesson: Pick<Lesson, 'arms'>, arm: Arm): Arm | null {
  if (!isOwn(arm.name)) return null;
  const base = named.exec(arm.name)?.[1];
  if (base !== undefined) return changeable(lesson).find(({ name }) => name === base) ?? null;
  const textOf = (patches: Arm['patch_texts']) => patches.map(({ text }) => text).join('\n');
  const under = textOf(arm.patch_texts.slice(0, -1));
  const same = (one: Arm) =>
    textOf(one.patch_texts) === under && one.base === arm.base && one.config === arm.config;
  return changeable(lesson).find(same) ?? null;
}
