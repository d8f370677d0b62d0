// SPDX-License-Identifier: GPL-2.0-or-later
import { expect, test } from 'vitest';
import {
  type ClassQuestion,
  type ClassTally,
  type Room,
  reduceClass,
  type TallyRound,
} from './class-state.ts';
import { facts, welcome } from './fixtures/classes.ts';
import { askedIn, columnsOf, revealedIn, revealOf, waiting } from './questions.tsx';

const prediction = { question: 'How many?', choices: ['few', 'many'] };
const lesson = { predictions: { hogs: prediction }, questions: [] } as unknown as Parameters<
  typeof askedIn
>[1];
const here = { id: 'three', predict: 'hogs' };

function room(...questions: readonly Partial<ClassQuestion>[]): Room {
  const asked = questions.map((one) => ({
    ...{ type: 'class_question', class_id: 'c', step: 'three', question: 'hogs', text: '' },
    ...{ options: [], round: 1, revealed: false, ...one },
  })) as ClassQuestion[];
  const all = [welcome('member'), facts(), ...asked];
  return all.reduce((now: Room | null, one) => reduceClass(now, one, 0), null)!;
}

const poll = { step: '', question: 'poll-1', text: 'On?', options: ['yes', 'no'] };

test('the prediction of the step stands first until it is asked, and has the words of the lesson', () => {
  const [first, second] = askedIn(room(poll), lesson, here);
  expect([first?.text, first?.options, first?.asked]).toEqual([
    'How many?',
    ['few', 'many'],
    false,
  ]);
  expect([second?.text, second?.options, second?.asked]).toEqual(['On?', ['yes', 'no'], true]);
  expect(askedIn(room({}), lesson, here).map((one) => [one.text, one.asked])).toEqual([
    ['How many?', true],
  ]);
});

test('what this step asks keeps its place when it is asked; behind it the newest stands first', () => {
  const other = { ...poll, question: 'poll-2' };
  const order = (...asked: readonly Partial<ClassQuestion>[]) =>
    askedIn(room(...asked), lesson, here).map((one) => one.question);
  expect(order(poll, other)).toEqual(['hogs', 'poll-2', 'poll-1']);
  expect(order(poll, {}, other)).toEqual(['hogs', 'poll-2', 'poll-1']);
});

test('of the revealed questions the one that was revealed last stands first', () => {
  const now = room({ revealed: true }, { ...poll, revealed: true });
  const [prediction, asked] = askedIn(now, lesson, here);
  const order = (...keys: readonly string[]) =>
    revealedIn(
      { tallies: new Map(keys.map((key) => [key, {} as ClassTally])) },
      askedIn(now, lesson, here),
    ).map((one) => one.question);
  expect(order(prediction!.key, asked!.key)).toEqual(['poll-1', 'hogs']);
  expect(order(asked!.key, prediction!.key)).toEqual(['hogs', 'poll-1']);
  expect(order(asked!.key)).toEqual(['poll-1']);
});

test('who follows gets the answer when it is revealed; who explores or teaches decides alone', () => {
  const of = (now: Room, following = true) =>
    revealOf(now, following, { id: 'three', predict: 'hogs' });
  const teaches = (now: Room): Room => ({ ...now, part: 'instructor' });
  expect([of(room()), of(room({})), of(room({ revealed: true }))]).toEqual([
    ...['later', 'posed', 'revealed'],
  ]);
  expect([of(room({}), false), of(teaches(room({})))]).toEqual(['own', 'own']);
  expect(of(teaches(room({ revealed: true })))).toBe('revealed');
  expect(revealOf(room({}), true, { id: 'three', predict: null })).toBe('own');
});

test('a member is asked in the panel for what the card of the step does not ask', () => {
  const asks = (of: Room, at = 'three', guessed = false) =>
    waiting(of, askedIn(of, lesson, { id: at }), at, guessed).map((one) => one.question);
  expect(asks(room({}))).toEqual([]);
  expect(asks(room({}), 'three', true)).toEqual(['hogs']);
  expect(asks(room({}), 'elsewhere')).toEqual(['hogs']);
  expect(asks(room({ round: 2 }))).toEqual(['hogs']);
  expect(asks(room(poll))).toEqual(['poll-1']);
  expect(asks(room({ ...poll, revealed: true }))).toEqual([]);
  const answered = reduceClass(
    room(poll),
    {
      ...{ type: 'class_answered', class_id: 'c', step: '', question: 'poll-1', round: 1 },
      ...{ choice: 0, value: null, mark: null },
    },
    0,
  )!;
  expect(asks(answered)).toEqual([]);
});

test('questions that are answered by pointing stand with their step, and wait for members once they are asked', () => {
  const pointing = {
    predictions: {},
    questions: [
      { ask: 'Point at a wait.', step: 'three' },
      { ask: 'Point at a hog.', step: 'one' },
    ],
  } as unknown as Parameters<typeof askedIn>[1];
  const here = { id: 'three' };
  const own = askedIn(room(), pointing, here);
  expect(own.map((one) => [one.question, one.text, one.points, one.asked])).toEqual([
    ['point-1', 'Point at a wait.', 0, false],
  ]);
  expect(waiting(room(), own, 'three', false)).toEqual([]);
  const asked = room({ step: 'one', question: 'point-2' });
  const all = askedIn(asked, pointing, here);
  expect(all.map((one) => one.question)).toEqual(['point-1', 'point-2']);
  expect(waiting(asked, all, 'three', false).map((one) => one.text)).toEqual(['Point at a hog.']);
});

test('a bar for each option, also where nobody chose it, and for each value', () => {
  const bar = (choice: number | null, count: number, value: number | null = null) => ({
    ...{ choice, value, count },
  });
  const round: TallyRound = {
    ...{ round: 1, answers: 4, marks: [], right: null },
    bars: [bar(1, 3), bar(null, 1, 4.5)],
  };
  expect(columnsOf({ options: ['few', 'many'] }, round, 1, 0)).toEqual([
    { label: 'few', count: 0, share: 0, own: false, right: true },
    { label: 'many', count: 3, share: 0.75, own: true, right: false },
    { label: '4.5', count: 1, share: 0.25, own: false, right: false },
  ]);
  expect(columnsOf({ options: ['few'] }, null, null)[0]?.share).toBe(0);
});
