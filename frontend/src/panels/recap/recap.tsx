// SPDX-License-Identifier: GPL-2.0-or-later
/** The end of a lesson: explain it, answer questions, see what was predicted, take a certificate, go on. */

import { useEffect, useMemo, useState } from 'react';
import { rich, t } from '../../base/lang/t.ts';
import type { Lesson } from '../../protocol/lesson.ts';
import { Dialog } from '../../ui/dialog.tsx';
import type { Answers } from '../predict.ts';
import { CertificatePart } from './certificate-part.tsx';
import { ExplainPart } from './explain-part.tsx';
import {
  progressOf,
  type Recap,
  readProgress,
  readRecap,
  writeProgress,
  writeRecap,
} from './memory.ts';
import { PredictedPart } from './predicted-part.tsx';
import { QuizPart } from './quiz-part.tsx';

export interface NextLesson {
  readonly question: string;
  readonly address: string;
}

interface Props {
  readonly lesson: Lesson;
  readonly answers: Answers;
  readonly next: NextLesson | null;
  readonly onStep: (id: string) => void;
  readonly onQuestions: () => void;
  readonly onClose: () => void;
}

/** Whether a lesson ends with one. */
export function hasRecap(lesson: Pick<Lesson, 'explain' | 'quiz'>): boolean {
  return lesson.explain !== null || lesson.quiz.length > 0;
}

export function RecapDialog({ open, ...props }: Props & { readonly open: boolean }) {
  return (
    <Dialog title={t('Recap')} side="wide" open={open} onClose={props.onClose} testId="recap">
      {open && <Parts {...props} />}
    </Dialog>
  );
}

function Parts({ lesson, answers, next, onStep, onQuestions, onClose }: Props) {
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

/** What stands in the last step and opens it. */
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
    t('see what you predicted right'),
  ].filter(Boolean);
  return (
    <section className="card recap-card" aria-label={t('Recap')} data-testid="recap-card">
      <h3>{t('Recap')}</h3>
      <p>{t('To end with: {list}.', { list: parts.join(', ') })}</p>
      <button type="button" className="button" onClick={onOpen} data-testid="open-recap">
        {t('open the recap')}
      </button>
    </section>
  );
}
