// SPDX-License-Identifier: GPL-2.0-or-later
/** The questions at the end of a lesson: answered once, judged here, explained. */

import { type FormEvent, useId, useState } from 'react';
import { rich, t } from '../../base/lang/t.ts';
import type { Lesson, QuizQuestion } from '../../protocol/lesson.ts';
import { off } from '../../ui/parts.tsx';
import { isRight, rightWords, typedNumber } from './judge.ts';
import type { Recap } from './memory.ts';

interface Props {
  readonly lesson: Pick<Lesson, 'quiz' | 'scenes'>;
  readonly recap: Recap;
  readonly onRecap: (recap: Recap) => void;
  readonly onStep: (id: string) => void;
}

export function QuizPart({ lesson, recap, onRecap, onStep }: Props) {
  const given = lesson.quiz.filter((_q, i) => recap.given[i] !== undefined).length;
  const right = lesson.quiz.filter((one, i) => isRight(one, recap.given[i])).length;
  return (
    <section className="recap-part" aria-label={t('Questions')} data-testid="quiz">
      <h3>{t('{quiz} questions', { quiz: lesson.quiz.length })}</h3>
      <ol className="quiz">
        {lesson.quiz.map((one, i) => (
          <Asked
            key={one.ask}
            question={one}
            given={recap.given[i]}
            title={lesson.scenes.find((scene) => scene.id === one.step)?.title ?? ''}
            onGiven={(value) => onRecap({ ...recap, given: { ...recap.given, [i]: value } })}
            onStep={onStep}
          />
        ))}
      </ol>
      {given > 0 && (
        <p className="small quiet" data-testid="quiz-score">
          {rich('{right} of {given} answered right. <button>start again</button>', {
            right,
            given,
            button: (words) => (
              <button
                type="button"
                className="link"
                onClick={() => onRecap({ ...recap, given: {} })}
              >
                {words}
              </button>
            ),
          })}
        </p>
      )}
    </section>
  );
}

interface AskedProps {
  readonly question: QuizQuestion;
  readonly given: number | undefined;
  /** Of the step that answers it; empty: there is none. */
  readonly title: string;
  readonly onGiven: (value: number) => void;
  readonly onStep: (id: string) => void;
}

function Asked({ question, given, title, onGiven, onStep }: AskedProps) {
  const id = useId();
  const { choices, right, step } = question;
  return (
    <li data-testid="quiz-question">
      <p id={id}>{question.ask}</p>
      {choices.length > 0 ? (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be named by the question above it
        <div role="group" aria-labelledby={id} className="quiz-choices">
          {choices.map((choice, i) => (
            <button
              key={choice}
              type="button"
              className="button choice"
              aria-pressed={given === i + 1}
              data-truth={given !== undefined && right === i + 1 ? '' : undefined}
              onClick={() => onGiven(i + 1)}
              {...off(given !== undefined && answered)}
            >
              {choice}
            </button>
          ))}
        </div>
      ) : (
        <NumberField question={question} given={given} labelled={id} onGiven={onGiven} />
      )}
      <p className="small quiz-why" role="status">
        {given !== undefined && (
          <>
            <b data-right={isRight(question, given) ? '' : undefined}>
              {isRight(question, given)
                ? t('Right.')
                : t('No: {question}.', { question: rightWords(question) })}
            </b>{' '}
            {question.why}{' '}
            {step && title && (
              <button type="button" className="link" onClick={() => onStep(step)}>
                {t('see it in “{title}”', { title })}
              </button>
            )}
          </>
        )}
      </p>
    </li>
  );
}

const answered = t('You have answered this.');

interface FieldProps {
  readonly question: QuizQuestion;
  readonly given: number | undefined;
  readonly labelled: string;
  readonly onGiven: (value: number) => void;
}

function NumberField({ question, given, labelled, onGiven }: FieldProps) {
  const [text, setText] = useState('');
  const [wrong, setWrong] = useState(false);
  const answer = (event: FormEvent) => {
    event.preventDefault();
    const value = typedNumber(text);
    setWrong(value === undefined);
    if (value !== undefined) onGiven(value);
  };
  return (
    <form className="quiz-number" onSubmit={answer}>
      <input
        type="text"
        inputMode="decimal"
        size={8}
        aria-labelledby={labelled}
        aria-invalid={wrong}
        value={given === undefined ? text : given.toLocaleString('en')}
        onChange={(event) => setText(event.target.value)}
        {...off(given !== undefined && answered)}
      />
      <span>{question.unit}</span>
      <button type="submit" className="button" {...off(given !== undefined && answered)}>
        {t('answer')}
      </button>
      {wrong && (
        <span role="alert" className="small">
          {t('Write a number, such as 12 or 2.5.')}
        </span>
      )}
    </form>
  );
}
