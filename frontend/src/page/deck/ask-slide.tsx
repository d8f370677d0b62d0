// SPDX-License-Identifier: GPL-2.0-or-later
/** A prediction on the wall: the first press asks, hands are counted, the second press shows the answer. */

import { t } from '../../base/lang/t.ts';
import { answeredBy } from '../../derive/prediction.ts';
import { Terms } from '../../panels/terms/terms.tsx';
import type { LessonModel } from '../use-lesson-page.ts';
import { notJudged } from '../words.ts';
import { Choices } from './choices.tsx';

interface Props {
  readonly page: LessonModel;
  readonly revealed: boolean;
}

export function AskSlide({ page, revealed }: Props) {
  const { lesson, scene, guess, contended } = page;
  const { prediction } = guess;
  if (prediction === undefined) return null;
  const why = notJudged(lesson, scene, prediction, page.server.run, contended);
  const answer = why === '' ? guess.answer : null;
  const truth = revealed && answer !== null ? answer.choice : null;
  return (
    <div className="ask" data-revealed={truth === null ? undefined : ''} data-testid="ask">
      <p className="ask-question">
        <Terms text={prediction.question} />
      </p>
      <Choices
        id={`${lesson.slug} ${scene.predict}`}
        choices={prediction.choices}
        truth={truth}
        by={answer === null ? '' : answeredBy(answer).who}
      />
      <p className="ask-answer" data-testid="ask-answer" data-volatile>
        {!revealed
          ? t('Hands up: keys 1 to 9 count them. The next press shows what happened.')
          : answer !== null
            ? `${answeredBy(answer).how}: ${answer.words}`
            : why || t('The run on the stage has not counted enough to answer.')}
      </p>
    </div>
  );
}
