// SPDX-License-Identifier: GPL-2.0-or-later
/** How a task is answered: a choice, a number, a text, a mark, a run, or a verdict. */

import { type FormEvent, useId, useState } from 'react';
import { t } from '../base/lang/t.ts';
import type { AnswerGiven, LabTask } from '../protocol/contract.gen.ts';
import { off } from '../ui/parts.tsx';

/** What the page has that can be handed in. */
export interface HandIn {
  /** The mark that answered the lesson's question; null: none has yet. */
  readonly mark: AnswerGiven['mark'];
  readonly onPoint: () => void;
  /** A live run of this viewer that is over; null: there is none on the stage. */
  readonly run: string | null;
  /** The arm that the challenge's judge has decided about; null: none. */
  readonly arm: string | null;
}

interface Props {
  readonly task: LabTask;
  readonly with: HandIn;
  /** Why nothing can be sent now; empty: it can. */
  readonly blocked: string;
  readonly onAnswer: (answer: AnswerGiven) => Promise<boolean>;
}

export function TaskForm(props: Props) {
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

function Choose({ task, blocked, onAnswer }: Props) {
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

function Count({ task, blocked, onAnswer }: Props) {
  const [text, setText] = useState('');
  const value = text.trim() === '' ? Number.NaN : Number(text.replace(',', '.'));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (Number.isFinite(value)) void onAnswer({ value });
  };
  const none = Number.isFinite(value) ? '' : t('Write a number first.');
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

function Say({ task, blocked, onAnswer }: Props) {
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
        {t('{n} of {most} characters. A person grades it.', { n: text.length, most })}
      </span>
      <Send
        blocked={blocked || (text.trim() === '' ? t('Write something first.') : '')}
        words={t('send')}
      />
    </form>
  );
}

function PointAt({ blocked, onAnswer, with: { mark, onPoint } }: Props) {
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (mark != null) void onAnswer({ mark });
  };
  return (
    <form className="lab-form" onSubmit={submit}>
      <button type="button" className="button" onClick={onPoint}>
        {t('point at it in the picture')}
      </button>
      <Send
        blocked={blocked || (mark == null ? t('Point at a mark first.') : '')}
        words={t('hand in the mark')}
      />
    </form>
  );
}

function HandInRun({ task, blocked, onAnswer, with: { run } }: Props) {
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

function HandInVerdict({ blocked, onAnswer, with: { arm } }: Props) {
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (arm !== null) void onAnswer({ arm });
  };
  const none = arm === null ? t('Change the patch, and let it be judged by this challenge.') : '';
  return (
    <form className="lab-form" onSubmit={submit}>
      <Send blocked={blocked || none} words={t('hand in the verdict')} />
    </form>
  );
}
