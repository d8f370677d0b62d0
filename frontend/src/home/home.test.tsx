// @vitest-environment happy-dom
// SPDX-License-Identifier: GPL-2.0-or-later
/** On the front page, a lesson's picture opens the lesson, as its question does. */

import { act, cleanup, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { testLesson } from '../../test/fixtures/page.tsx';
import { StoreProvider } from '../store/hooks.tsx';
import { Store } from '../store/store.ts';
import { Front } from './home.tsx';
import { openingLesson } from './opening.tsx';

const lesson = testLesson();
const slug = '02-grace-periods';

beforeEach(() => {
  vi.stubGlobal(
    'IntersectionObserver',
    class {
      observe() {}
      disconnect() {}
    },
  );
  const recordings = [{ name: 'one', lesson: slug, recorded_at: '2026-11-22T10:00:00+00:00' }];
  vi.stubGlobal('fetch', async (url: string) => ({
    ok: true,
    status: 200,
    json: async () => (url.startsWith('api/lessons') ? answer(recordings) : []),
  }));
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

function answer(recordings: readonly object[]): object {
  const line = { params: {}, arms: [], clock: 'wall', workload: 'storm', seconds: 3, bytes: 9 };
  return { ...lesson, slug, recordings: recordings.map((one) => ({ ...line, ...one })) };
}

let store: Store;

async function front(onOpen: (slug: string) => void): Promise<HTMLElement> {
  store = new Store();
  const { question, title } = lesson;
  const one = { slug, title, question, available: true, picture: true };
  store.hello.set({ type: 'hello', lessons: [one], role: 'operator', denied: {} } as never);
  render(
    <StoreProvider store={store}>
      <Front onOpen={onOpen} />
    </StoreProvider>,
  );
  return screen.findByTestId(`preview-${slug}`);
}

test('a press on the picture opens the lesson, and its address is that of the question', async () => {
  const onOpen = vi.fn();
  const picture = await front(onOpen);
  const question = screen.getByRole('link', { name: lesson.question });
  expect(picture.tagName).toBe('A');
  expect(picture.getAttribute('href')).toBe(question.getAttribute('href'));
  expect(picture.getAttribute('href')).toContain(`lesson=${slug}`);
  fireEvent.click(picture);
  expect(onOpen).toHaveBeenCalledWith(slug);
});

test('a press with Ctrl is left to the browser, and keys stop once a lesson', async () => {
  const onOpen = vi.fn();
  const picture = await front(onOpen);
  fireEvent.click(picture, { ctrlKey: true });
  expect(onOpen).not.toHaveBeenCalled();
  expect(picture.tabIndex).toBe(-1);
});

test('a server that goes away while the lessons are looked at is said, and what to do', async () => {
  await front(vi.fn());
  expect(screen.queryByTestId('connection')).toBeNull();
  const reason = 'The connection to the server broke.';
  act(() => store.connection.set({ state: 'retry', reason, retryInMs: 250 }));
  expect(screen.getByTestId('connection').textContent).toContain(`${reason} Reconnecting…`);
  expect(screen.getByTestId('connection').textContent).toContain('make run');
});

test('what moves at the top compares two kernels, is recorded, and answers no question', () => {
  const scene = { ...lesson.scenes[0]!, id: 'best', arms: ['a', 'b'], predict: null };
  const recordings = [{} as never];
  const good = { scenes: [scene], hero: 'best', recordings };
  const bad = [
    { ...good, scenes: [{ ...scene, predict: 'how-many' }] },
    { ...good, scenes: [{ ...scene, arms: ['a'] }] },
    { ...good, recordings: [] },
    null,
  ].map((one, i) => [`0${i}`, one] as const);
  expect(openingLesson(bad)).toBeNull();
  expect(openingLesson([...bad, ['05', good], ['06', good]])).toBe('05');
});
