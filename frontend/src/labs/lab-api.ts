// SPDX-License-Identifier: GPL-2.0-or-later
/** Calls of labs. Each gives a checked body, or throws a sentence for the viewer. */

import { isEnglish, spoken, t } from '../base/lang/t.ts';
import type { Read } from '../protocol/check.ts';
import {
  readFailureBody,
  readLabRecord,
  readLabScores,
  readLabView,
  readMyLab,
} from '../protocol/contract.checks.gen.ts';
import type {
  AnswerGiven,
  LabRecord,
  LabScores,
  LabView,
  MyLab,
} from '../protocol/contract.gen.ts';

const limitMs = 20_000;

/** Why a call failed, as the server says it. */
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
    // Something before the server has answered.
  }
  throw why;
}

const at = (lab: string, end = '') => `labs/${encodeURIComponent(lab)}${end}`;
/** The server has the texts of the lab in the languages of its lesson. */
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
