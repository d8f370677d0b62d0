// SPDX-License-Identifier: GPL-2.0-or-later
/** Questions that the viewer answers by pointing at a mark. */

import { useState } from 'react';
import { t } from '../base/lang/t.ts';
import type { Mark, RunIndex } from '../derive/types.ts';
import { type Answers, answeredBy } from '../panels/predict.ts';
import { pointsAt } from '../playback/hooks.tsx';
import type { Lesson } from '../protocol/lesson.ts';
import { pointedAt } from './marks.ts';

export function useQuestions(
  lesson: Lesson,
  index: RunIndex | null,
  answers: Answers,
  save: (answers: Answers) => void,
  /** Somebody has pointed: at which question, at what, and whether it is right. */
  pointed: (question: number, mark: Mark, right: boolean) => void,
) {
  const [asking, setAsking] = useState<number | null>(null);
  const [said, setSaid] = useState('');
  const ask = (question: number | null) => {
    setSaid('');
    setAsking(question);
  };
  /**
   * Takes a mark as the answer to the question that is asked; false: none is. Whoever has the list open and has not
   * chosen yet wants to answer, and nothing is to cover the picture.
   */
  const point = (mark: Mark, listed: boolean): boolean => {
    const question = asking === null ? undefined : lesson.questions[asking];
    if (listed && asking === null && answers.answered.length < lesson.questions.length) {
      setSaid(t('Choose a question first, then point at its mark.'));
      return true;
    }
    if (!question || asking === null || !index) return false;
    const right = pointsAt(index, mark, question);
    pointed(asking, mark, right);
    if (right) {
      setSaid('');
      save(answeredBy(answers, asking, pointedAt(index, mark)));
      const next = lesson.questions.findIndex(
        (_q, i) => i > asking && !answers.answered.includes(i),
      );
      setAsking(next < 0 ? null : next);
    } else {
      const arm = lesson.arms.find((a) => a.name === mark.arm)?.title ?? mark.arm;
      const { operation } = lesson;
      const kind = mark.table === 'ops' ? operation.name : index.kinds[mark.kind]?.title;
      // What can be pointed at, and is of no kind, has not come to pass.
      const what =
        kind === undefined ? t('Nothing has happened to that') : t('That is “{kind}”', { kind });
      setSaid(t('{what} on {arm}. Look again.', { what, arm }));
    }
    return true;
  };
  return { asking, said, ask, point, drop: () => setAsking(null) };
}
