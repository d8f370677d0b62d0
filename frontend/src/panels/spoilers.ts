// SPDX-License-Identifier: GPL-2.0-or-later
/** What would answer a prediction before the viewer has been asked for it. Pure. */

import { bestRecording } from '../derive/recording.ts';
import type { Lesson, Scene } from '../protocol/lesson.ts';
import type { Answers } from './predict.ts';

type Told = Pick<Lesson, 'scenes' | 'predictions'>;

/** Steps that ask for a prediction which the viewer has not made; `seen`: steps whose answer he asked to see. */
export function askingSteps(
  { scenes, predictions }: Told,
  answers: Pick<Answers, 'guesses'>,
  seen: ReadonlySet<string> = new Set(),
): readonly Scene[] {
  return scenes.filter(({ id, predict }) => {
    const asks = predict !== null && predictions[predict] !== undefined;
    return asks && answers.guesses[predict] === undefined && !seen.has(id);
  });
}

/** The step that the front page may show: the lesson's own choice, or the last one before what is still to be predicted. */
export function frontStep(
  lesson: Told & Pick<Lesson, 'hero'>,
  answers: Pick<Answers, 'guesses'>,
): Scene {
  const { scenes } = lesson;
  const hero = Math.max(
    0,
    scenes.findIndex((scene) => scene.id === lesson.hero),
  );
  const [asking] = askingSteps(lesson, answers);
  const asks = asking === undefined ? -1 : scenes.indexOf(asking);
  return scenes[asks < 0 || hero < asks ? hero : Math.max(0, asks - 1)]!;
}

/**
 * Whether counts and overview of a step would answer what a later one asks: how many operations a lane finishes for
 * another's, of lanes and of a recording that both steps show.
 */
export function ratesAreAsked(
  lesson: Lesson,
  scene: Scene,
  answers: Pick<Answers, 'guesses'>,
  seen: ReadonlySet<string>,
): boolean {
  const here = lesson.scenes.indexOf(scene);
  return askingSteps(lesson, answers, seen).some((later) => {
    const prediction = lesson.predictions[later.predict ?? ''];
    if (lesson.scenes.indexOf(later) <= here || prediction?.metric !== 'ops_ratio') return false;
    const shown = prediction.arms.every((arm) => scene.arms.includes(arm));
    return shown && bestRecording(lesson, later)?.name === bestRecording(lesson, scene)?.name;
  });
}
