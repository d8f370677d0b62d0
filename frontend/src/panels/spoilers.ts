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

/** What stands beside the picture and may give an answer away; else a panel of the view by its name. */
export type Spoiler = 'overview' | 'counts' | 'latency' | 'measured' | (string & {});

/**
 * Whether a thing beside a step's picture would answer what a later step asks, of lanes and of a recording that both
 * steps show. It may unless the view says where else the answer stands (`tells`, by the prediction's metric).
 */
export type Spoils = (what: Spoiler) => boolean;

export function spoilersOf(
  lesson: Lesson,
  scene: Scene,
  answers: Pick<Answers, 'guesses'>,
  seen: ReadonlySet<string>,
  tells: Readonly<Record<string, readonly string[]>> = {},
): Spoils {
  const here = lesson.scenes.indexOf(scene);
  const asked = askingSteps(lesson, answers, seen).flatMap((later) => {
    const prediction = lesson.predictions[later.predict ?? ''];
    if (lesson.scenes.indexOf(later) <= here || prediction === undefined) return [];
    const shown = prediction.arms.every((arm) => scene.arms.includes(arm));
    const same = bestRecording(lesson, later)?.name === bestRecording(lesson, scene)?.name;
    return shown && same ? [prediction.metric] : [];
  });
  return (what) => asked.some((metric) => tells[metric]?.includes(what) ?? true);
}
