// SPDX-License-Identifier: GPL-2.0-or-later
/** Explanations one by one, those without a grade first, each with the rubric of its task. */

import { type FormEvent, useState } from 'react';
import { rich, t } from '../base/lang/t.ts';
import type { LabRecord, PersonRecord, RecordedAttempt } from '../protocol/contract.gen.ts';
import { off } from '../ui/parts.tsx';

interface Grade {
  readonly person: string;
  readonly attempt: number;
  readonly points: number;
  readonly comment: string;
}

interface Props {
  readonly record: LabRecord;
  /** Points of each task. */
  readonly most: Readonly<Record<string, number>>;
  readonly onGrade: (grade: Grade) => Promise<void>;
}

export function Grading({ record, most, onGrade }: Props) {
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
          {t('The record of {name} is not as it was stored: {broken}', {
            name: one.name,
            broken: one.broken,
          })}
        </p>
      ))}
      {said.length === 0 && <p>{t('There are none yet.')}</p>}
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
        {...off(!fits && t('Write points from 0 to {most} first.', { most }))}
      >
        {t('grade')}
      </button>
    </form>
  );
}
