// SPDX-License-Identifier: GPL-2.0-or-later
/** `?lab=SLUG&scores=1`: what everybody reached, and the explanations that a person grades. */

import { useEffect, useState } from 'react';
import { t } from '../base/lang/t.ts';
import { ThemeButton } from '../panels/top-bar.tsx';
import type { LabRecord, LabScores } from '../protocol/contract.gen.ts';
import { Grading } from './grading.tsx';
import './labs.css';
import { labApi } from './lab-api.ts';

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
      {!failed && scores === null && <p role="status">{t('The scores are on their way…')}</p>}
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
    // A table wider than a phone is scrolled, by keys as well.
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
