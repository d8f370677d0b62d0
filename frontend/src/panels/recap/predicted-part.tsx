// SPDX-License-Identifier: GPL-2.0-or-later
/** What was predicted, and what the events of a run had to say to it. */

import { rich, t } from '../../base/lang/t.ts';
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
    <section className="recap-part" aria-label={t('What you predicted')} data-testid="predicted">
      <h3>{t('What you predicted')}</h3>
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
                  <span className="quiet">{t('Not predicted yet.')}</span>
                ) : (
                  rich('You: <b>{choices}</b>. {truth}', {
                    choices: prediction.choices[guess],
                    b: (words) => <b>{words}</b>,
                    truth:
                      truth === undefined
                        ? t('No run has answered it yet.')
                        : truth === guess
                          ? t('So it is.')
                          : t('It is: {choices}.', { choices: prediction.choices[truth] }),
                  })
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
          {rich(
            'Questions answered by pointing: {answered} of {length}. <button>point at the marks</button>',
            {
              answered: answers.answered.length,
              length,
              button: (words) => (
                <button type="button" className="link" onClick={onQuestions}>
                  {words}
                </button>
              ),
            },
          )}
        </p>
      )}
    </section>
  );
}
