// @vitest-environment happy-dom
// SPDX-License-Identifier: GPL-2.0-or-later
import { act, cleanup, fireEvent, render, screen, within } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { testLesson } from '../../test/fixtures/page.tsx';
import type { Lesson } from '../protocol/lesson.ts';
import { GridPanel } from './grid-panel.tsx';
import { useRevealed } from './revealed.ts';

afterEach(cleanup);

const base = testLesson();
const [workload] = Object.keys(base.workloads);
const arms = ['rwsem', 'srcu'];
const cells = [9, 1].map((hogs) => ({
  ...{
    name: `hogs-${hogs}`,
    grid: 'hogs',
    params: { hogs, vcpus: 2 },
    arms,
    workload,
    clock: 'wall',
  },
  ...{ recorded_at: '2026-01-02T03:04:05Z', host: 'a CPU, 2 CPUs', seconds: 1 },
  values: { ops_per_s: { rwsem: 100 * hogs, srcu: 50 } },
}));
const curves = { rate: { title: 'umounts per second', over: 'hogs', metric: 'ops_per_s' } };
const rows = arms.map((arm) => ({ arm, n: 5, unit: '', ops_per_s_median: 70 }));
const measured = [
  { clock: 'wall', params: { hogs: 9, vcpus: 2 }, workload, metric: 'ops_per_s', rows },
];
const grids = { hogs: { arms, over: { hogs: [1, 9], vcpus: [2] }, params: {}, curves } };
const lesson = { ...base, grids, cells, measured } as unknown as Lesson;
const scene = { ...base.scenes[0]!, workload: null };

describe('the curves of a grid', () => {
  const onCell = vi.fn();
  beforeEach(() => {
    onCell.mockClear();
    render(
      <GridPanel {...{ lesson, scene, onCell }} params={{ hogs: 1, vcpus: 2 }} shown="hogs-9" />,
    );
  });

  it('open the run of a value by a click or a key', () => {
    const panel = within(screen.getByTestId('grid-rate'));
    fireEvent.click(panel.getByRole('button', { name: 'hogs 1: show this run' }));
    expect(onCell.mock.lastCall?.[0].name).toBe('hogs-1');
    const nine = panel.getByRole('button', { name: 'hogs 9: show this run' });
    expect(nine.getAttribute('aria-pressed')).toBe('true');
    fireEvent.keyDown(nine, { key: 'Enter' });
    expect(onCell.mock.lastCall?.[0].name).toBe('hogs-9');
  });

  it('have a table with ratios to the first kernel', () => {
    const [, one, nine] = within(screen.getByTestId('grid-table')).getAllByRole('row');
    expect(one?.textContent).toBe('110050 ×0.5');
    expect(nine?.textContent).toBe('990050 ×0.056');
  });

  it('say what the points are, when and on which host they were recorded, and what crosses are', () => {
    const note = screen.getByTestId('grid-note').textContent;
    expect(note).toContain('one recorded run with tracing, wall clock, vCPUs 2');
    expect(note).toContain('Recorded 2026-01-02 on a CPU, 2 CPUs.');
    expect(note).toContain('Crosses are medians of runs without tracing');
  });
});

describe('the points of an answer', () => {
  function Shown({ guessed }: { readonly guessed: boolean }) {
    return <output>{useRevealed(3, guessed)}</output>;
  }
  const shown = () => screen.getByRole('status').textContent;
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  it('appear one by one after the guess', () => {
    vi.stubGlobal('matchMedia', () => ({ matches: false }));
    const { rerender } = render(<Shown guessed={false} />);
    expect(shown()).toBe('0');
    rerender(<Shown guessed />);
    for (const count of ['1', '2', '3', '3']) {
      act(() => vi.advanceTimersByTime(450));
      expect(shown()).toBe(count);
    }
    rerender(<Shown guessed={false} />);
    expect(shown()).toBe('0');
  });

  it('are all there for readers who prefer reduced motion, and where the guess was made before', () => {
    vi.stubGlobal('matchMedia', () => ({ matches: true }));
    const { rerender } = render(<Shown guessed={false} />);
    rerender(<Shown guessed />);
    expect(shown()).toBe('3');
    cleanup();
    vi.stubGlobal('matchMedia', () => ({ matches: false }));
    render(<Shown guessed />);
    expect(shown()).toBe('3');
  });
});
