// SPDX-License-Identifier: GPL-2.0-or-later
/** The panel of a lab at the side of its lesson: name, tasks, what they come to. */

import { useState } from 'react';
import { t } from '../base/lang/t.ts';
import type { AnswerGiven, LabTask, LabView, MyLab } from '../protocol/contract.gen.ts';
import { TaskCard } from './task-card.tsx';
import type { HandIn } from './task-form.tsx';
import type { LabNow } from './use-lab.ts';
import { dueWords, points, reached } from './words.ts';

interface Props {
  readonly now: LabNow;
  readonly lab: LabView;
  readonly mine: MyLab;
  /** Why this viewer may not answer; empty: it may. */
  readonly denied: string;
  readonly handIn: (task: LabTask) => HandIn;
  /** Opens the step of a task. */
  readonly onTask: (task: LabTask) => void;
  readonly onClose: () => void;
}

export function LabPanel({ now, lab, mine, denied, handIn, onTask, onClose }: Props) {
  const [open, setOpen] = useState<string | null>(null);
  const [name, setName] = useState('');
  const nameless = mine.name === null && name.trim() === '';
  const blocked = !lab.open
    ? 'over'
    : denied || (nameless ? t('Write your name first.') : now.busy ? t('It is being sent.') : '');
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
          {t('Your name, as whoever grades shall see it')}
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

/** What cannot be taken back takes two clicks. */
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
          ? t('really: they are gone then, and so are the points')
          : t('delete my name and answers in all labs')}
      </button>
    </p>
  );
}
