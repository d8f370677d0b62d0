// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * `?report=ID`: the report of a class, for screen and print. The report contains answers, questions, and the steps at
 * which members were lost, but no names.
 */

import './report.css';
import { useEffect, useState } from 'react';
import { inLanguage } from '../../../base/lang/overlay.ts';
import { t } from '../../../base/lang/t.ts';
import { formatFigure } from '../../../base/units.ts';
import { ThemeButton } from '../../../panels/top-bar.tsx';
import { either } from '../../../protocol/check.ts';
import {
  readClassReport,
  readFailureBody,
  readNumbersLesson,
  readPictureLesson,
} from '../../../protocol/contract.checks.gen.ts';
import type { ClassReport } from '../../../protocol/contract.gen.ts';
import type { Lesson, NumbersLesson } from '../../../protocol/lesson.ts';
import { HeadRow, HomeLink } from '../../../ui/parts.tsx';
import { dateTag } from '../../../ui/words.ts';
import { heatOf, pointOf } from '../pointing.tsx';
import { changedWords } from '../tries.ts';

// The report of a class in the order of the lesson's steps, with the lesson's texts. Pure.

type ReportQuestion = ClassReport['questions'][number];
type ReportRound = ReportQuestion['rounds'][number];
export type Raised = ClassReport['raised'][number];

/** The parts of the lesson that the report needs; null if the server no longer has the lesson. */
type Words = Pick<Lesson, 'scenes' | 'predictions' | 'questions' | 'params' | 'arms'> | null;

interface Step {
  readonly id: string;
  readonly title: string;
  readonly questions: readonly ReportQuestion[];
  readonly raised: readonly Raised[];
  /** Number of times that members said they were lost while the class was at this step. */
  readonly lost: number;
}

function titleOf(words: Words, step: string): string {
  if (step === '') return t('Polls');
  return words?.scenes.find(({ id }) => id === step)?.title ?? step;
}

/** Steps with any data: first in the lesson's order, then steps that this lesson lacks, and finally polls. */
export function stepsOf(report: ClassReport, words: Words): readonly Step[] {
  const known = words?.scenes.map(({ id }) => id) ?? [];
  const named = [...report.questions, ...report.raised, ...report.lost].map(({ step }) => step);
  const others = named.filter((step) => step !== '' && !known.includes(step));
  return [...new Set([...known, ...others, ''])]
    .map((id) => ({
      id,
      title: titleOf(words, id),
      questions: report.questions.filter(({ step, rounds }) => step === id && rounds.length > 0),
      raised: report.raised.filter(({ step }) => step === id),
      lost: report.lost.reduce(
        (sum, { step, count }) => sum + (id !== '' && step === id ? count : 0),
        0,
      ),
    }))
    .filter(({ questions, raised, lost }) => questions.length + raised.length + lost > 0);
}

export function textOf({ text, question }: ReportQuestion, words: Words): string {
  if (text !== '' || words === null) return text || question;
  const point = pointOf(words, question);
  const asked = point === null ? undefined : words.questions[point]?.ask;
  return words.predictions[question]?.question ?? asked ?? question;
}

interface Bar {
  readonly label: string;
  /** Number of answers in each round, in the order of the rounds. */
  readonly counts: readonly number[];
}

/** A bar for each option, including options that nobody chose, and for each number that was given as an answer. */
export function barsOf(of: ReportQuestion, words: Words): readonly Bar[] {
  const options =
    of.options.length > 0 ? of.options : (words?.predictions[of.question]?.choices ?? []);
  const given = of.rounds.flatMap(({ counts }) => Object.keys(counts));
  const others = [...new Set(given)].filter((key) => options[Number(key)] === undefined);
  const counts = (key: string) => of.rounds.map((round) => round.counts[key] ?? 0);
  return [
    ...options.map((label, i) => ({ label, counts: counts(String(i)) })),
    ...others.map((key) => ({ label: key, counts: counts(key) })),
  ];
}

/** A caption such as `12 answers, 5 judged right`. Members' pages judge the answers if they know the right answer. */
export function roundWords({ round, answers, right }: ReportRound, several: boolean): string {
  return t(
    '{several, select, yes {Round {round}: } other {}}{answers, plural, one {# answer} other {# answers}}{right, select, unknown {} other {, {right} judged right}}',
    { several: several ? 'yes' : 'no', round, answers, right: right ?? 'unknown' },
  );
}

export interface Bin {
  /** Time since the class began, s. */
  readonly from: number;
  readonly count: number;
  /** Step of the ten-second bucket that has the highest count in this interval. */
  readonly step: string;
}

const mostBins = 120;
const bucketS = 10;

/** Number of times that members said they were lost, over time, in at most `mostBins` bins. */
export function binsOf(lost: ClassReport['lost'], lastedS: number) {
  const whole = Math.max(lastedS, ...lost.map(({ at_s }) => at_s + bucketS), bucketS);
  const width = bucketS * Math.ceil(whole / bucketS / mostBins);
  const bins: Bin[] = Array.from({ length: Math.ceil(whole / width) }, (_, i) => {
    const from = i * width;
    const here = lost.filter(({ at_s }) => at_s >= from && at_s < from + width);
    const step = here.toSorted((a, b) => b.count - a.count)[0]?.step ?? '';
    return { from, count: here.reduce((sum, { count }) => sum + count, 0), step };
  });
  return { bins, width, whole: bins.length * width };
}

/** Format the time since the class began as minutes and seconds: `1:05`. */
function clockOf(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`;
}

// Charts of a report: answers in each round, where the class pointed, and when members said they were lost.

interface BarsProps {
  readonly bars: readonly Bar[];
  readonly rounds: readonly ReportRound[];
}

export function Bars({ bars, rounds }: BarsProps) {
  const heads = rounds.map((round) => roundWords(round, rounds.length > 1));
  if (bars.length === 0) return <p className="small quiet">{heads.join('; ')}</p>;
  return (
    <table className="report-bars">
      <HeadRow heads={[t('answer'), ...heads]} />
      <tbody>
        {bars.map(({ label, counts }) => (
          <tr key={label}>
            <th scope="row">{label}</th>
            {counts.map((count, i) => (
              <td key={rounds[i]!.round}>
                <span className="report-bar">
                  <span className="report-track">
                    <span
                      style={{ width: `${(100 * count) / Math.max(1, rounds[i]!.answers)}%` }}
                    />
                  </span>
                  <span className="number">{count}</span>
                </span>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Size of the frame; a lesson's picture is about twice as wide as it is high. */
const frame = { width: 480, height: 240 };

/** Where members pointed first; positions are fractions of the picture's width and height. */
export function HeatMap({ marks }: { readonly marks: readonly (readonly number[])[] }) {
  const cells = heatOf(marks.map(([x, y]) => ({ x: x ?? 0.5, y: y ?? 0.5 })));
  const top = Math.max(1, ...cells.map(({ count }) => count));
  const words = t('{n} pointed into the picture; at most {top} at one place.', {
    n: marks.length,
    top,
  });
  return (
    <figure className="report-heat">
      <svg viewBox={`0 0 ${frame.width} ${frame.height}`} role="img" aria-label={words}>
        <rect className="report-frame" width={frame.width} height={frame.height} />
        {cells.map(({ x, y, count }) => (
          <g key={`${x} ${y}`}>
            <circle
              cx={x * frame.width}
              cy={y * frame.height}
              r={7 + 15 * Math.sqrt(count / top)}
            />
            {count > 1 && (
              <text x={x * frame.width} y={y * frame.height} dy="0.35em">
                {count}
              </text>
            )}
          </g>
        ))}
      </svg>
      <figcaption className="small quiet">
        {t(
          '{words} The frame stands for the picture of the lanes: time runs from left to right, and the first lane is at the top.',
          { words },
        )}
      </figcaption>
    </figure>
  );
}

const chart = { width: 960, height: 120 };

export function LostCurve({ report, words }: { report: ClassReport; words: Words }) {
  const { bins, width, whole } = binsOf(report.lost, report.lasted_s);
  const all = report.lost.reduce((sum, { count }) => sum + count, 0);
  if (all === 0) return <p>{t('Nobody said that they were lost.')}</p>;
  const most = Math.max(...bins.map(({ count }) => count));
  const peaks = bins
    .filter(({ count }) => count > 0)
    .toSorted((a, b) => b.count - a.count)
    .slice(0, 3);
  const at = (seconds: number) => (seconds / whole) * chart.width;
  return (
    <figure className="report-lost">
      <svg
        viewBox={`0 0 ${chart.width} ${chart.height}`}
        role="img"
        aria-label={t('When members said that they were lost: {all} times in {length} minutes', {
          all,
          length: clockOf(whole),
        })}
        data-testid="report-lost"
      >
        {bins.map(({ from, count }) => (
          <rect
            key={from}
            x={at(from)}
            y={chart.height * (1 - count / most)}
            width={Math.max(1, at(width) - 1)}
            height={chart.height * (count / most)}
          />
        ))}
      </svg>
      <div className="report-axis small number">
        {[0, 0.25, 0.5, 0.75, 1].map((part) => (
          <span key={part}>{clockOf(part * whole)}</span>
        ))}
      </div>
      <figcaption>
        {peaks.map(({ from, count, step }) => (
          <span key={from}>
            {step
              ? t('At {from}, in “{step}”: {count}.', {
                  ...{ from: clockOf(from), step: titleOf(words, step), count },
                })
              : t('At {from}: {count}.', { from: clockOf(from), count })}{' '}
          </span>
        ))}
        <span className="quiet">
          {t('Minutes since the class began. Each member counts at most once in ten seconds.')}
        </span>
      </figcaption>
    </figure>
  );
}

// The runs that a class tried, each with one number.

type Try = ClassReport['tries'][number];

/** A table with a row per run; a failed run states why it failed. Renders nothing if there were no runs. */
export function Tried({ report, words }: { report: ClassReport; words: Words }) {
  if (report.tries.length === 0) return null;
  return (
    <section aria-label={t('What the class tried')}>
      <h2>{t('What the class tried')}</h2>
      <table className="report-bars" data-testid="report-tried">
        <HeadRow heads={[t('what'), t('in the step'), t('requested by'), t('result')]} />
        <tbody>
          {report.tries.map((one) => (
            <tr key={one.number}>
              <th scope="row">{changedWords(one, { params: words?.params ?? {} })}</th>
              <td>{titleOf(words, one.step)}</td>
              <td className="number">
                {t('{makers, plural, one {# member} other {# members}}', { makers: one.makers })}
              </td>
              <td className="number">{resultOf(one, words)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="small quiet">
        {t(
          'Each number comes from a single traced run, so it explains something but proves nothing.',
        )}
      </p>
    </section>
  );
}

/** A run's result, such as "rwsem 900, SRCU 180 umounts/s, ×0.2"; for a run without a number, how it ended. */
export function resultOf(one: Try, words: Words): string {
  const names = new Map(words?.arms.map(({ name, title }) => [name, title]));
  const lanes = Object.entries(one.values).map(
    ([arm, value]) => `${names.get(arm) ?? arm} ${formatFigure(value)}`,
  );
  if (lanes.length === 0) return one.sentence || one.state;
  const ratio = one.ratio === null ? '' : `, ×${formatFigure(one.ratio)}`;
  return `${lanes.join(', ')} ${one.unit}${ratio}`;
}

// Fetches a class's report and its lesson's texts over HTTP.

const limitMs = 20_000;
const readLesson = either<Lesson, NumbersLesson>(readPictureLesson, readNumbersLesson);

async function get(path: string): Promise<unknown> {
  let answer: Response;
  try {
    answer = await fetch(path, { signal: AbortSignal.timeout(limitMs) });
  } catch {
    throw new Error(t('The server does not answer. Reload the page.'));
  }
  const tree: unknown = await answer.json().catch(() => null);
  if (answer.ok) return tree;
  let why = t('The server refused, and did not say why. Reload the page.');
  try {
    const { sentence, remedy } = readFailureBody(tree, 'body').error;
    why = `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)} ${remedy}`;
  } catch {
    // The HTTP response came from something in front of the server, such as a proxy.
  }
  throw new Error(why);
}

/** Texts of the lesson; null if they are unavailable, and the report then shows ids instead. */
async function wordsOf(lesson: string): Promise<Words> {
  try {
    const read = readLesson(await get(`api/lessons/${encodeURIComponent(lesson)}`), 'lesson');
    return read.view === null ? null : inLanguage(read);
  } catch {
    return null;
  }
}

function useReport(classId: string) {
  const [report, setReport] = useState<ClassReport | null>(null);
  const [words, setWords] = useState<Words>(null);
  const [failed, setFailed] = useState('');
  useEffect(() => {
    let stopped = false;
    const load = async () => {
      const tree = await get(`api/classes/${encodeURIComponent(classId)}/report`);
      const read = readClassReport(tree, 'report');
      const lesson = await wordsOf(read.lesson);
      if (stopped) return;
      setWords(lesson);
      setReport(read);
    };
    load().catch((error: Error) => {
      if (!stopped) setFailed(error.message);
    });
    return () => {
      stopped = true;
    };
  }, [classId]);
  return { report, words, failed };
}

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
      {!failed && report === null && <p role="status">{t('Loading the report…')}</p>}
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
          '{day}; {minutes, plural, one {# minute} other {# minutes}}{open, select, yes { so far} other {}}; {members, plural, one {# member} other {# members}}. The report contains no names.',
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
          {t('Members said “I am lost” here {lost, plural, one {# time} other {# times}}.', {
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
            '{changed, plural, one {# member} other {# members}} changed their answer between the two votes.',
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
