// SPDX-License-Identifier: GPL-2.0-or-later
// @vitest-environment happy-dom

import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, describe, expect, it, test } from 'vitest';
import { frontPage, writePlace } from '../../navigation/place.ts';
import type { AnswerGiven, LabTask, LabView, MyTask } from '../../protocol/contract.gen.ts';
import { readLab } from './address.ts';
import {
  answerWords,
  attemptsLeft,
  dueWords,
  type HandIn,
  standing,
  TaskForm,
} from './lab-panel.tsx';

describe('task form', () => {
  // SPDX-License-Identifier: GPL-2.0-or-later

  afterEach(cleanup);
  const plain: LabTask = {
    ...{ name: 'one', kind: 'predict', title: 'One', lesson: '02-grace-periods', step: null },
    ...{ ask: 'Which?', choices: ['few', 'many'], unit: '', chars: null, limits: [] },
    ...{ question: null, challenge: null, points: 1, attempts: null, feedback: 'now' },
  };
  const nothing: HandIn = { mark: null, onPoint: () => {}, run: null, arm: null };

  function form(task: Partial<LabTask>, handIn: Partial<HandIn> = {}, blocked = '') {
    const sent: AnswerGiven[] = [];
    render(
      <TaskForm
        task={{ ...plain, ...task }}
        with={{ ...nothing, ...handIn }}
        blocked={blocked}
        onAnswer={(answer) => {
          sent.push(answer);
          return Promise.resolve(true);
        }}
      />,
    );
    return { sent, send: screen.getByTestId('lab-send') as HTMLButtonElement };
  }

  it('sends a choice once one is made', () => {
    const { sent, send } = form({});
    expect(send.disabled).toBe(true);
    fireEvent.click(screen.getByLabelText('many'));
    fireEvent.click(send);
    expect(sent).toEqual([{ choice: 1 }]);
  });

  it('takes a number with a comma, and no other text', () => {
    const { sent, send } = form({ choices: [], unit: 'ms' });
    const field = screen.getByLabelText(/Number, in ms/);
    fireEvent.change(field, { target: { value: 'ten' } });
    expect(send.disabled).toBe(true);
    fireEvent.change(field, { target: { value: '1,5' } });
    fireEvent.click(send);
    expect(sent).toEqual([{ value: 1.5 }]);
  });

  it.each([
    ['measure', { run: 'kept:a:b' }, { run: 'kept:a:b' }],
    ['challenge', { arm: 'own-a-0123456789' }, { arm: 'own-a-0123456789' }],
  ] as const)('of a %s task hands in what the page has, and nothing else', (kind, has, answer) => {
    const limits = ['umounts of SRCU: at least 0.5 of rwsem'];
    expect(form({ kind, limits }).send.disabled).toBe(true);
    cleanup();
    const { sent, send } = form({ kind, limits }, has);
    fireEvent.click(send);
    expect(sent).toEqual([answer]);
  });

  it('sends nothing while it is blocked, and says why', () => {
    const { send } = form({}, {}, 'Type your name first.');
    fireEvent.click(screen.getByLabelText('few'));
    expect(send.disabled).toBe(true);
    expect(send.title).toBe('Type your name first.');
  });
});

describe('lab', () => {
  const task = { points: 2, choices: ['few', 'many'], unit: 'ms' } as unknown as LabTask;
  const mine = { points: null, state: 'open', left: null } as unknown as MyTask;

  test('a lab stays in the address while one is in a lesson, and goes with it', () => {
    const lesson = { ...frontPage, lesson: '02-grace-periods' };
    expect(readLab(writePlace(lesson, '?lab=02-grace-periods'))?.lab).toBe('02-grace-periods');
    expect(readLab(writePlace(frontPage, '?lab=02-grace-periods&scores=1'))).toBeNull();
    expect(readLab('?lab=Not%20One')).toBeNull();
    expect(readLab('?lab=a&scores=1')).toEqual({ lab: 'a', scores: true });
  });

  test('how a task stands says what is reached, or what it is still waiting for', () => {
    expect(standing(task, mine)).toBe('2 points');
    expect(standing(task, { ...mine, state: 'ungraded' })).toBe('to be graded, 2 points');
    expect(standing(task, { ...mine, state: 'answered' })).toBe('answered, 2 points');
    expect(standing(task, { ...mine, state: 'scored', points: 0.5 })).toBe('0.5 of 2 points');
    expect(attemptsLeft(mine)).toBe('');
    expect(attemptsLeft({ ...mine, left: 0 })).toBe('no attempt left');
    expect(attemptsLeft({ ...mine, left: 1 })).toBe('1 attempt left');
  });

  test('an answer is said in the words of its task', () => {
    expect(answerWords(task, { choice: 1 })).toBe('many');
    expect(answerWords(task, { value: 0 })).toBe('0 ms');
    expect(answerWords(task, { run: 'kept:x:y' })).toBe('a run');
  });

  test('a deadline says whether there is grace, and that it is over', () => {
    const lab = { deadline: '2026-01-31T12:00:00Z', closes: '2026-01-31T12:00:00Z', open: true };
    const of = (changes: object) => dueWords({ ...lab, ...changes } as unknown as LabView, 'en-GB');
    expect(of({})).toMatch(/^due 31 Jan 2026, [\d:]+$/);
    expect(of({ closes: '2026-01-31T13:00:00Z' })).toMatch(/with a grace period$/);
    expect(of({ open: false })).toMatch(/now closed$/);
    expect(of({ deadline: null, closes: null })).toBe('no deadline');
  });
});
