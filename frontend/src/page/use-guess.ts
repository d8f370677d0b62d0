// SPDX-License-Identifier: GPL-2.0-or-later
/** The prediction of a step: the viewer's guess, the answer, and whether the stage is covered until he has guessed. */

import { useState } from 'react';
import type { Place } from '../navigation/place.ts';
import { type Answers, askingSteps, type Spoils, spoilersOf } from '../panels/predict.ts';
import { usePrediction } from '../playback/hooks.tsx';
import type { Lesson, Scene } from '../protocol/lesson.ts';
import { viewOf } from '../views/registry.ts';

const nobody: Pick<Answers, 'guesses'> = { guesses: {} };
const none: ReadonlySet<string> = new Set();
const nothing: Spoils = () => false;

export function useGuess(
  { lesson, scene, place }: { lesson: Lesson; scene: Scene; place: Place },
  answers: Answers,
  save: (answers: Answers) => void,
) {
  const answer = usePrediction(scene.predict);
  const [seen, setSeen] = useState<ReadonlySet<string>>(new Set());
  const id = scene.predict ?? '';
  const prediction = scene.predict ? lesson.predictions[scene.predict] : undefined;
  const guess = scene.predict ? (answers.guesses[scene.predict] ?? null) : null;
  // A link to a moment shows all that its step has. Pausing puts a moment into the address as well: that opens nothing,
  // or evidence would come up beside the picture, and the lanes would get narrow, at the press of a button.
  const [linked] = useState(() => (place.moment === null ? null : scene.id));
  // Slides are shown in order, to others than who has guessed here.
  const [known, opened] = place.present === null ? [answers, seen] : [nobody, none];
  const open = prediction === undefined || guess !== null || seen.has(scene.id);
  const { veiled, predicted } = coverOf(open, place);
  return {
    prediction,
    guess,
    answer,
    veiled,
    /** What beside the picture would answer a later step's question. */
    spoils:
      place.embed || linked === scene.id
        ? nothing
        : spoilersOf(lesson, scene, known, opened, viewOf(lesson.view).tells),
    /** The text that explains the answer may be shown. */
    predicted,
    /** The steps whose question is still open. */
    asking: askingSteps(lesson, answers, seen),
    reveal: () => setSeen(new Set([...seen, scene.id])),
    say: (choice: number) => save({ ...answers, guesses: { ...answers.guesses, [id]: choice } }),
    forget: () => {
      const { [id]: _gone, ...guesses } = answers.guesses;
      const { [id]: _old, ...truths } = answers.truths ?? {};
      save({ ...answers, guesses, truths });
    },
    /** What a run that may judge the guess says to it. */
    settle: (truth: number) => {
      if (guess === null || answers.truths?.[id] === truth) return;
      save({ ...answers, truths: { ...answers.truths, [id]: truth } });
    },
  };
}

/**
 * Whether the stage is covered, and whether the text below the question is shown: never one without the other where a
 * moment was sought, by a link or by stepping through the picture.
 *
 * @param open nothing is asked, or the viewer has guessed, or does not want to
 */
export function coverOf(
  open: boolean,
  place: Pick<Place, 'present' | 'embed' | 'moment'>,
): { veiled: boolean; predicted: boolean } {
  const sought = place.moment !== null;
  const veiled = !open && place.present === null && !place.embed && !sought;
  return { veiled, predicted: open || sought };
}

export type Guess = ReturnType<typeof useGuess>;
