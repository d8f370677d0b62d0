// SPDX-License-Identifier: GPL-2.0-or-later
/** The card of a prediction: first the question, then the viewer's guess next to the answer from the events. */

import { type ReactNode, useEffect, useRef } from 'react';
import { t } from '../base/lang/t.ts';
import { type Answer, answeredBy } from '../derive/prediction.ts';
import type { Prediction } from '../protocol/lesson.ts';
import { off } from '../ui/parts.tsx';
import { Terms } from './terms/terms.tsx';

interface Props {
  readonly prediction: Prediction;
  /** Index of the viewer's choice; null if the viewer has made no choice. */
  readonly guess: number | null;
  /** The answer from the events, once there are enough events, or from the recorded table that the prediction names. */
  readonly answer: Pick<Answer, 'words' | 'choice' | 'by'> | null;
  /** Why the events in view cannot answer the question; empty if they can. */
  readonly unfit: string;
  /** Whether the answer is shown to everybody, including those who made no guess. */
  readonly revealed?: boolean;
  readonly plural: string;
  /** A chart that gives the answer. It is shown above the answer. */
  readonly chart?: ReactNode;
  readonly onGuess: (choice: number) => void;
  readonly onForget: () => void;
}

export function PredictCard(props: Props) {
  const { prediction, guess, plural } = props;
  const answer = props.unfit ? null : props.answer;
  const shown = guess !== null || props.revealed === true;
  const truth = shown && answer !== null ? answer.choice : null;
  const card = useRef<HTMLElement>(null);
  const asked = useRef(guess === null);
  useEffect(() => {
    if (guess !== null && asked.current) {
      card.current?.scrollIntoView?.({ block: 'nearest' });
      // Scroll the first paragraph of the explanation, which follows the card, into view.
      const paragraph = card.current?.nextElementSibling?.firstElementChild;
      paragraph?.scrollIntoView?.({ block: 'nearest' });
      // If the answer and the paragraph do not both fit, keep the answer in view.
      // The explanation's first paragraph then begins below the answer.
      card.current?.lastElementChild?.scrollIntoView?.({ block: 'nearest' });
    }
    asked.current = guess === null;
  }, [guess]);
  return (
    <section ref={card} className="card predict" aria-label={t('Prediction')} data-testid="predict">
      <p className="eyebrow">
        {guess === null
          ? truth === null
            ? t('Before you go on: what do you expect?')
            : t('The answer is shown to everybody')
          : truth === null
            ? t('You expect')
            : truth === guess
              ? t('You expected this answer, and it is right')
              : t('You expected otherwise')}
      </p>
      <p className="predict-question">
        <Terms text={prediction.question} />
      </p>
      <ul>
        {prediction.choices.map((choice, i) => (
          <li key={choice}>
            <button
              type="button"
              className="button choice"
              aria-pressed={guess === i}
              data-truth={truth === i ? '' : undefined}
              onClick={() => props.onGuess(i)}
              {...off(guess !== null && t('You have said what you expect.'))}
            >
              <span>{choice}</span>
              <span className="choice-note">
                {[guess === i ? t('you') : '', truth === i && answer ? answeredBy(answer).who : '']
                  .filter(Boolean)
                  .join(t(' and '))}
              </span>
            </button>
          </li>
        ))}
      </ul>
      {shown && props.chart}
      {(guess !== null || truth !== null) && (
        <p className="small quiet" data-testid="predict-truth" data-volatile>
          {answer === null
            ? props.unfit ||
              t('Now let the run play. The answer comes from the counted {plural}.', { plural })
            : `${answeredBy(answer).how}: ${answer.words} `}
          {answer !== null && guess !== null && !props.revealed && (
            <button type="button" className="link" onClick={props.onForget}>
              {t('ask me again')}
            </button>
          )}
        </p>
      )}
    </section>
  );
}
