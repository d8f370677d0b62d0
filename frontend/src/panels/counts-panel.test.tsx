// @vitest-environment happy-dom
// SPDX-License-Identifier: GPL-2.0-or-later
import { cleanup, render, screen } from '@testing-library/react';
import { afterEach, expect, it } from 'vitest';
import { runMessage } from '../../test/fixtures/messages.ts';
import { testLesson } from '../../test/fixtures/page.tsx';
import { StoreProvider } from '../store/hooks.tsx';
import { Store } from '../store/store.ts';
import { TracedNote } from './counts-panel.tsx';

afterEach(cleanup);

it.each([
  [true, 'with tracing, one after another'],
  [false, 'with tracing, at the same time'],
])('says how the lanes of the run ran: apart %s', (apart, words) => {
  const store = new Store();
  const lesson = testLesson();
  store.lesson.set(lesson);
  store.dispatch({ ...runMessage('recorded:02-grace-periods:x', ['rwsem']), apart });
  render(
    <StoreProvider store={store}>
      <TracedNote />
    </StoreProvider>,
  );
  expect(screen.getByTestId('traced-note').textContent).toContain(words);
});
