// SPDX-License-Identifier: GPL-2.0-or-later
import { expect, test } from 'vitest';
import { facts, place, welcome } from '../../test/fixtures/classes.ts';
import type { ClassMessage } from '../protocol/messages.ts';
import { ledTo, type Raised, waitingRaised, watches } from './board-state.ts';
import { type ClassPlace, type Room, reduceClass } from './class-state.ts';
import { watchingWords } from './shoulder.tsx';
import { faceOf, lengthWords } from './timer.ts';

function after(messages: readonly ClassMessage[], room: Room | null = null, at = 1000): Room {
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
  const room = after([welcome('member'), facts(), timer(5e18 + 90e9)]);
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
  expect(after([timer(null)], room).board.timer).toBeNull();
  expect([lengthWords(60), lengthWords(90)]).toEqual(['1 minute', '90 seconds']);
});

test('a page that looks over a shoulder is led by the member, and then goes back', () => {
  const own = place({ step: 'own' }) as ClassPlace;
  let room = after([welcome('instructor'), facts({ part: 'instructor' }), place({ step: 'led' })]);
  expect([watches(room), ledTo(room, null).place?.step]).toEqual([false, 'led']);
  expect(after([seen(1, 'early')], room).board.seen).toBeNull();
  room = after([watching('watched'), seen(2, 'hers'), seen(1, 'old'), seen(9, 'x', 'm2')], room);
  expect(ledTo(room, own)).toMatchObject({ by: 'member', place: { step: 'hers' }, at: 1000 });
  room = after([watching('none', '')], room);
  expect(watches(room) || room.board.seen !== null).toBe(false);
  expect(ledTo(room, own)).toMatchObject({ by: 'back', place: { step: 'own' } });
  // After a break the server has ended it.
  room = after([watching('watched'), seen(3, 'hers'), welcome('instructor')], room);
  expect(watches(room)).toBe(false);
});

test('the instructor sees how many questions wait, and why nobody is watched', () => {
  const one: Raised = {
    ...{ number: 1, step: '', text: 'Why?', votes: 0 },
    ...{ answered: false, hidden: false },
  };
  const questions = [one, { ...one, answered: true }, { ...one, hidden: true }];
  const raised: ClassMessage = { type: 'class_raised', class_id: 'c', shown: false, questions };
  expect(waitingRaised(after([welcome('instructor'), raised]))).toBe(1);
  expect(watchingWords({ phase: 'refused', name: 'Ada' })).toContain('Ada does not want');
  expect(watchingWords({ phase: 'none', name: '' })).toBe('');
});
