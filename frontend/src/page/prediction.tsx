// SPDX-License-Identifier: GPL-2.0-or-later
/** The question of a step: a card in the step's text, and a form over the lane that the question is about. */

import { type ReactNode, useEffect } from 'react';
import { t } from '../base/lang/t.ts';
import { later } from '../base/later.tsx';
import { crossingPoints } from '../derive/grid.ts';
import { toCell } from '../navigation/navigation.ts';
import { knownArms } from '../panels/predict.ts';
import { PredictCard } from '../panels/predict-card.tsx';
import { useRevealed } from '../panels/revealed.ts';
import { useGuessed } from '../plugins.tsx';
import type { LessonModel } from './use-lesson-page.ts';

const GridCurve = later(() => import('../panels/grid-panel.tsx').then((m) => m.GridCurve));
const GridNote = later(() => import('../panels/grid-panel.tsx').then((m) => m.GridNote));

interface Props {
  readonly page: LessonModel;
}

/** Returns a function that stores a guess. The card and the form in the picture both use it. */
function useSaying({ scene, guess, truth }: LessonModel) {
  const guessed = useGuessed(scene);
  return (choice: number) => {
    guess.say(choice);
    guessed(choice, truth === null ? null : truth === choice);
  };
}

function heldWords(): string {
  return t('The answer is shown when the instructor reveals it.');
}

export function Prediction({ page }: Props) {
  const { lesson, guess, truth } = page;
  const { prediction, answer, settle } = guess;
  const say = useSaying(page);
  const crossing = useCrossing(page);
  useEffect(() => {
    if (truth !== null) settle(truth);
  });
  if (prediction === undefined) return null;
  const waits =
    crossing?.complete === false
      ? t('The recorded runs give the answer, one value at a time.')
      : '';
  return (
    <PredictCard
      prediction={prediction}
      guess={guess.guess}
      answer={answer}
      unfit={guess.held ? heldWords() : page.blocked || waits}
      chart={guess.held ? null : crossing?.chart}
      revealed={guess.revealed}
      plural={lesson.operation.plural}
      onGuess={say}
      onForget={guess.forget}
    />
  );
}

/** The curve that answers a prediction over a grid, as far as it is revealed; null for other predictions. */
function useCrossing({ lesson, scene, guess, place, actions, go }: LessonModel) {
  const { prediction } = guess;
  const found = prediction ? crossingPoints(lesson, prediction) : [];
  const shown = useRevealed(found.length, guess.guess !== null || guess.revealed);
  const crossing = prediction?.crossing;
  const grid = lesson.grids[crossing?.grid ?? ''];
  if (crossing == null || grid === undefined || found.length === 0) return null;
  const all = found.map(({ point }) => point);
  const points = all.slice(0, shown);
  const complete = shown >= all.length;
  const answer = complete ? (found.find(({ passes }) => passes)?.point.value ?? null) : null;
  const chart = (
    <figure className="predict-curve" data-testid="predict-curve" data-points={shown}>
      <GridCurve
        {...{ lesson, grid, points, all, answer }}
        curve={crossing.curve}
        shown={place.run}
        onCell={(cell) => go(toCell(lesson, scene, actions.placed, cell))}
      />
      {complete && <GridNote {...{ lesson, grid, points }} curve={crossing.curve} />}
    </figure>
  );
  return { chart, complete };
}

// Covers lanes in the picture until the viewer has answered. Lanes that the viewer already knows stay visible.

export interface AskedLanes {
  /** The lane that the question is about. */
  readonly arm: string;
  readonly known: readonly string[];
  /** The element that covers a lane; null if the lane is visible. */
  readonly cover: (arm: string) => ReactNode;
}

/** Returns null if no lane is covered: the step has no question, or the viewer has answered it. */
export function useAskedLanes(page: LessonModel): AskedLanes | null {
  const { lesson, scene, arms, guess } = page;
  const say = useSaying(page);
  const { prediction, veiled } = guess;
  if (!veiled || prediction === undefined) return null;
  const known = knownArms(lesson, scene);
  const [first = ''] = prediction.arms;
  const arm = arms.includes(first) ? first : (arms.find((one) => !known.includes(one)) ?? '');
  const cover = (name: string) => {
    if (known.includes(name)) return null;
    if (name !== arm)
      return (
        <p className="small quiet">{t('First say what you expect; then this part is shown.')}</p>
      );
    return (
      <div className="guess-here" data-testid="veil">
        {guess.held ? (
          <p>
            {t('You expect')}: <b>{prediction.choices[guess.guess ?? 0]}</b>. {heldWords()}
          </p>
        ) : (
          <>
            <p>{t('First say what you expect; then look.')}</p>
            <p className="guess-question">{prediction.question}</p>
            <ul aria-label={t('Prediction')}>
              {prediction.choices.map((choice, i) => (
                <li key={choice}>
                  <button type="button" className="button choice" onClick={() => say(i)}>
                    {choice}
                  </button>
                </li>
              ))}
            </ul>
          </>
        )}
        {guess.reveal && (
          <button type="button" className="link small" onClick={guess.reveal}>
            {t('just show me')}
          </button>
        )}
      </div>
    );
  };
  return { arm, known, cover };
}
