// SPDX-License-Identifier: GPL-2.0-or-later
/** A prediction on the wall: the first press asks, hands are counted, the second press shows the answer. */

import { answeredBy } from '../../derive/prediction.ts';
import { Terms } from '../../panels/terms/terms.tsx';
import type { LessonModel } from '../use-lesson-page.ts';
import { notJudged } from '../words.ts';
import { useHands } from './use-hands.ts';

interface Props {
  readonly page: LessonModel;
  readonly revealed: boolean;
}

export function AskSlide({ page, revealed }: Props) {
  const { lesson, scene, guess, contended } = page;
  const { prediction } = guess;
  const choices = prediction?.choices ?? [];
  const { counts, raise } = useHands(`${lesson.slug} ${scene.predict}`, choices.length);
  if (prediction === undefined) return null;
  const why = notJudged(lesson, scene, prediction, page.server.run, contended);
  const answer = why === '' ? guess.answer : null;
  const truth = revealed && answer !== null ? answer.choice : null;
  const hands = counts.reduce((sum, n) => sum + n, 0);
  return (
    <div className="ask" data-revealed={truth === null ? undefined : ''} data-testid="ask">
      <p className="ask-question">
        <Terms text={prediction.question} />
      </p>
      <ol className="ask-choices">
        {choices.map((choice, i) => (
          <li key={choice} data-truth={truth === i ? '' : undefined}>
            <button
              type="button"
              onClick={() => raise(i, 1)}
              title="one hand more (key of its number)"
            >
              <b>{i + 1}</b>
              <span className="ask-words">{choice}</span>
              {truth === i && <span className="ask-truth">{answer && answeredBy(answer).who}</span>}
              {hands > 0 && (
                <span className="ask-hands">
                  <i style={{ width: `${(100 * (counts[i] ?? 0)) / hands}%` }} />
                  <span className="number">{counts[i] ?? 0}</span>
                </span>
              )}
            </button>
            {(counts[i] ?? 0) > 0 && (
              <button
                type="button"
                className="ask-fewer"
                aria-label={`One hand fewer for ${choice}`}
                onClick={() => raise(i, -1)}
              >
                −
              </button>
            )}
          </li>
        ))}
      </ol>
      <p className="ask-answer" data-testid="ask-answer" data-volatile>
        {!revealed
          ? 'Hands up: keys 1 to 9 count them. The next press shows what happened.'
          : answer !== null
            ? `${answeredBy(answer).how}: ${answer.words}`
            : why || 'The run on the stage has not counted enough to answer.'}
      </p>
    </div>
  );
}
