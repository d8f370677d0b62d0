// SPDX-License-Identifier: GPL-2.0-or-later
/** A class's report and the words of its lesson, over HTTP. */

import { useEffect, useState } from 'react';
import { inLanguage } from '../base/lang/overlay.ts';
import { t } from '../base/lang/t.ts';
import { either } from '../protocol/check.ts';
import {
  readClassReport,
  readFailureBody,
  readNumbersLesson,
  readPictureLesson,
} from '../protocol/contract.checks.gen.ts';
import type { ClassReport } from '../protocol/contract.gen.ts';
import type { Lesson, NumbersLesson } from '../protocol/lesson.ts';
import type { Words } from './report.ts';

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
    // Something before the server has answered.
  }
  throw new Error(why);
}

/** Without the lesson a report has ids in the place of words. */
async function wordsOf(lesson: string): Promise<Words> {
  try {
    const read = readLesson(await get(`api/lessons/${encodeURIComponent(lesson)}`), 'lesson');
    return read.view === null ? null : inLanguage(read);
  } catch {
    return null;
  }
}

export function useReport(classId: string) {
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
