// SPDX-License-Identifier: GPL-2.0-or-later
/** Guesses and answers of this viewer, as state that outlives a reload. */

import { useCallback, useState } from 'react';
import { type Answers, readAnswers, writeAnswers } from './predict.ts';

export function useAnswers(slug: string): readonly [Answers, (answers: Answers) => void] {
  const [answers, setAnswers] = useState(() => readAnswers(slug));
  const save = useCallback(
    (next: Answers) => {
      writeAnswers(slug, next);
      setAnswers(next);
    },
    [slug],
  );
  return [answers, save];
}
