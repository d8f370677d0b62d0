// SPDX-License-Identifier: GPL-2.0-or-later
/** The panel of a lab beside its lesson: the student's name, the tasks, and the points. */

import './labs.css';
import { type FormEvent, useCallback, useEffect, useId, useState } from 'react';
import { isEnglish, locale, rich, spoken, t } from '../../base/lang/t.ts';
import { siteOf } from '../../base/site.ts';
import { frontPage } from '../../navigation/place.ts';
import type { Go } from '../../navigation/use-navigation.ts';
import type { Answers } from '../../panels/predict.ts';
import { Inline } from '../../panels/prose.tsx';
import type { LessonNow } from '../../plugins.tsx';
import type { Read } from '../../protocol/check.ts';
import {
  readFailureBody,
  readLabRecord,
  readLabScores,
  readLabView,
  readMyLab,
} from '../../protocol/contract.checks.gen.ts';
import type {
  AnswerGiven,
  LabRecord,
  LabScores,
  LabTask,
  LabView,
  MyLab,
  MyTask,
} from '../../protocol/contract.gen.ts';
import { useDenied, useJudged, useRun } from '../../store/hooks.tsx';
import { HomeLink, off } from '../../ui/parts.tsx';
import { dateTag } from '../../ui/words.ts';
import { readLab } from './address.ts';

// The forms for a task's answer: a choice, a number, a text, a mark, a run, or a verdict.

/** What the viewer can hand in from the current page. */
export interface HandIn {
  /** The mark that answers the lesson's question; null until the viewer has selected a mark. */
  readonly mark: AnswerGiven['mark'];
  readonly onPoint: () => void;
  /** A finished live run of this viewer; null if there is none on the stage. */
  readonly run: string | null;
  /** The arm on which the challenge was judged; null if the challenge was not judged. */
  readonly arm: string | null;
}

interface TaskFormProps {
  readonly task: LabTask;
  readonly with: HandIn;
  /** Why nothing can be sent now; empty if an answer can be sent. */
  readonly blocked: string;
  readonly onAnswer: (answer: AnswerGiven) => Promise<boolean>;
}

export function TaskForm(props: TaskFormProps) {
  const { task } = props;
  if (task.kind === 'predict')
    return task.choices.length > 0 ? <Choose {...props} /> : <Count {...props} />;
  if (task.kind === 'explain') return <Say {...props} />;
  if (task.kind === 'point') return <PointAt {...props} />;
  if (task.kind === 'measure') return <HandInRun {...props} />;
  return <HandInVerdict {...props} />;
}

function Send({ blocked, words }: { readonly blocked: string; readonly words: string }) {
  return (
    <button
      type="submit"
      className="button"
      data-strong=""
      data-testid="lab-send"
      {...off(blocked !== '' && blocked)}
    >
      {words}
    </button>
  );
}

function Choose({ task, blocked, onAnswer }: TaskFormProps) {
  const [choice, setChoice] = useState<number | null>(null);
  const name = useId();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (choice !== null) void onAnswer({ choice });
  };
  return (
    <form className="lab-form" onSubmit={submit}>
      <fieldset>
        <legend className="lab-hidden">{task.title}</legend>
        {task.choices.map((words, i) => (
          <label key={words}>
            <input type="radio" name={name} checked={choice === i} onChange={() => setChoice(i)} />{' '}
            {words}
          </label>
        ))}
      </fieldset>
      <Send
        blocked={blocked || (choice === null ? t('Choose one first.') : '')}
        words={t('send')}
      />
    </form>
  );
}

function Count({ task, blocked, onAnswer }: TaskFormProps) {
  const [text, setText] = useState('');
  const value = text.trim() === '' ? Number.NaN : Number(text.replace(',', '.'));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (Number.isFinite(value)) void onAnswer({ value });
  };
  const none = Number.isFinite(value) ? '' : t('Type a number first.');
  return (
    <form className="lab-form lab-line" onSubmit={submit}>
      <label>
        {task.unit ? t('Number, in {unit}', { unit: task.unit }) : t('Number')}{' '}
        <input inputMode="decimal" value={text} onChange={(e) => setText(e.target.value)} />
      </label>
      <Send blocked={blocked || none} words={t('send')} />
    </form>
  );
}

function Say({ task, blocked, onAnswer }: TaskFormProps) {
  const [text, setText] = useState('');
  const most = task.chars ?? 1200;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void onAnswer({ text }).then((sent) => sent && setText(''));
  };
  return (
    <form className="lab-form" onSubmit={submit}>
      <label>
        {t('Your explanation')}
        <textarea
          rows={6}
          maxLength={most}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      <span className="small quiet">
        {t('{n} of {most} characters. A person grades this text.', { n: text.length, most })}
      </span>
      <Send
        blocked={blocked || (text.trim() === '' ? t('Type something first.') : '')}
        words={t('send')}
      />
    </form>
  );
}

function PointAt({ blocked, onAnswer, with: { mark, onPoint } }: TaskFormProps) {
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (mark != null) void onAnswer({ mark });
  };
  return (
    <form className="lab-form" onSubmit={submit}>
      <button type="button" className="button" onClick={onPoint}>
        {t('point at a mark in the picture')}
      </button>
      <Send
        blocked={blocked || (mark == null ? t('Point at a mark first.') : '')}
        words={t('hand in the mark')}
      />
    </form>
  );
}

function HandInRun({ task, blocked, onAnswer, with: { run } }: TaskFormProps) {
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (run !== null) void onAnswer({ run });
  };
  const none = run === null ? t('Press run, and wait until your run is over.') : '';
  return (
    <form className="lab-form" onSubmit={submit}>
      <ul className="small">
        {task.limits.map((limit) => (
          <li key={limit}>{limit}</li>
        ))}
      </ul>
      <Send blocked={blocked || none} words={t('hand in the run on the stage')} />
    </form>
  );
}

function HandInVerdict({ blocked, onAnswer, with: { arm } }: TaskFormProps) {
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (arm !== null) void onAnswer({ arm });
  };
  const none = arm === null ? t('Change the patch, and let this challenge judge the change.') : '';
  return (
    <form className="lab-form" onSubmit={submit}>
      <Send blocked={blocked || none} words={t('hand in the verdict')} />
    </form>
  );
}

// The points, attempts and dates of a lab, in words. Pure.

/** Format points, for example `1.5`, with the separators of the visitor's language. */
function pointsWords(value: number): string {
  return Number(value.toFixed(2)).toLocaleString(locale());
}

const points = (value: number): string =>
  t('{value, plural, one {# point} other {# points}}', { value: Number(value.toFixed(2)) });

/** Format points and their maximum: `1 of 2 points`. */
function reached(given: number, most: number): string {
  return t('{given} of {most, plural, one {# point} other {# points}}', {
    ...{ given: pointsWords(given), most: Number(most.toFixed(2)) },
  });
}

/** The state of a task's points: `1 of 2 points`, `2 points`, or `to be graded`. */
export function standing(task: LabTask, mine: MyTask): string {
  if (mine.points !== null) return reached(mine.points, task.points);
  if (mine.state === 'ungraded')
    return t('to be graded, {points}', { points: points(task.points) });
  if (mine.state === 'answered') return t('answered, {points}', { points: points(task.points) });
  return points(task.points);
}

export function attemptsLeft(mine: MyTask): string {
  if (mine.left === null) return '';
  return mine.left === 0
    ? t('no attempt left')
    : t('{left, plural, one {# attempt} other {# attempts}} left', { left: mine.left });
}

/** The deadline in the viewer's own time zone. */
export function dueWords(lab: LabView, tag = dateTag()): string {
  if (lab.deadline === null) return t('no deadline');
  const due = new Date(lab.deadline).toLocaleString(tag, {
    dateStyle: 'medium',
    timeStyle: 'short',
  });
  if (!lab.open) return t('was due {due}; now closed', { due });
  return lab.closes !== null && new Date(lab.closes) > new Date(lab.deadline)
    ? t('due {due}, with a grace period', { due })
    : t('due {due}', { due });
}

/** An answer in words. */
export function answerWords(task: LabTask, answer: MyTask['attempts'][number]['answer']): string {
  if (answer.choice != null)
    return task.choices[answer.choice] ?? t('choice {n}', { n: answer.choice + 1 });
  if (answer.value != null) return `${answer.value} ${task.unit}`.trim();
  if (answer.text != null) return answer.text;
  if (answer.mark != null)
    return t('{kind} on {arm}', { kind: answer.mark.kind, arm: answer.mark.arm });
  return answer.arm ?? t('a run');
}

// One task of a lab: its question, a form for the answer, and earlier answers with their results.

interface TaskCardProps {
  readonly task: LabTask;
  readonly mine: MyTask;
  readonly number: number;
  readonly open: boolean;
  readonly onOpen: () => void;
  readonly with: HandIn;
  readonly blocked: string;
  readonly onAnswer: (answer: AnswerGiven) => Promise<boolean>;
}

function TaskCard(props: TaskCardProps) {
  const { task, mine, number, open, onOpen } = props;
  return (
    <li className="lab-task" data-state={mine.state} data-testid={`lab-task-${task.name}`}>
      <button type="button" className="lab-head" aria-expanded={open} onClick={onOpen}>
        <span className="lab-number">{number}</span>
        <span className="lab-title">{task.title}</span>
        <span className="small quiet" data-testid="lab-standing">
          {standing(task, mine)}
        </span>
      </button>
      {open && <Body {...props} />}
    </li>
  );
}

function Body({ task, mine, with: handIn, blocked, onAnswer }: TaskCardProps) {
  const left = attemptsLeft(mine);
  return (
    <div className="lab-body">
      <p>
        <Inline text={task.ask} />
      </p>
      <Attempts task={task} mine={mine} />
      <Feedback mine={mine} />
      {mine.left !== 0 && mine.right === null && blocked !== 'over' && (
        <TaskForm task={task} with={handIn} blocked={blocked} onAnswer={onAnswer} />
      )}
      {left && <p className="small quiet">{left}</p>}
    </div>
  );
}

function Attempts({ task, mine }: { readonly task: LabTask; readonly mine: MyTask }) {
  if (mine.attempts.length === 0) return null;
  return (
    <ol className="lab-attempts small" aria-label={t('Your attempts')}>
      {mine.attempts.map((one) => (
        <li key={one.number}>
          <span className="lab-said">{answerWords(task, one.answer)}</span>
          {one.points !== null &&
            t(' — {given} of {most}', {
              ...{ given: pointsWords(one.points), most: pointsWords(task.points) },
            })}
          {one.found.map((line) => (
            <span key={line} className="quiet lab-found">
              {line}
            </span>
          ))}
          {one.comment && <span className="lab-comment">{one.comment}</span>}
        </li>
      ))}
    </ol>
  );
}

/** The right answer, once it may be shown. */
function Feedback({ mine }: { readonly mine: MyTask }) {
  if (mine.right === null && mine.why === null && mine.rubric.length === 0) return null;
  return (
    <div className="lab-right" data-testid="lab-right">
      {mine.right !== null && (
        <p>
          {rich('Right: <strong>{right}</strong>', {
            right: mine.right,
            strong: (words) => <strong>{words}</strong>,
          })}
        </p>
      )}
      {mine.why !== null && (
        <p>
          <Inline text={mine.why} />
        </p>
      )}
      {mine.rubric.length > 0 && (
        <ul className="small" aria-label={t('What a good explanation contains')}>
          {mine.rubric.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      )}
    </div>
  );
}

// Requests to the labs' API. Each returns the checked response, or throws an error with a sentence for the viewer.

const limitMs = 20_000;

/** Why a request failed, in the server's words. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: string;

  constructor(sentence: string, code = '') {
    super(sentence);
    this.code = code;
  }
}

async function call<T>(read: Read<T>, path: string, method = 'GET', body?: unknown): Promise<T> {
  let answer: Response;
  try {
    answer = await fetch(`api/${path}`, {
      method,
      body: body === undefined ? null : JSON.stringify(body),
      headers: body === undefined ? {} : { 'content-type': 'application/json' },
      signal: AbortSignal.timeout(limitMs),
    });
  } catch {
    throw new Refusal(t('The server does not answer. Try again.'));
  }
  const tree: unknown = await answer.json().catch(() => null);
  if (answer.ok) return read(tree, 'body');
  let why = new Refusal(t('The server refused, and did not say why. Try again.'));
  try {
    const { sentence, remedy, code } = readFailureBody(tree, 'body').error;
    const text = `${sentence} ${remedy}`;
    why = new Refusal(text.charAt(0).toUpperCase() + text.slice(1), code);
  } catch {
    // The HTTP response came from something in front of the server, such as a proxy.
  }
  throw why;
}

const at = (lab: string, end = '') => `labs/${encodeURIComponent(lab)}${end}`;
/** The server translates a lab into the same languages as the lab's lesson. */
const inWords = (lab: string, end = '') =>
  `${at(lab, end)}${isEnglish() ? '' : `?lang=${spoken()}`}`;

export const labApi = {
  view: (lab: string): Promise<LabView> => call(readLabView, inWords(lab)),
  mine: (lab: string): Promise<MyLab> => call(readMyLab, inWords(lab, '/mine')),
  answer: (lab: string, task: string, answer: AnswerGiven, name: string): Promise<MyLab> =>
    call(readMyLab, inWords(lab, '/attempts'), 'POST', { task, answer, name }),
  scores: (lab: string): Promise<LabScores> => call(readLabScores, at(lab, '/scores')),
  record: (lab: string): Promise<LabRecord> => call(readLabRecord, at(lab, '/answers')),
  grade: (
    lab: string,
    grade: { person: string; attempt: number; points: number; comment: string },
  ): Promise<LabScores> => call(readLabScores, at(lab, '/grades'), 'POST', grade),
  forgetMe: (): Promise<unknown> => call((value) => value, 'people/me', 'DELETE'),
};

// A lab and this viewer's progress in it, from the server.

interface LabNow {
  readonly lab: LabView | null;
  readonly mine: MyLab | null;
  /** Why a request failed, as a sentence; empty if no request failed. */
  readonly failed: string;
  readonly busy: boolean;
  readonly answer: (task: string, answer: AnswerGiven, name: string) => Promise<boolean>;
  readonly forget: () => Promise<void>;
}

const words = (error: unknown) => (error instanceof Error ? error.message : String(error));

function useLab(slug: string): LabNow {
  const [lab, setLab] = useState<LabView | null>(null);
  const [mine, setMine] = useState<MyLab | null>(null);
  const [failed, setFailed] = useState('');
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    let gone = false;
    Promise.all([labApi.view(slug), labApi.mine(slug)]).then(
      ([view, own]) => {
        if (gone) return;
        setLab(view);
        setMine(own);
      },
      (error: unknown) => !gone && setFailed(words(error)),
    );
    return () => {
      gone = true;
    };
  }, [slug]);
  const doing = useCallback(async (work: () => Promise<MyLab>): Promise<boolean> => {
    setBusy(true);
    setFailed('');
    try {
      setMine(await work());
      return true;
    } catch (error) {
      setFailed(words(error));
      return false;
    } finally {
      setBusy(false);
    }
  }, []);
  const answer = useCallback(
    (task: string, given: AnswerGiven, name: string) =>
      doing(() => labApi.answer(slug, task, given, name)),
    [doing, slug],
  );
  const forget = useCallback(async () => {
    await doing(async () => {
      await labApi.forgetMe();
      return labApi.mine(slug);
    });
  }, [doing, slug]);
  return { lab, mine, failed, busy, answer, forget };
}

interface LabPanelProps {
  readonly now: LabNow;
  readonly lab: LabView;
  readonly mine: MyLab;
  /** Why this viewer may not answer; empty if the viewer may answer. */
  readonly denied: string;
  readonly handIn: (task: LabTask) => HandIn;
  /** Opens the step of a task. */
  readonly onTask: (task: LabTask) => void;
  readonly onClose: () => void;
}

function LabPanel({ now, lab, mine, denied, handIn, onTask, onClose }: LabPanelProps) {
  const [open, setOpen] = useState<string | null>(null);
  const [name, setName] = useState('');
  const nameless = mine.name === null && name.trim() === '';
  const blocked = !lab.open
    ? 'over'
    : denied ||
      (nameless ? t('Type your name first.') : now.busy ? t('Your answer is being sent.') : '');
  const answer = (task: LabTask) => (given: AnswerGiven) => now.answer(task.name, given, name);
  return (
    <aside
      className="class-panel lab-panel"
      aria-label={t('Lab')}
      data-testid="lab-panel"
      onKeyDown={(event) => {
        if (event.key === 'Escape') onClose();
      }}
    >
      <header>
        <h2>{lab.title}</h2>
        <button type="button" className="button" onClick={onClose}>
          {t('close')}
        </button>
      </header>
      {lab.intro && <p className="small">{lab.intro}</p>}
      <p className="small quiet" data-testid="lab-sum">
        {t('{points}, {due}.', {
          points: mine.points === null ? points(lab.points) : reached(mine.points, lab.points),
          due: dueWords(lab),
        })}
      </p>
      {mine.name === null ? (
        <label className="lab-name">
          {t('Your name, as shown to the person who grades')}
          <input
            value={name}
            maxLength={60}
            autoComplete="name"
            onChange={(event) => setName(event.target.value)}
          />
        </label>
      ) : (
        <p className="small quiet">{t('You are {name} here.', { name: mine.name })}</p>
      )}
      {now.failed && (
        <p role="alert" className="small">
          {now.failed}
        </p>
      )}
      <ol className="lab-tasks">
        {lab.tasks.map((task, i) => (
          <TaskCard
            key={task.name}
            task={task}
            mine={mine.tasks[i]!}
            number={i + 1}
            open={open === task.name}
            onOpen={() => {
              setOpen(open === task.name ? null : task.name);
              if (open !== task.name) onTask(task);
            }}
            with={handIn(task)}
            blocked={blocked}
            onAnswer={answer(task)}
          />
        ))}
      </ol>
      {mine.name !== null && <Forget onForget={now.forget} />}
    </aside>
  );
}

/** An action that cannot be undone takes two clicks. */
function Forget({ onForget }: { readonly onForget: () => Promise<void> }) {
  const [asked, setAsked] = useState(false);
  return (
    <p className="small">
      <button
        type="button"
        className="link"
        onClick={() => (asked ? void onForget().then(() => setAsked(false)) : setAsked(true))}
        onBlur={() => setAsked(false)}
        data-testid="lab-forget"
      >
        {asked
          ? t('really delete: answers and points cannot be restored')
          : t('delete my name and answers in all labs')}
      </button>
    </p>
  );
}

// A lesson page that was opened with `?lab=SLUG`, with the tasks at its side.

type Page = Pick<LessonNow, 'lesson' | 'go' | 'answers' | 'questions'>;

export function LabArea({ page }: { readonly page: Page }) {
  const address = readLab(location.search);
  if (address === null || siteOf() !== null) return null;
  return <Lab key={address.lab} slug={address.lab} page={page} />;
}

function Lab({ slug, page }: { readonly slug: string; readonly page: Page }) {
  const now = useLab(slug);
  const [open, setOpen] = useState(true);
  const denied = useDenied('answer');
  const run = useRun();
  const judged = useJudged();
  const { lesson, go, answers, questions } = page;
  const handIn = (task: LabTask): HandIn => {
    const mark = task.question === null ? undefined : answers.marks?.[task.question - 1];
    const over = run?.source === 'live' && (run.phase === 'done' || run.phase === 'stopped');
    const decided =
      judged?.phase === 'done' &&
      judged.lesson === task.lesson &&
      judged.challenge === task.challenge;
    return {
      mark: mark === undefined ? null : markOf(mark),
      onPoint: () => {
        go({ step: task.step, panes: ['questions'] });
        questions.ask(task.question === null ? null : task.question - 1);
      },
      run: over && run.lesson === task.lesson ? run.run_id : null,
      arm: decided ? judged.arm : null,
    };
  };
  const onTask = (task: LabTask) => {
    if (task.lesson !== lesson.slug) go({ ...frontPage, lesson: task.lesson, step: task.step });
    else if (task.step !== null) go({ step: task.step });
  };
  return (
    <>
      <div className="lab-bar" data-testid="lab-bar">
        <strong>{now.lab?.title ?? t('Lab')}</strong>
        {now.lab === null && <span role="status">{now.failed || t('Loading the lab…')}</span>}
        {now.lab !== null && (
          <button
            type="button"
            className="button"
            aria-expanded={open}
            onClick={() => setOpen(!open)}
          >
            {t('tasks')}
          </button>
        )}
      </div>
      {open && now.lab !== null && now.mine !== null && (
        <LabPanel
          {...{ now, denied, handIn, onTask }}
          lab={now.lab}
          mine={now.mine}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  );
}

function markOf({ run, arm, kind, t0_ns, t1_ns }: NonNullable<Answers['marks']>[number]) {
  return { run, arm, kind, t0_ns, t1_ns };
}

// `?lab=SLUG` without a lesson opens the lesson of the lab's first task.

export function LabGate({ lab, go }: { readonly lab: string; readonly go: Go }) {
  const [failed, setFailed] = useState('');
  useEffect(() => {
    labApi.view(lab).then(
      ({ tasks: [first] }) => {
        if (first) go({ lesson: first.lesson, step: first.step }, 'replace');
      },
      (error: Error) => setFailed(error.message),
    );
  }, [lab, go]);
  return (
    <main className="front" data-testid="lab-gate">
      <header>
        <HomeLink />
      </header>
      <p className="lead" role={failed ? 'alert' : 'status'}>
        {failed || t('Loading the lab…')}
      </p>
    </main>
  );
}
