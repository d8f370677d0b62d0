// @vitest-environment happy-dom
// SPDX-License-Identifier: GPL-2.0-or-later
import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { testLesson } from '../../test/fixtures/page.tsx';
import { runOf } from '../derive/grid.ts';
import { firstKnobs } from '../navigation/knobs.ts';
import type { LiveRun, WaitingRun } from '../protocol/messages.ts';
import { ordinalWords, RunsLine, waitWords } from './runs-line.tsx';

afterEach(cleanup);
const lesson = testLesson();
const live = (change: Partial<LiveRun> = {}): LiveRun => ({
  run_id: `kept:${lesson.slug}:run-1`,
  lesson: lesson.slug,
  purpose: 'explain',
  arms: ['rwsem', 'srcu'],
  workload: 'storm',
  params: { hogs: 9 },
  clock: 'wall',
  yours: false,
  ...change,
});
const waiting: WaitingRun = {
  run_id: `kept:${lesson.slug}:run-2`,
  lesson: lesson.slug,
  purpose: 'explain',
  arms: ['srcu'],
  place: 2,
  waiting: 3,
  estimate_s: 42,
  behind: null,
};

function show(
  runs: readonly LiveRun[],
  waits: WaitingRun | null = null,
  shown: string | null = null,
) {
  const did = { onWatch: vi.fn(), onCancel: vi.fn(), onRecording: vi.fn() };
  const message = { type: 'runs' as const, live: [...runs], waiting: waits, at: performance.now() };
  render(<RunsLine lesson={lesson} runs={message} shown={shown} {...did} />);
  return did;
}

describe('a recording of what one waits for', () => {
  const knobs = firstKnobs(lesson);
  const recorded = { name: 'equal', arms: ['rwsem', 'srcu'], clock: 'wall', params: knobs.params };
  const of = (change: object) => ({
    ...lesson,
    recordings: [{ ...recorded, ...change }] as unknown as typeof lesson.recordings,
  });

  it('has all of the kernels and knobs', () => {
    expect(runOf(of({}), knobs)?.name).toBe('equal');
    expect(runOf(of({ arms: ['srcu'] }), knobs)).toBeNull();
    expect(runOf(of({ clock: 'count' }), knobs)).toBeNull();
    expect(runOf(of({ params: { ...knobs.params, hogs: 8 } }), knobs)).toBeNull();
    expect(runOf(of({ workload: 'another' }), knobs)).toBeNull();
  });

  it('is offered while one waits, and not otherwise', () => {
    const onEqual = vi.fn();
    const props = { lesson, shown: null, onWatch: vi.fn(), onCancel: vi.fn(), onRecording: null };
    const message = { type: 'runs' as const, live: [live()], waiting, at: performance.now() };
    const { rerender } = render(<RunsLine {...props} runs={message} onEqual={onEqual} />);
    fireEvent.click(screen.getByTestId('play-equal'));
    expect(onEqual).toHaveBeenCalled();
    rerender(<RunsLine {...props} runs={{ ...message, waiting: null }} onEqual={onEqual} />);
    expect(screen.queryByTestId('play-equal')).toBeNull();
    rerender(<RunsLine {...props} runs={message} onEqual={null} />);
    expect(screen.queryByTestId('play-equal')).toBeNull();
  });
});

describe('live runs of others', () => {
  it('are offered, and nothing is moved before one is chosen', () => {
    const { onWatch } = show([live()]);
    expect(screen.getByTestId('live-runs').textContent).toContain('Somebody runs live');
    expect(screen.getByTestId('live-runs').textContent).toContain('2 lanes');
    expect(onWatch).not.toHaveBeenCalled();
    fireEvent.click(screen.getByTestId('watch'));
    expect(onWatch).toHaveBeenCalledWith(live().run_id);
  });

  it('on the stage have a way back', () => {
    const { onRecording } = show([live()], null, live().run_id);
    fireEvent.click(screen.getByTestId('unwatch'));
    expect(onRecording).toHaveBeenCalled();
    expect(screen.queryByTestId('watch')).toBeNull();
  });

  it('of other lessons, and the own one on the stage, are nobody’s business here', () => {
    show([live({ lesson: 'another' }), live({ yours: true, run_id: 'mine' })], null, 'mine');
    expect(screen.queryByTestId('live-runs')).toBeNull();
  });

  it('that are many are counted', () => {
    show([1, 2, 3, 4].map((n) => live({ run_id: `kept:x:run-${n}` })));
    expect(screen.getAllByTestId('watch')).toHaveLength(2);
    expect(screen.getByTestId('live-runs').textContent).toContain('2 more live runs');
  });
});

describe('who waits', () => {
  it('reads his place and the estimate, and may cancel', () => {
    const { onCancel } = show([], waiting);
    expect(screen.getByTestId('waiting').textContent).toContain('number 2 of 3, in about 45 s');
    fireEvent.click(screen.getByTestId('cancel-run'));
    expect(onCancel).toHaveBeenCalledWith(waiting.run_id);
  });

  it.each([
    [{ place: 1, waiting: 1 }, 'next'],
    [{ place: 1, waiting: 2 }, 'next of 2'],
    [{ place: 3, waiting: 4 }, 'number 3 of 4'],
  ])('%o is said', (place, words) => expect(ordinalWords(place)).toBe(words));

  it('what comes after what one waits for is said', () => {
    show([], { ...waiting, behind: 'measure' });
    expect(screen.getByTestId('waiting').textContent).toContain(
      'Your measurement comes after that.',
    );
  });

  it.each([
    [-20, 'any moment now'],
    [12, 'in about 15 s'],
    [58, 'in about 1 min'],
    [150, 'in about 3 min'],
  ])('%f s are said roughly', (seconds, words) => expect(waitWords(seconds)).toBe(words));
});
