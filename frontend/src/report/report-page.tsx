// SPDX-License-Identifier: GPL-2.0-or-later
/** `?report=ID`: what a class answered, asked and did not follow. On screen, and on paper. No names. */

import { t } from '../base/lang/t.ts';
import { ThemeButton } from '../panels/top-bar.tsx';
import type { ClassReport } from '../protocol/contract.gen.ts';
import { HomeLink } from '../ui/parts.tsx';
import { dateTag } from '../ui/words.ts';
import { Bars, HeatMap, LostCurve } from './charts.tsx';
import './report.css';
import { barsOf, type ReportQuestion, type Step, stepsOf, textOf, type Words } from './report.ts';
import { Tried } from './tried.tsx';
import { useReport } from './use-report.ts';

export function ReportPage({ classId }: { readonly classId: string }) {
  const { report, words, failed } = useReport(classId);
  return (
    <main className="front report" data-list data-testid="class-report-sheet">
      <HomeLink />
      <header>
        <h1>{report?.title ?? t('Report of a class')}</h1>
        <ThemeButton />
      </header>
      {failed && <p role="alert">{failed}</p>}
      {!failed && report === null && <p role="status">{t('The report is on its way…')}</p>}
      {report !== null && <Sheet {...{ report, words }} />}
    </main>
  );
}

interface Props {
  readonly report: ClassReport;
  readonly words: Words;
}

function Sheet({ report, words }: Props) {
  const { class_id, members, started_at, lasted_s, open } = report;
  const path = `api/classes/${encodeURIComponent(class_id)}/report`;
  const steps = stepsOf(report, words);
  const day = new Date(started_at).toLocaleString(dateTag(), {
    ...{ dateStyle: 'long', timeStyle: 'short' },
  });
  return (
    <>
      <p>
        {t(
          '{day}; {minutes, plural, one {# minute} other {# minutes}}{open, select, yes { so far} other {}}; {members, plural, one {# member} other {# members}}. There are no names in it.',
          {
            ...{ day, minutes: Math.max(1, Math.round(lasted_s / 60)) },
            ...{ open: open ? 'yes' : 'no', members },
          },
        )}
      </p>
      <p className="report-links small">
        <a href={`${path}.csv`} download>
          {t('as a table (CSV)')}
        </a>
        <a href={path} target="_blank" rel="noreferrer">
          {t('as JSON')}
        </a>
        <button type="button" className="button" onClick={() => print()}>
          {t('print')}
        </button>
      </p>
      <section aria-label={t('When the class was lost')}>
        <h2>{t('When the class was lost')}</h2>
        <LostCurve {...{ report, words }} />
      </section>
      {steps.length + report.tries.length === 0 && (
        <p>{t('Nobody has answered or asked anything.')}</p>
      )}
      {steps.map((step) => (
        <StepPart key={step.id} {...{ step, words }} />
      ))}
      <Tried {...{ report, words }} />
      <Asked {...{ report, words }} />
    </>
  );
}

function StepPart({ step, words }: { readonly step: Step; readonly words: Words }) {
  if (step.questions.length === 0 && step.lost === 0) return null;
  return (
    <section aria-label={step.title} data-testid={`report-step-${step.id}`}>
      <h2>{step.title}</h2>
      {step.lost > 0 && (
        <p className="small quiet">
          {t('Somebody was lost here {lost, plural, one {# time} other {# times}}.', {
            lost: step.lost,
          })}
        </p>
      )}
      {step.questions.map((one) => (
        <QuestionPart key={one.question} {...{ one, words }} />
      ))}
    </section>
  );
}

function QuestionPart({ one, words }: { readonly one: ReportQuestion; readonly words: Words }) {
  const marks = one.rounds.flatMap((round) => round.marks);
  return (
    <article className="report-question">
      <h3>{textOf(one, words)}</h3>
      <Bars bars={barsOf(one, words)} rounds={one.rounds} />
      {one.rounds.length > 1 && (
        <p className="small">
          {t(
            '{changed, plural, one {# member} other {# members}} changed the answer between the votes.',
            { changed: one.changed },
          )}
        </p>
      )}
      {marks.length > 0 && <HeatMap marks={marks} />}
    </article>
  );
}

function Asked({ report, words }: Props) {
  if (report.raised.length === 0) return null;
  const title = (id: string) => words?.scenes.find((scene) => scene.id === id)?.title ?? id;
  return (
    <section aria-label={t('Asked by the class')}>
      <h2>{t('Asked by the class')}</h2>
      <ol className="report-asked" data-testid="report-asked">
        {report.raised.map(({ text, step, votes, answered }, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a question has no other name, and none moves
          <li key={i}>
            <b
              className="number"
              title={t('{votes, plural, one {# vote} other {# votes}}', { votes })}
            >
              ▲ {votes}
            </b>
            <div>
              <p>{text}</p>
              <p className="small quiet">
                {[step && title(step), answered && t('answered')].filter(Boolean).join(' · ')}
              </p>
            </div>
          </li>
        ))}
      </ol>
    </section>
  );
}
