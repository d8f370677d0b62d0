// @vitest-environment happy-dom
// SPDX-License-Identifier: GPL-2.0-or-later
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { wholeMessage } from '../../../test/fixtures/whole.ts';
import type { ClientMessage } from '../../protocol/messages.ts';
import { Store } from '../../store/store.ts';
import { Classroom } from './classroom.ts';
import { code, facts, place, welcome } from './fixtures/classes.ts';
import { membershipOf } from './membership.ts';

const hello = { protocol: 1, version: '0', viewer: 'v', lessons: [] };
let sent: ClientMessage[] = [];
let stops: (() => void)[] = [];

beforeEach(() => {
  sent = [];
});

afterEach(() => {
  for (const stop of stops) stop();
  stops = [];
  localStorage.clear();
  sessionStorage.clear();
});

/** A page that has just been loaded, and the greeting of its server. */
function page() {
  const store = new Store();
  store.attach((message) => sent.push(message));
  const classroom = new Classroom(store);
  stops.push(classroom.run());
  const greet = () => {
    store.connection.set({ state: 'open', reason: '', retryInMs: null });
    store.dispatch({ ...wholeMessage('hello', hello) });
  };
  const lose = () => store.connection.set({ state: 'retry', reason: 'gone', retryInMs: 1 });
  return { store, classroom, greet, lose };
}

function member() {
  const it = page();
  it.greet();
  it.classroom.join('Amber Fox River', 'Ada');
  it.store.dispatch(welcome('member', 'secret-1'));
  it.store.dispatch(facts());
  return it;
}

const back: ClientMessage = { type: 'class_join', code, secret: 'secret-1' };

test('a member joins by code and nickname, and comes back by its secret after a break and a reload', () => {
  const { greet, lose } = member();
  expect(sent).toEqual([{ type: 'class_join', code: 'Amber Fox River', nickname: 'Ada' }]);
  greet();
  expect(sent).toHaveLength(1);
  lose();
  greet();
  expect(sent.slice(1)).toEqual([back]);
  page().greet();
  expect(sent.slice(2)).toEqual([back]);
});

test('what is said during a break waits for the class, and what was not confirmed is said again', () => {
  const { store, classroom, greet, lose } = member();
  const first = { step: 's', question: 'q', round: 1, choice: 0, right: null };
  const answered = { class_id: 'c', mark: null, value: null };
  classroom.answer(first);
  expect(sent.at(-1)).toEqual({ type: 'class_answer', ...first });
  lose();
  const second = { ...first, question: 'r', choice: 1 };
  classroom.answer({ ...second, choice: 0 });
  classroom.answer(second);
  classroom.confused();
  greet();
  expect(sent.slice(2)).toEqual([back]); // nothing goes out before the class has this page
  store.dispatch(welcome('member', 'secret-1'));
  const again = [first, second].map((one) => ({ type: 'class_answer', ...one }));
  expect(sent.slice(3)).toEqual([...again, { type: 'class_confused' }]);
  for (const one of [first, second])
    store.dispatch(wholeMessage('class_answered', { ...answered, ...one }));
  lose();
  greet();
  store.dispatch(welcome('member', 'secret-1'));
  expect(sent.slice(6)).toEqual([back]);
});

test('an answer that is refused is not given again', () => {
  const { store, classroom, greet, lose } = member();
  classroom.answer({ step: 's', question: 'q', round: 1, choice: 0, right: null });
  const refusal = { code: 'closed', sentence: 'the answers are shown.', remedy: '', detail: '' };
  store.dispatch({ type: 'error', ...refusal });
  lose();
  greet();
  store.dispatch(welcome('member', 'secret-1'));
  expect(sent.slice(2)).toEqual([back]);
});

test('an instructor comes back by the id of the class', () => {
  const { store, classroom, greet, lose } = page();
  greet();
  classroom.start('02-grace-periods', 'Monday');
  store.dispatch(welcome('instructor'));
  store.dispatch(facts({ part: 'instructor', driving: true }));
  lose();
  greet();
  expect(sent.at(-1)).toEqual({ type: 'class_resume', class_id: 'c' });
});

test('without a store of the browser a member still comes back after a break', () => {
  vi.spyOn(Storage.prototype, 'setItem').mockImplementation(() => {
    throw new Error('forbidden');
  });
  const { greet, lose } = member();
  lose();
  greet();
  expect(sent.at(-1)).toEqual(back);
});

test('a class that has ended is not come back to', () => {
  const { store, classroom, greet, lose } = member();
  store.dispatch(facts({ open: false }));
  expect(membershipOf(code)).toBeNull();
  lose();
  greet();
  expect(sent).toHaveLength(1);
  classroom.dismiss();
  expect(classroom.room.get()).toBeNull();
});

test('a refusal is a sentence of the dialog; other errors are not its own', () => {
  const { store, classroom, greet } = page();
  greet();
  classroom.join('no such class', 'Ada');
  const refusal = {
    code: 'no-class',
    sentence: 'there is no such open class.',
    remedy: 'Compare.',
  };
  store.dispatch({ type: 'error', detail: '', ...refusal });
  expect(classroom.refused.get()).toBe('There is no such open class. Compare.');
  expect(store.errors.get()).toEqual([]);
  store.dispatch({ type: 'error', detail: '', ...refusal });
  expect(store.errors.get()).toHaveLength(1);
});

test('an unrelated error while a page comes back does not cost its membership', () => {
  const { store, classroom, greet, lose } = member();
  lose();
  greet();
  store.dispatch({
    type: 'error',
    code: 'infra',
    sentence: 'a run failed.',
    remedy: '',
    detail: '',
  });
  expect(membershipOf(code)?.secret).toBe('secret-1');
  expect(classroom.room.get()).not.toBeNull();
  store.dispatch({ type: 'error', code: 'no-class', sentence: 'none.', remedy: '', detail: '' });
  expect(membershipOf(code)).toBeNull();
});

test('a page that comes back to a server without room tries again, and stays who it was', () => {
  vi.useFakeTimers();
  const { store, classroom, greet, lose } = member();
  const refuse = () => {
    const refusal = { code: 'full', sentence: 'no room.', remedy: 'Wait.', detail: '' };
    store.dispatch({ type: 'error', ...refusal });
  };
  lose();
  greet();
  for (const times of [1, 2]) {
    refuse();
    expect(sent).toHaveLength(times + 1);
    expect(classroom.refused.get()).toBe('No room. Wait.');
    expect(store.errors.get()).toEqual([]);
    expect(membershipOf(code)?.secret).toBe('secret-1');
    vi.advanceTimersByTime(6000);
    expect(sent.slice(times + 1)).toEqual([back]);
  }
  refuse();
  lose(); // it comes back by itself then
  vi.advanceTimersByTime(6000);
  expect(sent).toHaveLength(4);
  greet();
  store.dispatch(welcome('member', 'secret-1'));
  expect(classroom.refused.get()).toBe('');
  expect(sent).toHaveLength(5);
});

test('a driver sends at most ten places a second, and always the last', () => {
  vi.useFakeTimers();
  const { store, classroom } = member();
  const drive = (moment_ns: number) =>
    classroom.drive(() => ({ lesson: '02-grace-periods', moment_ns }));
  const moments = () => sent.flatMap((m) => (m.type === 'class_drive' ? [m.moment_ns] : []));
  drive(0);
  expect(moments()).toEqual([]);
  vi.advanceTimersByTime(1000);
  store.dispatch(facts({ driving: true }));
  for (let t = 0; t < 1000; t += 10) {
    drive(t);
    vi.advanceTimersByTime(10);
  }
  vi.advanceTimersByTime(1000);
  expect(moments().length).toBeLessThanOrEqual(11);
  expect(moments().at(-1)).toBe(990);
});

test('a member reports what it sees once for each change', () => {
  const { store, classroom } = member();
  store.dispatch(place());
  classroom.report('one');
  classroom.report('one');
  classroom.detach();
  classroom.report('one');
  expect(sent.slice(1)).toEqual([
    { type: 'class_follow', following: true, step: 'one' },
    { type: 'class_follow', following: false, step: 'one' },
  ]);
});

test('who hands the wheel over follows from there on', () => {
  const { store, classroom } = member();
  classroom.detach();
  store.dispatch(facts({ driving: true }));
  expect(classroom.isFollowing()).toBe(false);
  store.dispatch(facts({ driving: false }));
  expect(classroom.isFollowing()).toBe(true);
});

test('nothing is sent into a class before the server knows again that this page is in it', () => {
  const { store, classroom, greet, lose } = member();
  store.dispatch(facts({ driving: true }));
  lose();
  greet();
  classroom.report('one');
  classroom.drive(() => ({ lesson: '02-grace-periods' }));
  expect(sent.slice(1)).toEqual([back]);
  store.dispatch(welcome('member', 'secret-1'));
  classroom.report('one');
  expect(sent.at(-1)?.type).toBe('class_follow');
});
