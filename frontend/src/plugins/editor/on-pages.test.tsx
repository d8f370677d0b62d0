// @vitest-environment happy-dom
// SPDX-License-Identifier: GPL-2.0-or-later
import { act, cleanup, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { testLesson } from '../../../test/fixtures/page.tsx';
import { wholeMessage } from '../../../test/fixtures/whole.ts';
import { frontPage, type Place } from '../../navigation/place.ts';
import { LessonLoader } from '../../page/lesson-loader.tsx';
import type { Lesson } from '../../protocol/lesson.ts';
import type { ChangedMessage, ClientMessage } from '../../protocol/messages.ts';
import { StoreProvider } from '../../store/hooks.tsx';
import { Store } from '../../store/store.ts';

const own = 'own-srcu-0123456789';
const source = { arm: 'srcu', off: '', files: [{ name: 'mm/a.c', text: 'int a;\n', regions: [] }] };
const patch = `diff --git a/mm/a.c b/mm/a.c
--- a/mm/a.c
+++ b/mm/a.c
@@ -1 +1 @@
-int a;
+int b;
`;

beforeEach(() => {
  vi.stubGlobal('fetch', () => Promise.resolve(new Response(JSON.stringify(source))));
});
afterEach(() => {
  cleanup();
  localStorage.clear();
  vi.unstubAllGlobals();
});

function shown(first: Partial<Place>, lesson: Lesson = testLesson()) {
  const store = new Store();
  const sent: ClientMessage[] = [];
  store.attach((message) => {
    sent.push(message);
  });
  const tell = (of: Lesson) =>
    act(() => store.dispatch(wholeMessage('lesson', { lesson: { ...of } })));
  const go = vi.fn();
  const page = (place: Partial<Place>) => (
    <StoreProvider store={store}>
      <LessonLoader slug={lesson.slug} place={{ ...frontPage, ...place }} go={go} />
    </StoreProvider>
  );
  const { rerender } = render(page(first));
  tell(lesson);
  act(() => store.connection.set({ state: 'open', retryInMs: 0 } as never));
  const said = (change: Partial<ChangedMessage>) =>
    act(() =>
      store.dispatch({
        ...wholeMessage('changed', { lesson: lesson.slug, base: 'srcu', arm: own, phase: 'wait' }),
        ...change,
      }),
    );
  return { sent, go, said, tell, to: (place: Partial<Place>) => rerender(page(place)) };
}

it('a change that is built while slides are shown begins there, and says how far it is', async () => {
  const lesson = testLesson();
  const { sent, said, tell, to } = shown({ step: lesson.scenes[1]!.id });
  const file = new File([patch], 'a.patch');
  fireEvent.drop(document, { dataTransfer: { types: ['Files'], files: [file] } });
  await screen.findByTestId('change-tally', undefined, { timeout: 20_000 });
  fireEvent.click(screen.getByTestId('run-change'));
  expect(sent.at(-1)).toMatchObject({ type: 'change', arm: 'srcu' });
  to({ step: lesson.scenes[1]!.id, present: 'slides' });
  expect(screen.getByTestId('present')).toBeTruthy();
  said({ phase: 'compile', done: 2, total: 7 });
  expect(screen.getByTestId('change-news').textContent).toContain('compiling 2 of 7');
  tell({ ...lesson, arms: [...lesson.arms, { ...lesson.arms[1]!, name: own }] });
  said({ phase: 'built' });
  expect(sent.at(-1)).toMatchObject({ type: 'start', arms: ['rwsem', 'srcu', own] });
});

it('each step has a way to the editor, and one alone where neither knobs nor patch are', () => {
  const lesson = testLesson();
  for (const show of [[], ['knobs'], ['patch'], ['knobs', 'patch']] as const) {
    const scenes = [{ ...lesson.scenes[0]!, show: [...show] }];
    shown({}, { ...lesson, scenes });
    const found = [
      ...screen.queryAllByTestId('change'),
      ...screen.queryAllByTestId('change-patch'),
    ];
    expect(found.length, show.join()).toBe(Math.max(1, show.length));
    const alone = screen.queryByRole('button', { name: 'change the patch' });
    expect(alone !== null, show.join()).toBe(show.length === 0);
    cleanup();
  }
  const arms = lesson.arms.map((arm) => ({ ...arm, patch_texts: [] }));
  shown({}, { ...lesson, arms });
  expect(screen.queryByTestId('change')).toBeNull();
});
