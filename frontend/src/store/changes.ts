// SPDX-License-Identifier: GPL-2.0-or-later
/** A visitor's changes of arms, and the updated lesson with the visitor's arm. Pure. */

import type { Arm, Lesson } from '../protocol/lesson.ts';
import type { ChangedMessage } from '../protocol/messages.ts';

const over: ReadonlySet<ChangedMessage['phase']> = new Set(['refused', 'built', 'failed']);

/** Whether a change has finished. */
export function isOver(change: Pick<ChangedMessage, 'phase'>): boolean {
  return over.has(change.phase);
}

/** Merge a message: keep the newest state of each changed arm. The end of a change that was superseded is ignored. */
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
 * Reuse unchanged parts of the previous lesson in an updated one, so that memoised results for its steps, kinds and
 * points stay valid.
 */
export function reuseUnchanged(before: Lesson | null, next: Lesson): Lesson {
  if (before === null || before.slug !== next.slug) return next;
  const parts = Object.entries(next).map(([key, value]) => {
    const old: unknown = before[key as keyof Lesson];
    return [key, JSON.stringify(old) === JSON.stringify(value) ? old : value];
  });
  return Object.fromEntries(parts) as Lesson;
}

// Arms that a visitor made by changing another arm. Pure.

/** Whether a visitor's change made the arm. */
export function isOwn(arm: string): boolean {
  return arm.startsWith('own-');
}

/** Arms that can be changed. */
export function changeable(lesson: Pick<Lesson, 'arms'>): readonly Arm[] {
  return lesson.arms.filter((arm) => !isOwn(arm.name));
}

/** Whether the lesson has patches; without them nothing can be changed. */
export function hasPatches(lesson: Pick<Lesson, 'arms'>): boolean {
  return changeable(lesson).some((arm) => arm.patch_texts.length > 0);
}

/** Contains the name of the original arm. */
const named = /^own-(.+)-[0-9a-f]{10}$/;

/** The arm from which a visitor's arm was made, by name or patches; null: not a visitor's arm. */
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
