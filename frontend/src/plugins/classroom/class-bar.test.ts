// SPDX-License-Identifier: GPL-2.0-or-later
import { expect, test } from 'vitest';
import { testLesson } from '../../../test/fixtures/page.tsx';
import { barWords } from './class-bar.tsx';
import { type ClassFacts, type ClassPlace, type Room, reduceClass } from './class-state.ts';
import { facts, place, welcome } from './fixtures/classes.ts';
import { codeIn, plainCode } from './membership.ts';
import { bucketsOf, doing } from './roster.tsx';
import { classLink } from './start.tsx';

const lesson = testLesson();

function words(
  change: Partial<ClassFacts>,
  follows: boolean,
  at: Partial<ClassPlace> = {},
): string {
  const step = lesson.scenes[0]!.id;
  const all = [welcome(change.part ?? 'member'), facts(change), place({ step, ...at })];
  const room = all.reduce((now: Room | null, one) => reduceClass(now, one, 0), null)!;
  const driving = change.driving ?? false;
  return barWords(room, { following: follows && !driving, driving }, lesson);
}

test('the line says who drives, and where the class is for who explores', () => {
  expect(words({}, true)).toBe('You follow the instructor.');
  expect(words({ driver: 'Grace', driver_member: 'm2' }, true)).toBe('You follow Grace.');
  expect(words({ driving: true }, false)).toContain('You have control');
  expect(words({ driving: true, part: 'instructor' }, false)).toContain('You lead');
  const title = lesson.scenes[0]!.title;
  expect(words({}, false)).toBe(
    `You explore on your own; the class is at “${title}”. Press G to follow again.`,
  );
  expect(words({}, false, { lesson: '05-other' })).toContain('the class is in another lesson');
  expect(words({ open: false }, true)).toBe('The class has ended.');
});

test('a roster says what each member does', () => {
  const member = { member: 'm', name: 'Ada', step: '', answered: 0, idle_s: 3 };
  const of = (connected: boolean, following: boolean, driving = false, idle_s = 3) =>
    doing({ ...member, connected, following, driving, idle_s });
  expect([of(false, true), of(true, true), of(true, false), of(true, true, true)]).toEqual([
    'away',
    'follows',
    'explores',
    'leads',
  ]);
  expect(of(true, true, false, 190)).toBe('follows, idle 3 min');
});

test('the curve of who is lost has a place for each ten seconds of the last ten minutes', () => {
  const counts = bucketsOf([
    { at_s: 600, count: 2, step: '' },
    { at_s: 580, count: 1, step: '' },
    { at_s: 0, count: 9, step: '' },
  ]);
  expect(counts).toHaveLength(60);
  expect(counts.slice(-3)).toEqual([1, 0, 2]);
  expect(counts).not.toContain(9);
});

test('the link is below the path of the page, and holds nothing of its place', () => {
  const link = classLink({ link: '?class=a-b-c' }, 'http://host:8642/sub/?lesson=x&step=y#z');
  expect(link).toBe('http://host:8642/sub/?class=a-b-c');
  expect(codeIn(new URL(link).search)).toBe('a-b-c');
  expect(codeIn('?class=+&lesson=x')).toBeNull();
  expect(plainCode('Amber Fox-RIVER')).toBe('amberfoxriver');
});
