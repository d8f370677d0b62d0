// SPDX-License-Identifier: GPL-2.0-or-later
/** Which step and which lanes an address shows. Pure. */

import { must } from '../base/assert.ts';
import { stepMeant } from '../base/typed.ts';
import type { Lesson, Scene } from '../protocol/lesson.ts';
import { isOwn } from '../store/changes.ts';
import type { Place } from './place.ts';

/** The step that an address names, as `stepName` finds it; an unknown one is the first. */
export function sceneOf(lesson: Lesson, step: string | null): Scene {
  return named(lesson, stepName(lesson, step)) ?? must(lesson.scenes[0], 'a scene');
}

/** Whether a step has, or had, this name. */
export function hasStep(lesson: Lesson, step: string): boolean {
  return named(lesson, step) !== undefined;
}

/** What an address should say: of its place from 1, or a part of its name, the step's name; all else as it came. */
export function stepName(lesson: Lesson, step: string | null): string | null {
  if (step === null || named(lesson, step) !== undefined) return step;
  const ids = lesson.scenes.map(({ id }) => id);
  return stepMeant(step, ids) ?? step;
}

function named(lesson: Lesson, step: string | null): Scene | undefined {
  return lesson.scenes.find((s) => s.id === step || (step !== null && s.was.includes(step)));
}

/** The arms that an address shows; without a word of it all that the step has, and what the run has changed. */
export function armsOf(
  lesson: Lesson,
  scene: Scene,
  place: Pick<Place, 'arms'>,
  ran: readonly string[] = [],
): readonly string[] {
  const known = (name: string) => lesson.arms.some((arm) => arm.name === name);
  const arms = place.arms?.filter(known) ?? [];
  if (arms.length > 0) return arms;
  const own = ran.filter((name) => isOwn(name) && known(name));
  return own.length > 0 ? [...scene.arms, ...own] : scene.arms;
}
