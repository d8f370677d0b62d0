// SPDX-License-Identifier: GPL-2.0-or-later
import { expect, test } from 'vitest';
import { facts, place, welcome } from '../../test/fixtures/classes.ts';
import type { ClassMessage } from '../protocol/messages.ts';
import { answerKey, isOpen, keyOf, type Room, reduceClass } from './class-state.ts';

function after(messages: readonly ClassMessage[], room: Room | null = null): Room | null {
  return messages.reduce((now: Room | null, message) => reduceClass(now, message, 100), room);
}

const question = { step: 'one', question: 'slower' };
const tally = (revealed: boolean, count: number): ClassMessage => ({
  ...{ type: 'class_tally', class_id: 'c', ...question, revealed },
  rounds: [
    {
      ...{ round: 1, answers: count, marks: [], right: null },
      bars: [{ choice: 0, value: null, count }],
    },
  ],
});
const answered: ClassMessage = {
  ...{ type: 'class_answered', class_id: 'c', ...question, round: 1 },
  ...{ choice: 1, value: null, mark: null },
};

test('a page is in a class from the welcome on, and the class is open until it says otherwise', () => {
  expect(after([facts()])).toBeNull();
  expect(isOpen(after([welcome('member')]))).toBe(false);
  const room = after([welcome('member'), facts()]);
  expect(isOpen(room)).toBe(true);
  expect(room?.name).toBe('Ada');
  expect(isOpen(after([facts({ open: false })], room))).toBe(false);
});

test('the latest place wins by its number, and its arrival is on the clock of the page', () => {
  const room = after([welcome('member'), facts(), place({ number: 4 })]);
  expect(room?.placeAt).toBe(100);
  expect(after([place({ number: 3, step: 'two' })], room)?.place?.step).toBe('one');
  expect(after([place({ number: 5, step: 'two' })], room)?.place?.step).toBe('two');
});

test('questions, tallies and answers are stored by what they are of; the latest wins', () => {
  const room = after([welcome('instructor'), tally(false, 1), tally(true, 3), answered]);
  const known = room?.tallies.get(keyOf(question));
  expect([known?.revealed, known?.rounds[0]?.answers]).toEqual([true, 3]);
  expect(room?.answers.get(answerKey(question, 1))?.choice).toBe(1);
  expect(room?.answers.get(answerKey(question, 2))).toBeUndefined();
});

test('who comes back keeps what is known; another class starts empty', () => {
  const room = after([welcome('member'), facts(), answered]);
  expect(after([welcome('member')], room)?.answers.size).toBe(1);
  const other = { ...welcome('member'), class_id: 'd' } as ClassMessage;
  expect(after([other], room)?.answers.size).toBe(0);
});

test('what was on its way from another class changes nothing', () => {
  const room = after([welcome('member'), facts()]);
  expect(after([place({ class_id: 'x' })], room)).toBe(room);
});
