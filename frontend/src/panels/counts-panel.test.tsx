// @vitest-environment happy-dom
// SPDX-License-Identifier: GPL-2.0-or-later
import { act, cleanup, render, screen } from '@testing-library/react';
import { afterEach, expect, it } from 'vitest';
import { cell, storeOf } from '../../test/fixtures/drawing.ts';
import { runMessage } from '../../test/fixtures/messages.ts';
import { testLesson } from '../../test/fixtures/page.tsx';
import { wholeMessage } from '../../test/fixtures/whole.ts';
import { PlaybackProvider } from '../playback/hooks.tsx';
import type { Player } from '../playback/player.ts';
import { StoreProvider } from '../store/hooks.tsx';
import { Store } from '../store/store.ts';
import { CountsPanel, TracedNote } from './counts-panel.tsx';

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

it('counts up to the moment what the header over the lane counts, of what the whole run has', () => {
  const store = storeOf('srcu\n  storm-0  R!R!R!R!R!R!\n');
  const run = store.shown()!;
  store.dispatch(
    wholeMessage('metrics', {
      run_id: run.id,
      arm: 'srcu',
      ops: 6,
      cycles: 2,
      watermark_ns: 12 * cell,
      spans: {},
      events_lost: 0,
      events_read: 0,
      start_ns: null,
      wait_ns: { p50: null, p95: null, max: null, n: 0 },
    }),
  );
  render(
    <StoreProvider store={store}>
      <PlaybackProvider>
        <CountsPanel lesson={store.lesson.get()!} arms={['srcu']} recorded={false} />
      </PlaybackProvider>
    </StoreProvider>,
  );
  const { player } = (globalThis as unknown as { duet: { player: Player } }).duet;
  const cellOf = () => screen.getByTestId('counts').querySelector('td')?.textContent;
  act(() => player.do({ type: 'seek', moment: 2.5 * cell }));
  expect(cellOf()).toBe('1 of 6');
  act(() => player.do({ type: 'seek', moment: 12 * cell }));
  expect(cellOf()).toBe('6');
});
