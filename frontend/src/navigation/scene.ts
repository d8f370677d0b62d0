// SPDX-License-Identifier: GPL-2.0-or-later
/** Which step and which lanes an address shows. Pure. */

import { must } from '../base/assert.ts';
import type { Lesson, Scene } from '../protocol/lesson.ts';
import type { Place } from './place.ts';

/** The step that an address names; an unknown one is the first. */
export function sceneOf(lesson: Lesson, step: string | null): Scene {
  return lesson.scenes.find((s) => s.id === step) ?? must(lesson.scenes[0], 'a scene');
}

/** The two lanes that a wall can hold: those of the prediction, else the first two of the step. */
export function presentArms(
  lesson: Lesson,
  scene: Scene,
  arms: readonly string[],
): readonly string[] {
  const requested = scene.predict ? (lesson.predictions[scene.predict]?.arms ?? []) : [];
  const two =
    requested.every((a) => arms.includes(a)) && requested.length === 2
      ? requested
      : arms.slice(0, 2);
  return lesson.arms.map((a) => a.name).filter((a) => two.includes(a));
}

/** The arms that an address shows, in present mode two of them. */
export function armsOf(
  lesson: Lesson,
  scene: Scene,
  place: Pick<Place, 'arms' | 'present'>,
): readonly string[] {
  const arms = place.arms?.filter((a) => lesson.arms.some((b) => b.name === a)) ?? [];
  const chosen = arms.length > 0 ? arms : scene.arms;
  return place.present ? presentArms(lesson, scene, chosen) : chosen;
}
