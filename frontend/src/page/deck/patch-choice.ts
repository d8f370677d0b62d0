// SPDX-License-Identifier: GPL-2.0-or-later
/** Which patches stand on the slide of a step: lines that the step names, or a patch that no step before has shown. Pure. */

import type { Arm, Lesson, Scene } from '../../protocol/lesson.ts';

type Given = Pick<Lesson, 'arms' | 'scenes'>;

interface Chosen {
  readonly what: 'patch';
  readonly arm: string;
  readonly at: readonly string[];
  /** No step before shows this patch: its message says what it is for. */
  readonly first: boolean;
}

const has = (arm: Arm, text: string) => arm.patch_texts.some((patch) => patch.text.includes(text));

/** One for each arm. Where several arms have a line, the first of them shows it. */
export function patchParts(lesson: Given, scene: Scene): readonly Chosen[] {
  if (!scene.show.includes('patch')) return [];
  const arms = patchedArms(lesson, scene);
  const before = shownBefore(lesson, scene);
  const chosen = ({ name }: Arm, at: readonly string[]): Chosen => ({
    ...{ what: 'patch', arm: name, at, first: !before.has(name) },
  });
  if (scene.patch_at.length === 0)
    return arms.filter((arm) => !before.has(arm.name)).map((arm) => chosen(arm, []));
  const first = (text: string) => arms.find((arm) => has(arm, text));
  return arms.flatMap((arm) => {
    const at = scene.patch_at.filter((text) => first(text) === arm);
    return at.length > 0 ? [chosen(arm, at)] : [];
  });
}

function patchedArms({ arms }: Given, scene: Scene): readonly Arm[] {
  return arms.filter((arm) => scene.arms.includes(arm.name) && arm.patch_texts.length > 0);
}

/** Arms whose patch stands on a slide of an earlier step. */
function shownBefore(lesson: Given, scene: Scene): ReadonlySet<string> {
  const earlier = lesson.scenes.slice(0, lesson.scenes.indexOf(scene));
  const shown = new Set<string>();
  for (const one of earlier) {
    if (!one.show.includes('patch')) continue;
    for (const arm of patchedArms(lesson, one))
      if (one.patch_at.length === 0 || one.patch_at.some((text) => has(arm, text)))
        shown.add(arm.name);
  }
  return shown;
}
