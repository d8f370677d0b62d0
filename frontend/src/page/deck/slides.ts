// SPDX-License-Identifier: GPL-2.0-or-later
/** A lesson as slides: each step gives one to three, and a press of the clicker goes from stop to stop. Pure. */

import type { Lesson, Scene } from '../../protocol/lesson.ts';

/** What stands on a slide beside its title: a panel of the view by its name, or one of these. */
export type Part =
  | { readonly what: 'latency' | 'measured' | 'counts' }
  | { readonly what: 'panel'; readonly name: string }
  | { readonly what: 'patch'; readonly arms: readonly string[] };

export type SlideKind = 'ask' | 'picture' | 'evidence';

export interface Slide {
  readonly kind: SlideKind;
  /** Of an ask and of a picture there is nothing to choose. */
  readonly parts: readonly Part[];
}

/** No step has more. */
export const mostSlides = 3;

type Given = Pick<Lesson, 'predictions' | 'arms'>;

/** The slides of a step, in order. `panels`: names of the panels that the lesson's view has. */
export function slidesOf(lesson: Given, scene: Scene, panels: readonly string[]): readonly Slide[] {
  const asks = scene.predict !== null && lesson.predictions[scene.predict] !== undefined;
  const before: Slide[] = [
    ...(asks ? [{ kind: 'ask' as const, parts: [] }] : []),
    { kind: 'picture', parts: [] },
  ];
  const patch = patchOf(lesson, scene);
  const evidence = evidenceOf(scene, panels);
  const groups = [patch, evidence].filter((parts) => parts.length > 0);
  const room = mostSlides - before.length;
  const after = groups.length > room ? [groups.flat()] : groups;
  return [...before, ...after.map((parts) => ({ kind: 'evidence' as const, parts }))];
}

function patchOf(lesson: Given, scene: Scene): readonly Part[] {
  const patched = lesson.arms.filter((arm) => scene.arms.includes(arm.name));
  const arms = patched.filter((arm) => arm.patch_texts.length > 0).map((arm) => arm.name);
  return scene.show.includes('patch') && arms.length > 0 ? [{ what: 'patch', arms }] : [];
}

/** Charts and tables; one alone would leave the stage empty, so the counts are its neighbour. */
function evidenceOf(scene: Scene, panels: readonly string[]): readonly Part[] {
  const parts: Part[] = scene.show.flatMap((name): Part[] => {
    if (name === 'latency' || name === 'measured') return [{ what: name }];
    return panels.includes(name) ? [{ what: 'panel', name }] : [];
  });
  return parts.length === 1 ? [...parts, { what: 'counts' }] : parts;
}

/** Where a press leads: a slide, of a question before or after its answer is shown. */
export interface Stop {
  readonly step: string;
  /** What the address says: the press within its step, from 1. */
  readonly press: number;
  readonly slide: Slide;
  /** The slide within the lesson, from 1. */
  readonly number: number;
  /** The answer to the question is shown. */
  readonly revealed: boolean;
}

/** All stops of a lesson, in order. */
export function stopsOf(
  lesson: Given & Pick<Lesson, 'scenes'>,
  panels: readonly string[],
): readonly Stop[] {
  let number = 0;
  return lesson.scenes.flatMap((scene) => {
    let press = 0;
    return slidesOf(lesson, scene, panels).flatMap((slide) => {
      number += 1;
      const at = (revealed: boolean): Stop => {
        press += 1;
        return { step: scene.id, press, slide, number, revealed };
      };
      return slide.kind === 'ask' ? [at(false), at(true)] : [at(true)];
    });
  });
}

/** How many slides a deck has; a question and its answer are one. */
export function slideCount(stops: readonly Stop[]): number {
  return stops.at(-1)?.number ?? 0;
}

/** The stop that an address names; a press beyond the step's last is its last. */
export function stopAt(stops: readonly Stop[], step: string, press: number | null): number {
  const first = stops.findIndex((stop) => stop.step === step);
  const last = stops.findLastIndex((stop) => stop.step === step);
  return Math.max(0, Math.min(last, first + (press ?? 1) - 1));
}
