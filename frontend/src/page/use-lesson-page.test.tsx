// SPDX-License-Identifier: GPL-2.0-or-later
// @vitest-environment happy-dom

import { act, cleanup, render } from '@testing-library/react';
import { afterEach, describe, expect, it, test, vi } from 'vitest';
import { lineLesson, lineStore } from '../../test/fixtures/cachelines.ts';
import { wholeLesson, wholeMessage } from '../../test/fixtures/whole.ts';
import { ns } from '../base/units.ts';
import type { Mark } from '../derive/types.ts';
import { frontPage, type Pane } from '../navigation/place.ts';
import { PlaybackProvider } from '../playback/hooks.tsx';
import type { Lesson } from '../protocol/lesson.ts';
import { StoreProvider } from '../store/hooks.tsx';
import { coverOf, type LessonModel, useLessonPage } from './use-lesson-page.ts';

describe('use lesson page', () => {
  // SPDX-License-Identifier: GPL-2.0-or-later
  /** A lesson that is walked as a page walks it: where each step opens. */

  afterEach(() => {
    cleanup();
    localStorage.clear();
  });

  const cpus = {
    title: 'CPUs of the model',
    help: '',
    default: 2,
    min: 1,
    max: 64,
    applies: 'model',
  };
  const step = {
    workload: 'watched',
    moment: 'warm',
    window_steps: 60,
    arms: ['stock', 'moved'],
    metric: 'ops_ratio',
    bounds: [0.5],
  };
  const lesson: Lesson = wholeLesson({
    ...lineLesson,
    params: { model_cpus: cpus },
    workloads: { watched: { title: 'watched', summary: '' } },
    scenes: [
      { id: 'two', title: 'two', ...step, params: {} },
      { id: 'twenty', title: 'twenty', ...step, params: { model_cpus: 20 } },
    ],
  } as never);

  let model: LessonModel;
  const go = vi.fn();

  interface Props {
    readonly id: string;
    readonly of?: Lesson;
    readonly panes?: readonly Pane[];
    /** In the address. */
    readonly moment?: number | null;
  }

  function Page({ id, of = lesson, panes = [], moment = null }: Props) {
    const scene = of.scenes.find((one) => one.id === id)!;
    model = useLessonPage({
      ...{ lesson: of, scene, arms: scene.arms, place: { ...frontPage, step: id, panes, moment } },
      ...{ go, visit: 0, first: { run: null, step: id } },
    });
    return null;
  }

  it('a step opens where its own knobs of the model put it, gone to or opened', () => {
    const store = lineStore({ letters: 24, stats: 300 });
    store.lesson.set(lesson);
    store.dispatch(wholeMessage('reading', { run_id: 'r', read: 1, total: 1, whole: true }));
    const shown = (id: string) => (
      <StoreProvider store={store}>
        <PlaybackProvider arms={['stock', 'moved']}>
          <Page id={id} />
        </PlaybackProvider>
      </StoreProvider>
    );
    const opened = () => model.playback.now().start / 1000;
    const openedAt = (id: string) => {
      render(shown(id));
      const at = opened();
      cleanup();
      return at;
    };
    const [two, twenty] = [openedAt('two'), openedAt('twenty')];
    expect(twenty).not.toBe(two);
    const { rerender } = render(shown('two'));
    for (const [id, at] of [
      ['twenty', twenty],
      ['two', two],
    ] as const) {
      act(() => rerender(shown(id)));
      expect(opened(), id).toBe(at);
    }
  });

  it('a knob that a panel turns stands in the address', () => {
    const store = lineStore({ letters: 24, stats: 10 });
    store.lesson.set(lesson);
    render(
      <StoreProvider store={store}>
        <PlaybackProvider arms={['stock', 'moved']}>
          <Page id="two" />
        </PlaybackProvider>
      </StoreProvider>,
    );
    act(() => model.actions.turnOne('model_cpus', 700));
    expect(go).toHaveBeenLastCalledWith(
      expect.objectContaining({ knobs: { model_cpus: 64 } }),
      'replace',
    );
  });

  it('a mark that is pointed at beside the list of questions opens no drawer: first a question is chosen', () => {
    const store = lineStore({ letters: 24, stats: 10 });
    const asked = { arm: 'stock', any_lane: true, also: [], step: 'two', why: '' };
    const questions = [{ ...asked, ask: 'Point at the count.', kind: 'count' }];
    const asking = wholeLesson({ ...lesson, questions } as never);
    store.lesson.set(asking);
    const page = (panes: readonly Pane[]) => (
      <StoreProvider store={store}>
        <PlaybackProvider arms={['stock', 'moved']}>
          <Page id="two" of={asking} panes={panes} />
        </PlaybackProvider>
      </StoreProvider>
    );
    const { rerender } = render(page(['questions']));
    const kind = asking.kinds.findIndex(({ name }) => name === 'count');
    const zero = ns(0);
    const mark: Mark = { arm: 'stock', table: 'points', id: 0, row: 88, kind, t0: zero, t1: zero };
    act(() => model.onMark(mark));
    expect(model.records).toBeNull();
    expect(model.questions.said).toContain('Choose a question first');
    act(() => model.questions.ask(0));
    act(() => model.onMark(mark));
    expect([model.answers.answered, model.records]).toEqual([[0], null]);
    // All are answered, or the list is not open: a mark has its drawer.
    act(() => model.onMark(mark));
    expect(model.records?.arm).toBe('stock');
    act(() => {
      model.setRecords(null);
      model.save({ ...model.answers, answered: [] });
    });
    rerender(page([]));
    act(() => model.onMark(mark));
    expect(model.records?.arm).toBe('stock');
  });

  it('what a later step asks is shown by a link to a moment, never because the viewer has paused', () => {
    const store = lineStore({ letters: 24, stats: 10 });
    const asks = { question: 'More?', choices: ['yes', 'no'], arms: ['stock', 'moved'] };
    const more = { ...asks, metric: 'ops_ratio', bounds: [0.5] };
    const scenes = [lesson.scenes[0]!, { ...lesson.scenes[0]!, id: 'later', predict: 'more' }];
    const of = wholeLesson({ ...lesson, scenes, predictions: { more } } as never);
    store.lesson.set(of);
    const page = (moment: number | null, id = 'two') => (
      <StoreProvider store={store}>
        <PlaybackProvider arms={['stock', 'moved']}>
          <Page {...{ id, of, moment }} />
        </PlaybackProvider>
      </StoreProvider>
    );
    const { rerender } = render(page(null));
    expect(model.guess.spoils('overview')).toBe(true);
    rerender(page(1e6));
    expect(model.guess.spoils('overview'), 'paused').toBe(true);
    cleanup();
    render(page(1e6));
    expect(model.guess.spoils('overview'), 'by a link').toBe(false);
  });

  it('behind the curtain of a prediction the run stands at its begin, and plays from there once that is lifted', () => {
    const store = lineStore({ letters: 24, stats: 300 });
    const scenes = [{ ...lesson.scenes[0]!, predict: 'more' }];
    const asks = {
      question: 'More?',
      choices: ['yes', 'no'],
      arms: ['stock', 'moved'],
      metric: 'ops_ratio',
      bounds: [0.5],
    };
    const of = wholeLesson({ ...lesson, scenes, predictions: { more: asks } } as never);
    store.lesson.set(of);
    store.dispatch(wholeMessage('reading', { run_id: 'r', read: 1, total: 1, whole: true }));
    const opened = () =>
      render(
        <StoreProvider store={store}>
          <PlaybackProvider arms={['stock', 'moved']}>
            <Page id="two" of={of} />
          </PlaybackProvider>
        </StoreProvider>,
      );
    for (const [how, lift] of Object.entries({
      guess: () => model.guess.say(0),
      'just show me': () => model.guess.reveal?.(),
      play: () => model.playback.toggle(),
    })) {
      localStorage.clear();
      opened();
      const { veiled, mode } = model.playback.now();
      expect([model.guess.veiled, veiled, mode], how).toEqual([true, true, 'scope']);
      const at = model.playback.now().moment;
      act(lift);
      const now = model.playback.now();
      expect([model.guess.veiled, now.veiled, now.mode], how).toEqual([false, false, 'scope']);
      expect(now.moment, how).toBe(at);
      cleanup();
    }
  });
});

describe('use guess', () => {
  const place = { present: null, embed: false, moment: null };

  test('the stage is covered, and the explanation hidden, until the viewer has guessed', () => {
    expect(coverOf(false, place)).toEqual({ veiled: true, predicted: false });
    expect(coverOf(true, place)).toEqual({ veiled: false, predicted: true });
  });

  test('who steps through the picture, or opens a link to a moment, sees the explanation, too', () => {
    expect(coverOf(false, { ...place, moment: 1 })).toEqual({ veiled: false, predicted: true });
  });
});
