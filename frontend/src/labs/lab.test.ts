// SPDX-License-Identifier: GPL-2.0-or-later

import { expect, test } from 'vitest';
import { frontPage, writePlace } from '../navigation/place.ts';
import type { LabTask, LabView, MyTask } from '../protocol/contract.gen.ts';
import { readLab } from './address.ts';
import { answerWords, attemptsLeft, dueWords, standing } from './words.ts';

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
  expect(of({ closes: '2026-01-31T13:00:00Z' })).toMatch(/with some grace$/);
  expect(of({ open: false })).toMatch(/it is over$/);
  expect(of({ deadline: null, closes: null })).toBe('no deadline');
});
