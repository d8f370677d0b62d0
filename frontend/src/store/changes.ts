// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * A visitor's changes to arms, and updates of the lesson, which the server sends again after adding the visitor's arm.
 * Pure.
 */

import type { Arm, Lesson } from '../protocol/lesson.ts';
import type { ChangedMessage } from '../protocol/messages.ts';

const over: ReadonlySet<ChangedMessage['phase']> = new Set(['refused', 'built', 'failed']);

/** Whether work on the change has ended, because it was refused, was built or failed. */
export function isOver(change: Pick<ChangedMessage, 'phase'>): boolean {
  return over.has(change.phase);
}

/**
 * Add a message about a change. For each arm, only the newest state is kept. The failure of a change is ignored if a
 * newer change has replaced it.
 */
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
 * Copy unchanged parts of the previous lesson into the updated lesson, so that memoised results for steps, kinds and
 * points remain valid.
 */
export function reuseUnchanged(before: Lesson | null, next: Lesson): Lesson {
  if (before === null || before.slug !== next.slug) return next;
  const parts = Object.entries(next).map(([key, value]) => {
    const old: unknown = before[key as keyof Lesson];
    return [key, JSON.stringify(old) === JSON.stringify(value) ? old : value];
  });
  return Object.fromEntries(parts) as Lesson;
}

// Arms that visitors made by changing another arm. Pure.

/** Whether a visitor made this arm by a change. */
export function isOwn(arm: string): boolean {
  return arm.startsWith('own-');
}

/** The arms that a visitor can change: all arms that were not made by a visitor. */
export function changeable(lesson: Pick<Lesson, 'arms'>): readonly Arm[] {
  return lesson.arms.filter((arm) => !isOwn(arm.name));
}

/** Whether the lesson has patches. Without patches, a visitor cannot change any arm. */
export function hasPatches(lesson: Pick<Lesson, 'arms'>): boolean {
  return changeable(lesson).some((arm) => arm.patch_texts.length > 0);
}

/** The name of a visitor's arm, which contains the name of the original arm. */
const named = /^own-(.+)-[0-9a-f]{10}$/;

/** The original arm of a visitor's arm, found by its name or its patches; null if the arm is not a visitor's. */
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
