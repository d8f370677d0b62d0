// SPDX-License-Identifier: GPL-2.0-or-later
/** `?lab=SLUG&scores=1`: everybody's points, and the explanations that a person grades. */

import '../labs.css';
import { type FormEvent, useEffect, useState } from 'react';
import { rich, t } from '../../../base/lang/t.ts';
import { ThemeButton } from '../../../panels/top-bar.tsx';
import type {
  LabRecord,
  LabScores,
  PersonRecord,
  RecordedAttempt,
} from '../../../protocol/contract.gen.ts';
import { off } from '../../../ui/parts.tsx';
import { labApi } from '../lab-panel.tsx';

// Explanations, each with the rubric of its task. Ungraded explanations come first.

interface Grade {
  readonly person: string;
  readonly attempt: number;
  readonly points: number;
  readonly comment: string;
}

interface Props {
  readonly record: LabRecord;
  /** The maximum points of each task. */
  readonly most: Readonly<Record<string, number>>;
  readonly onGrade: (grade: Grade) => Promise<void>;
}

function Grading({ record, most, onGrade }: Props) {
  const said = record.people.flatMap((person) =>
    person.attempts
      .filter((attempt) => attempt.answer.text != null)
      .map((attempt) => ({ person, attempt })),
  );
  said.sort((a, b) => Number(a.attempt.grade !== null) - Number(b.attempt.grade !== null));
  const broken = record.people.filter((person) => person.broken !== '');
  return (
    <section aria-label={t('Explanations')}>
      <h2>{t('Explanations')}</h2>
      {broken.map((one) => (
        <p role="alert" key={one.person}>
          {t('The record of {name} has changed since it was stored: {broken}', {
            name: one.name,
            broken: one.broken,
          })}
        </p>
      ))}
      {said.length === 0 && <p>{t('There are no explanations yet.')}</p>}
      {said.map(({ person, attempt }) => (
        <Explanation
          key={`${person.person} ${attempt.number}`}
          {...{ person, attempt, onGrade }}
          rubric={record.rubrics[attempt.task] ?? []}
          most={most[attempt.task] ?? 0}
        />
      ))}
    </section>
  );
}

interface One {
  readonly person: PersonRecord;
  readonly attempt: RecordedAttempt;
  readonly rubric: readonly string[];
  readonly most: number;
  readonly onGrade: (grade: Grade) => Promise<void>;
}

function Explanation({ person, attempt, rubric, most, onGrade }: One) {
  const [points, setPoints] = useState(attempt.grade === null ? '' : String(attempt.grade));
  const [comment, setComment] = useState(attempt.comment);
  const [failed, setFailed] = useState('');
  const given = points.trim() === '' ? Number.NaN : Number(points.replace(',', '.'));
  const fits = given >= 0 && given <= most;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!fits) return;
    setFailed('');
    onGrade({ person: person.person, attempt: attempt.number, points: given, comment }).catch(
      (error: Error) => setFailed(error.message),
    );
  };
  return (
    <form className="lab-grade" onSubmit={submit} data-testid="lab-grade">
      <p>
        {rich('<strong>{name}</strong>, {task}{graded, select, yes {} other { (not graded)}}', {
          strong: (words) => <strong>{words}</strong>,
          ...{ name: person.name, task: attempt.task },
          graded: attempt.grade === null ? 'no' : 'yes',
        })}
      </p>
      <blockquote>{attempt.answer.text}</blockquote>
      <ul className="small">
        {rubric.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
      <label>
        {t('Points, 0 to {most}', { most })}{' '}
        <input inputMode="decimal" value={points} onChange={(e) => setPoints(e.target.value)} />
      </label>
      <label>
        {t('Comment')}
        <input value={comment} maxLength={4000} onChange={(e) => setComment(e.target.value)} />
      </label>
      {failed && <p role="alert">{failed}</p>}
      <button
        type="submit"
        className="button"
        {...off(!fits && t('Type points from 0 to {most} first.', { most }))}
      >
        {t('grade')}
      </button>
    </form>
  );
}

export function ScoresPage({ lab }: { readonly lab: string }) {
  const [scores, setScores] = useState<LabScores | null>(null);
  const [record, setRecord] = useState<LabRecord | null>(null);
  const [failed, setFailed] = useState('');
  useEffect(() => {
    Promise.all([labApi.scores(lab), labApi.record(lab)]).then(
      ([all, answers]) => {
        setScores(all);
        setRecord(answers);
      },
      (error: Error) => setFailed(error.message),
    );
  }, [lab]);
  return (
    <main className="front lab-scores" data-list data-testid="lab-scores">
      <header>
        <h1>{scores?.title ?? t('Lab')}</h1>
        <ThemeButton />
      </header>
      {failed && <p role="alert">{failed}</p>}
      {!failed && scores === null && <p role="status">{t('Loading the scores…')}</p>}
      {scores !== null && <Table scores={scores} />}
      {scores !== null && (
        <p className="small">
          <a href={`api/labs/${encodeURIComponent(lab)}/scores.csv`} download>
            {t('as a table (CSV)')}
          </a>
        </p>
      )}
      {record !== null && (
        <Grading
          record={record}
          most={mostOf(scores)}
          onGrade={async (grade) => {
            setScores(await labApi.grade(lab, grade));
            setRecord(await labApi.record(lab));
          }}
        />
      )}
    </main>
  );
}

function mostOf(scores: LabScores | null): Readonly<Record<string, number>> {
  const tasks = scores?.people[0]?.tasks ?? [];
  return Object.fromEntries(tasks.map((task) => [task.task, task.most]));
}

function Table({ scores }: { readonly scores: LabScores }) {
  const tasks = scores.people[0]?.tasks.map((task) => task.task) ?? [];
  if (tasks.length === 0) return <p>{t('Nobody has answered yet.')}</p>;
  return (
    // If the table is wider than the screen, the viewer can scroll it, also with the keyboard.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to take the keys
    <section className="lab-wide" aria-label={t('Scores')} tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">{t('Name')}</th>
            <th scope="col">{t('Points of {most}', { most: scores.most })}</th>
            {tasks.map((task) => (
              <th scope="col" key={task}>
                {task}
              </th>
            ))}
            <th scope="col">{t('Late')}</th>
          </tr>
        </thead>
        <tbody>
          {scores.people.map((one) => (
            <tr key={one.person}>
              <th scope="row">{one.name}</th>
              <td>{one.points}</td>
              {one.tasks.map((task) => (
                <td key={task.task}>
                  {task.state === 'scored' ? task.points : stateName(task.state)}
                </td>
              ))}
              <td>{one.late || ''}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function stateName(state: 'open' | 'ungraded'): string {
  return state === 'open' ? t('open') : t('ungraded');
}
