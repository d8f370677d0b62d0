// SPDX-License-Identifier: GPL-2.0-or-later
/** What was predicted, and what the events of a run had to say to it. */

import type { Lesson } from '../../protocol/lesson.ts';
import type { Answers } from '../predict.ts';

interface Props {
  readonly lesson: Pick<Lesson, 'predictions' | 'scenes' | 'questions'>;
  readonly answers: Answers;
  readonly onStep: (id: string) => void;
  readonly onQuestions: () => void;
}

export function PredictedPart({ lesson, answers, onStep, onQuestions }: Props) {
  const asked = lesson.scenes.filter((scene) => scene.predict);
  const { length } = lesson.questions;
  return (
    <section className="recap-part" aria-label="What you predicted" data-testid="predicted">
      <h3>What you predicted</h3>
      <ul className="predicted">
        {asked.map((scene) => {
          const id = scene.predict ?? '';
          const prediction = lesson.predictions[id];
          if (!prediction) return null;
          const guess = answers.guesses[id];
          const truth = answers.truths?.[id];
          return (
            <li key={scene.id}>
              <p>{prediction.question}</p>
              <p className="small">
                {guess === undefined ? (
                  <span className="quiet">Not predicted yet.</span>
                ) : (
                  <>
                    You: <b>{prediction.choices[guess]}</b>.{' '}
                    {truth === undefined
                      ? 'No run has answered it yet.'
                      : truth === guess
                        ? 'So it is.'
                        : `It is: ${prediction.choices[truth]}.`}
                  </>
                )}{' '}
                <button type="button" className="link" onClick={() => onStep(scene.id)}>
                  “{scene.title}”
                </button>
              </p>
            </li>
          );
        })}
      </ul>
      {length > 0 && (
        <p className="small">
          Questions answered by pointing: {answers.answered.length} of {length}.{' '}
          <button type="button" className="link" onClick={onQuestions}>
            point at the marks
          </button>
        </p>
      )}
    </section>
  );
}
