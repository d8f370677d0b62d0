// SPDX-License-Identifier: GPL-2.0-or-later
// @vitest-environment happy-dom

import { act, cleanup, render } from '@testing-library/react';
import { afterEach, describe, expect, test } from 'vitest';
import { cell, storeOf } from '../../test/fixtures/drawing.ts';
import { laneMessage, spanBatch } from '../../test/fixtures/messages.ts';
import { wholeLesson } from '../../test/fixtures/whole.ts';
import type { Mark, RunIndex } from '../derive/types.ts';
import { StoreProvider, useLane } from '../store/hooks.tsx';
import type { Store } from '../store/store.ts';
import {
  type Playback,
  PlaybackProvider,
  pointsAt,
  useCounts,
  usePlayback,
  useSentence,
} from './hooks.tsx';

describe('hooks', () => {
  // SPDX-License-Identifier: GPL-2.0-or-later
  /** The hooks as a page uses them. Texts follow the moment, and a component renders only for values that it shows. */

  afterEach(cleanup);

  const drawing = `
  rwsem
  storm-0  R!R!R!R!R!R!
  srcu
  storm-0  RSSSSS!RSSSS
  grace-period .AAAAC..AAAA
`;

  let playback: Playback;

  function Words() {
    playback = usePlayback();
    const counts = useCounts();
    return (
      <>
        <p data-testid="sentence">{useSentence('rates')}</p>
        <p data-testid="counts">{counts.map((c) => `${c.arm} ${c.ops}`).join(', ')}</p>
        <p data-testid="mode">{playback.state.mode}</p>
      </>
    );
  }

  function show(store: Store, arms?: readonly string[]) {
    return render(
      <StoreProvider store={store}>
        <PlaybackProvider {...(arms === undefined ? {} : { arms })}>
          <Words />
        </PlaybackProvider>
      </StoreProvider>,
    );
  }

  test('sentence and counts follow the moment', () => {
    const { getByTestId } = show(storeOf(drawing));
    act(() => playback.seek(6 * cell));
    expect(getByTestId('mode').textContent).toBe('paused');
    expect(getByTestId('counts').textContent).toBe('rwsem 3, srcu 0');
    act(() => playback.seek(7 * cell));
    expect(getByTestId('counts').textContent).toBe('rwsem 3, srcu 1');
    expect(getByTestId('sentence').textContent).toBe(
      'Up to this moment, rwsem has done 3 umounts and SRCU 1.',
    );
  });

  test('a run is spoken of in the operations of its workload', () => {
    const store = storeOf(drawing);
    const lesson = store.lesson.get()!;
    const visit = { name: 'visit', plural: 'visits', open: 'a', close: 'b' };
    const workloads = wholeLesson({
      ...lesson,
      workloads: { storm: { title: '', summary: '', operation: visit } },
    }).workloads;
    store.lesson.set({ ...lesson, workloads });
    const { getByTestId } = show(store);
    act(() => playback.seek(7 * cell));
    expect(getByTestId('sentence').textContent).toBe(
      'Up to this moment, rwsem has done 3 visits and SRCU 1.',
    );
    store.lesson.set({ ...lesson, workloads: { other: workloads['storm']! } });
    act(() => playback.seek(6 * cell));
    expect(getByTestId('sentence').textContent).toContain('umounts');
  });

  test('only the lanes on show are spoken of', () => {
    const { getByTestId } = show(storeOf(drawing), ['srcu']);
    act(() => playback.seek(7 * cell));
    expect(getByTestId('counts').textContent).toBe('srcu 1');
  });

  test('a beat steps to the next end of an operation on a lane on show', () => {
    show(storeOf(drawing), ['srcu']);
    act(() => playback.seek(0));
    act(() => playback.beat(1));
    expect(playback.now().moment / cell).toBe(7);
  });

  test('a lane that changes its phase does not redraw who shows another lane', () => {
    const store = storeOf(drawing, true);
    let renders = 0;
    function Lane() {
      renders += 1;
      return <p>{useLane('srcu')?.phase}</p>;
    }
    const { container } = render(
      <StoreProvider store={store}>
        <Lane />
      </StoreProvider>,
    );
    renders = 0;
    const head = { runId: 'r', arm: 'rwsem', seq: 1, watermark: 99 * cell };
    act(() => store.dispatch(spanBatch(head, [{ t0: 0, t1: 1, row: 0, kind: 0 }])));
    expect(renders).toBe(0);
    act(() => store.dispatch(laneMessage('r', 'srcu', 'failed')));
    expect(container.textContent).toBe('failed');
  });

  test('a run of the lesson that was left is not read as one of the lesson that was opened', () => {
    const store = storeOf(drawing);
    const { getByTestId } = show(store);
    act(() => playback.seek(6 * cell));
    expect(getByTestId('counts').textContent).not.toBe('');
    act(() => store.lesson.set({ ...store.lesson.get()!, slug: '09-other', kinds: [] }));
    expect(getByTestId('counts').textContent).toBe('');
  });
});

// Marks that answer a question: marks of its kind or of its other correct kinds, on its lane or on any lane.
describe('points at', () => {
  const index = { kinds: [{ name: 'gp_check' }, { name: 'gp_recheck' }, { name: 'armed' }] };
  const right = (kind: number, arm: string, question: object) =>
    pointsAt(index as unknown as RunIndex, { kind, arm } as Mark, {
      kind: 'gp_check',
      arm: 'srcu',
      ...question,
    });

  test('its kind on its lane', () => {
    expect([right(0, 'srcu', {}), right(1, 'srcu', {}), right(0, 'rwsem', {})]).toEqual([
      true,
      false,
      false,
    ]);
  });

  test('another kind, and any lane, where the lesson says so', () => {
    const also = { also: ['gp_recheck'] };
    expect([right(1, 'srcu', also), right(1, 'rwsem', also), right(2, 'srcu', also)]).toEqual([
      true,
      false,
      false,
    ]);
    const any = { any_lane: true };
    expect([right(0, 'rwsem', any), right(2, 'rwsem', any)]).toEqual([true, false]);
  });
});
