// @vitest-environment happy-dom
// SPDX-License-Identifier: GPL-2.0-or-later
import { afterEach, expect, test, vi } from 'vitest';
import { wholeMessage } from '../../../test/fixtures/whole.ts';
import type { ClientMessage } from '../../protocol/messages.ts';
import { Store } from '../../store/store.ts';
import type { ClassPlace } from './class-state.ts';
import { Classroom } from './classroom.ts';
import { facts, place, welcome } from './fixtures/classes.ts';

const hello = { protocol: 1, version: '0', viewer: 'v', lessons: [] };
let stops: (() => void)[] = [];

afterEach(() => {
  for (const stop of stops) stop();
  stops = [];
  vi.useRealTimers();
  localStorage.clear();
  sessionStorage.clear();
});

function page(part: 'instructor' | 'member') {
  const sent: ClientMessage[] = [];
  const store = new Store();
  store.attach((message) => sent.push(message));
  const classroom = new Classroom(store);
  stops.push(classroom.run());
  store.connection.set({ state: 'open', reason: '', retryInMs: null });
  store.dispatch({ ...wholeMessage('hello', hello) });
  store.dispatch(welcome(part, 'secret'));
  store.dispatch(facts({ part, driving: part === 'instructor' }));
  const kinds = () => sent.map(({ type }) => type);
  return { store, classroom, kinds };
}

const here = { lesson: '02-grace-periods', step: 'one' };
const watched = (phase: 'asking' | 'watched' | 'none', allowed: boolean | null) =>
  ({ type: 'class_watched', class_id: 'c', phase, allowed }) as const;
const watching = (phase: 'watched' | 'none') =>
  ({ type: 'class_watching', class_id: 'c', phase, member: 'm1', name: 'Ada' }) as const;

test('a member shows the place while it is watched with consent, and at no other time', () => {
  vi.useFakeTimers();
  const { store, classroom, kinds } = page('member');
  const show = () => {
    classroom.here(() => here);
    vi.advanceTimersByTime(1000);
  };
  show();
  store.dispatch(watched('asking', null));
  show();
  expect(kinds()).not.toContain('class_here');
  store.dispatch(watched('watched', true));
  show();
  expect(kinds().filter((kind) => kind === 'class_here')).toHaveLength(1);
  // The second call waits for its turn, and the consent is taken back meanwhile.
  classroom.here(() => here);
  classroom.here(() => here);
  store.dispatch(watched('none', false));
  vi.advanceTimersByTime(1000);
  expect(kinds().filter((kind) => kind === 'class_here')).toHaveLength(2);
});

test('what is refused because the look has just ended is no error of the page', () => {
  const { store } = page('member');
  const error = { sentence: 'nobody looks.', remedy: '', detail: '' };
  store.dispatch({ ...wholeMessage('error', { ...error, code: 'unwatched' }) });
  expect(store.errors.get()).toEqual([]);
  store.dispatch({ ...wholeMessage('error', { ...error, code: 'closed' }) });
  expect(store.errors.get()).toHaveLength(1);
});

test('a page at a member’s place leads nobody, nor on its way back, nor after a reload', () => {
  vi.useFakeTimers();
  const { store, classroom, kinds } = page('instructor');
  const drives = (of: Classroom, seen: () => readonly string[]) => {
    const before = seen().length;
    of.drive(() => here);
    vi.advanceTimersByTime(1000);
    return seen().slice(before).includes('class_drive');
  };
  expect(drives(classroom, kinds)).toBe(true);
  store.dispatch(watching('watched'));
  expect(drives(classroom, kinds)).toBe(false);
  classroom.setAside(place({ step: 'own' }) as ClassPlace);
  store.dispatch(watching('none'));
  expect(drives(classroom, kinds)).toBe(false);
  const reloaded = page('instructor');
  expect(reloaded.classroom.aside.get()?.step).toBe('own');
  expect(drives(reloaded.classroom, reloaded.kinds)).toBe(false);
  reloaded.classroom.setAside(null);
  expect(drives(reloaded.classroom, reloaded.kinds)).toBe(true);
});
