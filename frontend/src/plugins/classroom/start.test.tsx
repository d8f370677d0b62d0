// @vitest-environment happy-dom
// SPDX-License-Identifier: GPL-2.0-or-later
import { act, cleanup, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test } from 'vitest';
import { wholeMessage } from '../../../test/fixtures/whole.ts';
import { frontPage } from '../../navigation/place.ts';
import type { ClientMessage } from '../../protocol/messages.ts';
import { StoreProvider } from '../../store/hooks.tsx';
import { Store } from '../../store/store.ts';
import { code, facts, welcome } from './fixtures/classes.ts';
import { ClassroomProvider } from './hooks.tsx';
import { ClassGate } from './join.tsx';
import { ClassButton } from './start.tsx';

afterEach(() => {
  cleanup();
  localStorage.clear();
  sessionStorage.clear();
  history.replaceState(null, '', '/');
});

function page(denied: Readonly<Record<string, string>> = {}) {
  const store = new Store();
  const sent: ClientMessage[] = [];
  store.attach((message) => sent.push(message));
  const hello = { protocol: 1, version: '0', viewer: 'v', lessons: [], denied };
  store.dispatch(wholeMessage('hello', hello));
  render(
    <StoreProvider store={store}>
      <ClassroomProvider visit={() => {}} place={frontPage}>
        <ClassGate place={frontPage} />
        <ClassButton lesson={{ slug: '02-grace-periods', title: 'Grace periods' }} />
      </ClassroomProvider>
    </StoreProvider>,
  );
  const come = (...messages: Parameters<Store['dispatch']>[0][]) =>
    act(() => {
      for (const message of messages) store.dispatch(message);
    });
  return { sent, come };
}

test('who may teach starts a class, and has its code, link and QR code', async () => {
  const { sent, come } = page();
  await userEvent.click(screen.getByTestId('class-start'));
  await userEvent.click(screen.getByTestId('class-begin'));
  expect(sent).toEqual([
    { type: 'class_start', lesson: '02-grace-periods', title: 'Grace periods' },
  ]);
  come(welcome('instructor'), facts({ part: 'instructor', driving: true }));
  expect(screen.getByTestId('class-code').textContent).toBe(code);
  expect(screen.getByTestId('class-link').textContent).toContain(`?class=${code}`);
  expect(screen.getByTestId('class-qr')).toBeTruthy();
});

test('who may not teach has no such button', () => {
  page({ teach: 'A student may not start a class.' });
  expect(screen.queryByTestId('class-start')).toBeNull();
});

test('the link of a class asks for a nickname, says why it is refused, and leaves the address', async () => {
  history.replaceState(null, '', `/?class=${code}&lesson=02-grace-periods`);
  const { sent, come } = page();
  await userEvent.click(screen.getByTestId('class-join-button'));
  expect(screen.getByTestId('class-refused').textContent).toContain('Type a nickname');
  expect(sent).toEqual([]);
  await userEvent.type(screen.getByTestId('class-name-field'), 'Ada');
  await userEvent.click(screen.getByTestId('class-join-button'));
  expect(sent).toEqual([{ type: 'class_join', code, nickname: 'Ada' }]);
  const full = { code: 'full', sentence: 'this class is full.', remedy: 'Watch.', detail: '' };
  come({ type: 'error', ...full });
  expect(screen.getByTestId('class-refused').textContent).toBe('This class is full. Watch.');
  come(welcome('member', 's'), facts());
  expect(screen.queryByTestId('class-join')).toBeNull();
  expect(location.search).toBe('?lesson=02-grace-periods');
});
