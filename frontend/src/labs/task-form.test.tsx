// @vitest-environment happy-dom
// SPDX-License-Identifier: GPL-2.0-or-later
import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, expect, it } from 'vitest';
import type { AnswerGiven, LabTask } from '../protocol/contract.gen.ts';
import { type HandIn, TaskForm } from './task-form.tsx';

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
  const { send } = form({}, {}, 'Write your name first.');
  fireEvent.click(screen.getByLabelText('few'));
  expect(send.disabled).toBe(true);
  expect(send.title).toBe('Write your name first.');
});
