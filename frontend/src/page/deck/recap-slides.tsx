// SPDX-License-Identifier: GPL-2.0-or-later
/** The end of a class: what is explained in three sentences, and questions, each before and after its answer. */

import { t } from '../../base/lang/t.ts';
import { rightWords } from '../../panels/recap/memory.ts';
import { Terms } from '../../panels/terms/terms.tsx';
import type { Lesson, QuizQuestion } from '../../protocol/lesson.ts';
import { Choices } from './choices.tsx';

export function ExplainSlide({ lesson, revealed }: { lesson: Lesson; revealed: boolean }) {
  const { explain } = lesson;
  if (explain === null) return null;
  return (
    <div className="ask" data-testid="explain">
      <p className="ask-question">
        <Terms text={explain.ask} />
      </p>
      <ol className="ask-choices">
        {explain.ours.map((sentence, i) => (
          <li key={sentence}>
            <div className="ask-choice ask-sentence">
              <b>{i + 1}</b>
              <span className="ask-words">{revealed && <Terms text={sentence} />}</span>
            </div>
          </li>
        ))}
      </ol>
      <p className="ask-answer">
        {revealed
          ? t('Ours, to compare with.')
          : t('In three sentences of your own. The next press shows ours.')}
      </p>
    </div>
  );
}

interface QuizProps {
  readonly lesson: Lesson;
  readonly questions: readonly number[];
  readonly revealed: boolean;
}

export function QuizSlide({ lesson, questions, revealed }: QuizProps) {
  const asked = questions.flatMap((i) => lesson.quiz[i] ?? []);
  const [first] = asked;
  if (first === undefined) return null;
  if (asked.length > 1) return <AllQuestions asked={asked} />;
  const { choices, right, unit } = first;
  const number = choices.length === 0;
  return (
    <div className="ask" data-revealed={revealed ? '' : undefined} data-testid="quiz">
      <p className="ask-question">
        <Terms text={first.ask} />
      </p>
      {number ? (
        <div className="ask-choices">
          <p className="ask-choice ask-number" data-truth={revealed ? '' : undefined}>
            {revealed ? rightWords(first) : `? ${unit}`}
          </p>
        </div>
      ) : (
        <Choices
          id={`${lesson.slug} quiz ${questions[0]}`}
          choices={choices}
          truth={revealed && right !== null ? right - 1 : null}
          by="right"
        />
      )}
      <p className="ask-answer" data-testid="quiz-why">
        {revealed ? (
          <Terms text={first.why} />
        ) : number ? (
          t('Say a number. The next press shows it.')
        ) : (
          t('Hands up: keys 1 to 9 count them. The next press shows the answer.')
        )}
      </p>
    </div>
  );
}

/** On paper. */
function AllQuestions({ asked }: { readonly asked: readonly QuizQuestion[] }) {
  return (
    <ol className="quiz-sheet">
      {asked.map(({ ask, choices, unit }) => (
        <li key={ask}>
          <p>{ask}</p>
          {choices.length === 0 ? (
            <p className="quiz-line">{unit}</p>
          ) : (
            <ul>
              {choices.map((choice) => (
                <li key={choice}>{choice}</li>
              ))}
            </ul>
          )}
        </li>
      ))}
    </ol>
  );
}
