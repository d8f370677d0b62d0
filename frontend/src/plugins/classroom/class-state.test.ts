// SPDX-License-Identifier: GPL-2.0-or-later

import { describe, expect, test } from 'vitest';
import type { ClassMessage } from './class-state.ts';
import {
  answerKey,
  type ClassPlace,
  isOpen,
  keyOf,
  ledTo,
  type Raised,
  type Room,
  reduceClass,
  waitingRaised,
  watches,
} from './class-state.ts';
import { facts, place, welcome } from './fixtures/classes.ts';
import { watchingWords } from './observe.tsx';
import { faceOf, lengthWords } from './timer.tsx';

describe('class state', () => {
  function roomAfter(messages: readonly ClassMessage[], room: Room | null = null): Room | null {
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
    expect(roomAfter([facts()])).toBeNull();
    expect(isOpen(roomAfter([welcome('member')]))).toBe(false);
    const room = roomAfter([welcome('member'), facts()]);
    expect(isOpen(room)).toBe(true);
    expect(room?.name).toBe('Ada');
    expect(isOpen(roomAfter([facts({ open: false })], room))).toBe(false);
  });

  test('the latest place wins by its number, and its arrival is on the clock of the page', () => {
    const room = roomAfter([welcome('member'), facts(), place({ number: 4 })]);
    expect(room?.placeAt).toBe(100);
    expect(roomAfter([place({ number: 3, step: 'two' })], room)?.place?.step).toBe('one');
    expect(roomAfter([place({ number: 5, step: 'two' })], room)?.place?.step).toBe('two');
  });

  test('questions, tallies and answers are stored by what they are of; the latest wins', () => {
    const room = roomAfter([welcome('instructor'), tally(false, 1), tally(true, 3), answered]);
    const known = room?.tallies.get(keyOf(question));
    expect([known?.revealed, known?.rounds[0]?.answers]).toEqual([true, 3]);
    expect(room?.answers.get(answerKey(question, 1))?.choice).toBe(1);
    expect(room?.answers.get(answerKey(question, 2))).toBeUndefined();
  });

  test('who comes back keeps what is known; another class starts empty', () => {
    const room = roomAfter([welcome('member'), facts(), answered]);
    expect(roomAfter([welcome('member')], room)?.answers.size).toBe(1);
    const other = { ...welcome('member'), class_id: 'd' } as ClassMessage;
    expect(roomAfter([other], room)?.answers.size).toBe(0);
  });

  test('what was on its way from another class changes nothing', () => {
    const room = roomAfter([welcome('member'), facts()]);
    expect(roomAfter([place({ class_id: 'x' })], room)).toBe(room);
  });
});

describe('board state', () => {
  function roomAfter(messages: readonly ClassMessage[], room: Room | null = null, at = 1000): Room {
    return messages.reduce((now: Room | null, one) => reduceClass(now, one, at), room)!;
  }

  const timer = (ends_ns: number | null): ClassMessage => ({
    ...{ type: 'class_timer', class_id: 'c', length_s: 120 },
    ...{ ends_ns, sent_ns: 5e18 },
  });
  const watching = (phase: 'watched' | 'none' | 'refused', member = 'm1'): ClassMessage => ({
    ...{ type: 'class_watching', class_id: 'c', phase },
    ...{ member, name: 'Ada' },
  });
  const seen = (number: number, step: string, member = 'm1'): ClassMessage => {
    const { spotlight: _, ...fields } = place({ step, number });
    return { ...fields, type: 'class_seen', member };
  };

  test('a timer ends by the clock of the page, however wrong that is', () => {
    const room = roomAfter([welcome('member'), facts(), timer(5e18 + 90e9)]);
    expect(room.board.timer).toEqual({ length: 120_000, ends: 91_000 });
    const of = (now: number) => faceOf(room.board.timer, now);
    expect([of(1000)?.text, of(60_999)?.text, of(90_999)?.text]).toEqual(['1:30', '0:31', '0:01']);
    expect([of(1000)?.says, of(60_999)?.says, of(85_000)?.says]).toEqual([
      'A timer runs: 2 minutes.',
      'One minute is left.',
      'Ten seconds are left.',
    ]);
    expect(of(91_000)).toMatchObject({ over: true, says: 'Time is up.' });
    expect(of(152_000)).toBeNull();
    expect(roomAfter([timer(null)], room).board.timer).toBeNull();
    expect([lengthWords(60), lengthWords(90)]).toEqual(['1 minute', '90 seconds']);
  });

  test('a page that looks over a shoulder is led by the member, and then goes back', () => {
    const own = place({ step: 'own' }) as ClassPlace;
    let room = roomAfter([
      welcome('instructor'),
      facts({ part: 'instructor' }),
      place({ step: 'led' }),
    ]);
    expect([watches(room), ledTo(room, null).place?.step]).toEqual([false, 'led']);
    expect(roomAfter([seen(1, 'early')], room).board.seen).toBeNull();
    room = roomAfter(
      [watching('watched'), seen(2, 'hers'), seen(1, 'old'), seen(9, 'x', 'm2')],
      room,
    );
    expect(ledTo(room, own)).toMatchObject({ by: 'member', place: { step: 'hers' }, at: 1000 });
    room = roomAfter([watching('none', '')], room);
    expect(watches(room) || room.board.seen !== null).toBe(false);
    expect(ledTo(room, own)).toMatchObject({ by: 'back', place: { step: 'own' } });
    // After a break the server has ended it.
    room = roomAfter([watching('watched'), seen(3, 'hers'), welcome('instructor')], room);
    expect(watches(room)).toBe(false);
  });

  test('the instructor sees how many questions wait, and why nobody is watched', () => {
    const one: Raised = {
      ...{ number: 1, step: '', text: 'Why?', votes: 0 },
      ...{ answered: false, hidden: false },
    };
    const questions = [one, { ...one, answered: true }, { ...one, hidden: true }];
    const raised: ClassMessage = { type: 'class_raised', class_id: 'c', shown: false, questions };
    expect(waitingRaised(roomAfter([welcome('instructor'), raised]))).toBe(1);
    expect(watchingWords({ phase: 'refused', name: 'Ada' })).toContain(
      'Ada does not want to be observed, or no longer wants to be observed.',
    );
    expect(watchingWords({ phase: 'none', name: '' })).toBe('');
  });
});
