// SPDX-License-Identifier: GPL-2.0-or-later
/** What a viewer's action changes of the address: a step, a run, knobs, a pane. Pure. */

import type { Lesson, Scene } from '../protocol/lesson.ts';
import { type Knobs, knobPlace, onClock, sceneKnobs } from './knobs.ts';
import { elsewhere, type Pane, type Place } from './place.ts';

type Change = Partial<Place>;

/** The step with this name; an unknown name leaves the viewer where he is. */
export function toStep(lesson: Lesson, scene: Scene, knobs: Knobs, id: string): Change {
  const to = lesson.scenes.find((one) => one.id === id) ?? scene;
  return { ...elsewhere, ...knobPlace(lesson, to, sceneKnobs(lesson, knobs, to, scene)), step: id };
}

/** The step so many after this one; null: there is none. */
export function stepAfter(lesson: Lesson, scene: Scene, by: number): string | null {
  return lesson.scenes[lesson.scenes.indexOf(scene) + by]?.id ?? null;
}

/** Another run, from its beginning and as its step would have it. */
export function toRun(run: string): Change {
  return { ...elsewhere, run };
}

/** The run on show, and its moment, give way to the one that begins. */
export const toNewRun = { run: null, moment: null, window: null } as const satisfies Change;

/** `now`: the knobs as they stand, with the arms on show. */
export function toKnobs(lesson: Lesson, scene: Scene, now: Knobs, requested: Knobs): Change {
  const next =
    requested.clock === now.clock
      ? requested
      : {
          ...requested,
          ...onClock(lesson, scene, { ...requested, clock: now.clock }, requested.clock),
        };
  const changed = next.arms.join() === now.arms.join() ? {} : { arms: next.arms };
  return { ...changed, ...knobPlace(lesson, scene, next) };
}

/** A pane opens, or closes; without `open` it does the other than it is. */
export function togglePane(
  panes: readonly Pane[],
  pane: Pane,
  open = !panes.includes(pane),
): Change {
  const others = panes.filter((one) => one !== pane);
  return { panes: open ? [...others, pane] : others };
}
