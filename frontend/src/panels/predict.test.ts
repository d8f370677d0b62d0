// SPDX-License-Identifier: GPL-2.0-or-later
import { expect, test } from 'vitest';
import { testLesson } from '../../test/fixtures/lesson.ts';
import { type Answers, answeredBy, answersFile, type Pointed } from './predict.ts';

const usual = { also: [], any_lane: false };
const lesson = {
  ...testLesson,
  questions: [
    {
      ask: 'Point at a wait.',
      step: 'ticks',
      kind: 'wait_srcu',
      arm: 'srcu',
      why: 'It sleeps.',
      ...usual,
    },
    {
      ask: 'Point at a check.',
      step: 'ticks',
      kind: 'gp_check',
      arm: 'srcu',
      why: 'It looks.',
      ...usual,
    },
  ],
};
const mark: Pointed = {
  run: 'live-1',
  arm: 'srcu',
  kind: 'gp_check',
  t0_ns: 1,
  t1_ns: 2,
  at: 'now',
};
const nothing: Answers = { guesses: { fewer: 1 }, answered: [] };

test('the file says what was asked, what was pointed at, and tells no answer that was not found', () => {
  const file = JSON.parse(answersFile(lesson, answeredBy(nothing, 1, mark)));
  expect(file.lesson).toBe('02-grace-periods');
  expect(file.questions).toEqual([
    { ask: 'Point at a wait.', answered: false, pointed_at: null, why: null },
    { ask: 'Point at a check.', answered: true, pointed_at: mark, why: 'It looks.' },
  ]);
  expect(file.predictions).toEqual([{ question: 'How many?', guess: 'some' }]);
});

test('the first answer stands', () => {
  const once = answeredBy(nothing, 1, mark);
  expect(answeredBy(once, 1, { ...mark, run: 'live-2' })).toBe(once);
});
