// SPDX-License-Identifier: GPL-2.0-or-later
/** Arms that a visitor made by a change of another one. Pure. */

import type { Arm, Lesson } from '../protocol/lesson.ts';

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
