// SPDX-License-Identifier: GPL-2.0-or-later
/** A lesson page that `?lab=SLUG` opened: the tasks stand at its side. */

import { useState } from 'react';
import { t } from '../base/lang/t.ts';
import { siteOf } from '../base/site.ts';
import { frontPage } from '../navigation/place.ts';
import type { Go } from '../navigation/use-navigation.ts';
import type { Answers } from '../panels/predict.ts';
import type { LabTask } from '../protocol/contract.gen.ts';
import type { Lesson } from '../protocol/lesson.ts';
import { useDenied, useJudged, useRun } from '../store/hooks.tsx';
import { readLab } from './address.ts';
import './labs.css';
import { LabPanel } from './lab-panel.tsx';
import type { HandIn } from './task-form.tsx';
import { useLab } from './use-lab.ts';

interface Page {
  readonly lesson: Lesson;
  readonly go: Go;
  readonly answers: Answers;
  readonly questions: { readonly ask: (question: number | null) => void };
}

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
        {now.lab === null && <span role="status">{now.failed || t('The lab is on its way…')}</span>}
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
