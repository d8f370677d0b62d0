// SPDX-License-Identifier: GPL-2.0-or-later
/** End of a lesson: explain it, answer questions, review the predictions, get a certificate, go to the next lesson. */

import { type FormEvent, useEffect, useId, useMemo, useState } from 'react';
import { rich, t } from '../../base/lang/t.ts';
import type { Lesson, QuizQuestion } from '../../protocol/lesson.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { off } from '../../ui/parts.tsx';
import type { Answers } from '../predict.ts';
import {
  cells,
  certificateJson,
  certificateSvg,
  columns,
  honest,
  isRight,
  type Progress,
  progressOf,
  type Recap,
  readProgress,
  readRecap,
  rightWords,
  rows,
  saveFile,
  typedNumber,
  writeProgress,
  writeRecap,
} from './memory.ts';

// The viewer explains the lesson in three sentences, then compares these sentences with the lesson's sentences.

interface ExplainPartProps {
  readonly explain: NonNullable<Lesson['explain']>;
  readonly recap: Recap;
  readonly onRecap: (recap: Recap) => void;
}

const most = 1500;

function ExplainPart({ explain, recap, onRecap }: ExplainPartProps) {
  const { mine, compared } = recap;
  return (
    <section className="recap-part" aria-label={t('Explain it')} data-testid="explain">
      <h3>{t('Explain it in three sentences')}</h3>
      <p id="recap-ask">{explain.ask}</p>
      <div className="explain" data-compared={compared ? '' : undefined}>
        <div>
          {compared && <p className="eyebrow">{t('yours')}</p>}
          <textarea
            aria-labelledby="recap-ask"
            rows={compared ? 10 : 5}
            maxLength={most}
            value={mine}
            placeholder={t('Use your own words. Your text stays in this browser.')}
            onChange={(event) => onRecap({ ...recap, mine: event.target.value })}
            data-testid="mine"
          />
        </div>
        {compared && (
          <div data-testid="ours">
            <p className="eyebrow">{t('ours')}</p>
            <ol>
              {explain.ours.map((sentence) => (
                <li key={sentence}>{sentence}</li>
              ))}
            </ol>
          </div>
        )}
      </div>
      <button
        type="button"
        className="button"
        onClick={() => onRecap({ ...recap, compared: !compared })}
      >
        {compared
          ? t('hide ours')
          : mine.trim()
            ? t('compare with ours')
            : t('show our sentences without writing')}
      </button>
    </section>
  );
}

// Questions at the end of a lesson. Each question accepts one answer, which is judged and explained immediately.

interface QuizPartProps {
  readonly lesson: Pick<Lesson, 'quiz' | 'scenes'>;
  readonly recap: Recap;
  readonly onRecap: (recap: Recap) => void;
  readonly onStep: (id: string) => void;
}

function QuizPart({ lesson, recap, onRecap, onStep }: QuizPartProps) {
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
  /** Title of the step that contains the answer; empty if there is none. */
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
          {t('Type a number, such as 12 or 2.5.')}
        </span>
      )}
    </form>
  );
}

// The viewer's predictions, with the answers from the events.

interface PredictedPartProps {
  readonly lesson: Pick<Lesson, 'predictions' | 'scenes' | 'questions'>;
  readonly answers: Answers;
  readonly onStep: (id: string) => void;
  readonly onQuestions: () => void;
}

function PredictedPart({ lesson, answers, onStep, onQuestions }: PredictedPartProps) {
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
                  rich('Your prediction: <b>{choices}</b>. {truth}', {
                    choices: prediction.choices[guess],
                    b: (words) => <b>{words}</b>,
                    truth:
                      truth === undefined
                        ? t('No run has answered this prediction yet.')
                        : truth === guess
                          ? t('Yes, that is right.')
                          : t('The answer is: {choices}.', { choices: prediction.choices[truth] }),
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

// The viewer's progress in all lessons, as stored in this browser, with buttons that download it.

interface CertificatePartProps {
  readonly all: Readonly<Record<string, Progress>>;
  /** Today's date, in ISO 8601 format. */
  readonly today: string;
}

function CertificatePart({ all, today }: CertificatePartProps) {
  const name = 'kernel-duet-progress';
  return (
    <section className="recap-part" aria-label={t('Certificate')} data-testid="certificate">
      <h3>{t('Certificate of progress')}</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls sideways on a phone, so keys must reach it */}
      <div className="certificate-box" tabIndex={0}>
        <table className="table small">
          <thead>
            <tr>
              <th scope="col">{t('lesson')}</th>
              {columns.map((title) => (
                <th key={title} scope="col">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows(all).map(([slug, one]) => (
              <tr key={slug}>
                <th scope="row">{one.title}</th>
                {cells(one).map((cell, i) => (
                  <td key={columns[i]}>{cell}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p className="small quiet">{honest}</p>
      <p className="certificate-links">
        <button
          type="button"
          className="button"
          onClick={() => saveFile(`${name}.svg`, certificateSvg(all, today), 'image/svg+xml')}
        >
          {t('as a picture (SVG)')}
        </button>
        <button
          type="button"
          className="button"
          onClick={() => saveFile(`${name}.json`, certificateJson(all, today))}
        >
          {t('as JSON')}
        </button>
      </p>
    </section>
  );
}

export interface NextLesson {
  readonly question: string;
  readonly address: string;
}

interface RecapDialogProps {
  readonly lesson: Lesson;
  readonly answers: Answers;
  readonly next: NextLesson | null;
  readonly onStep: (id: string) => void;
  readonly onQuestions: () => void;
  readonly onClose: () => void;
}

export function RecapDialog({ open, ...props }: RecapDialogProps & { readonly open: boolean }) {
  return (
    <Dialog title={t('Recap')} side="wide" open={open} onClose={props.onClose} testId="recap">
      {open && <Parts {...props} />}
    </Dialog>
  );
}

function Parts({ lesson, answers, next, onStep, onQuestions, onClose }: RecapDialogProps) {
  const [recap, setRecap] = useState(() => readRecap(lesson.slug));
  const change = (changed: Recap) => {
    setRecap(changed);
    writeRecap(lesson.slug, changed);
  };
  const leave = (id: string) => {
    onClose();
    onStep(id);
  };
  const today = new Date().toISOString().slice(0, 10);
  const own = useMemo(
    () => progressOf(lesson, answers, recap, today),
    [lesson, answers, recap, today],
  );
  useEffect(() => writeProgress(lesson.slug, own), [lesson.slug, own]);
  const all = { ...readProgress(), [lesson.slug]: own };
  return (
    <div className="recap">
      {lesson.explain && <ExplainPart explain={lesson.explain} recap={recap} onRecap={change} />}
      {lesson.quiz.length > 0 && (
        <QuizPart lesson={lesson} recap={recap} onRecap={change} onStep={leave} />
      )}
      <PredictedPart
        lesson={lesson}
        answers={answers}
        onStep={leave}
        onQuestions={() => {
          onClose();
          onQuestions();
        }}
      />
      <CertificatePart all={all} today={today} />
      {next && (
        <p className="recap-next" data-testid="next-lesson">
          {rich('Next lesson: <a>{question}</a>', {
            question: next.question,
            a: (words) => <a href={next.address}>{words}</a>,
          })}
        </p>
      )}
    </div>
  );
}

/** A card in the last step that opens the recap. */
export function RecapCard({
  lesson,
  onOpen,
}: {
  readonly lesson: Lesson;
  readonly onOpen: () => void;
}) {
  const { explain, quiz } = lesson;
  const parts = [
    explain ? t('explain it in three sentences') : '',
    quiz.length > 0 ? t('answer {quiz} questions', { quiz: quiz.length }) : '',
    t('see which predictions were right'),
  ].filter(Boolean);
  return (
    <section className="card recap-card" aria-label={t('Recap')} data-testid="recap-card">
      <h3>{t('Recap')}</h3>
      <p>{t('Finally: {list}.', { list: parts.join(', ') })}</p>
      <button type="button" className="button" onClick={onOpen} data-testid="open-recap">
        {t('open the recap')}
      </button>
    </section>
  );
}
