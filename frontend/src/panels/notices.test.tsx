// @vitest-environment happy-dom
// SPDX-License-Identifier: GPL-2.0-or-later
import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, describe, expect, it } from 'vitest';
import { laneMessage } from '../../test/fixtures/messages.ts';
import { testLesson } from '../../test/fixtures/page.tsx';
import type { LaneMessage } from '../protocol/messages.ts';
import { lanePhase } from '../runs/phase.ts';
import { LaneHeader } from './lane-header.tsx';
import { connectionWords, LaneErrors, NoticeLines } from './notices.tsx';

afterEach(() => {
  cleanup();
  localStorage.clear();
});
const lesson = testLesson();
const nothing = () => {};

function lane(change: Partial<LaneMessage>): LaneMessage {
  return { ...laneMessage('live-1', 'srcu', 'running'), ...change };
}

describe('errors', () => {
  it('are sentences with a remedy; the detail is one click away', () => {
    const error = {
      type: 'error' as const,
      code: 'infra',
      sentence: 'QEMU is missing.',
      remedy: 'Install qemu-system-x86.',
      detail: 'looked in PATH',
    };
    render(
      <NoticeLines
        connection={{ state: 'open', reason: '', retryInMs: null }}
        errors={[error]}
        onDismiss={nothing}
      />,
    );
    expect(screen.getByRole('alert').textContent).toContain('QEMU is missing. Install');
    fireEvent.click(screen.getByText('details'));
    expect(screen.getByTestId('details').textContent).toContain('looked in PATH');
  });

  it('a broken connection is one calm line', () => {
    expect(connectionWords({ state: 'open', reason: '', retryInMs: null })).toBe('');
    expect(
      connectionWords({ state: 'retry', reason: 'The server is shutting down.', retryInMs: 250 }),
    ).toContain('Reconnecting…');
  });

  it('that several lanes have are said once', () => {
    const failed = (arm: string, message: string) =>
      lanePhase(lane({ arm, phase: 'failed', message, remedy: 'Do this.' }), null, false);
    render(
      <LaneErrors
        failed={[
          { arm: lesson.arms[0]!, phase: failed('rwsem', 'there is no source.') },
          { arm: lesson.arms[1]!, phase: failed('srcu', 'there is no source.') },
        ]}
      />,
    );
    const titles = lesson.arms.slice(0, 2).map((arm) => arm.title);
    expect(screen.getAllByRole('alert').map((one) => one.textContent)).toEqual([
      `${titles.join(', ')}: There is no source. Do this.`,
    ]);
  });

  it('of a lane stand above the lanes, with the console behind a click in its header', () => {
    const broken = lane({ phase: 'failed', message: 'QEMU ended.', remedy: 'Press again.' });
    render(
      <LaneErrors failed={[{ arm: lesson.arms[1]!, phase: lanePhase(broken, null, false) }]} />,
    );
    expect(screen.getByTestId('error-srcu').textContent).toBe('SRCU: QEMU ended. Press again.');
    render(
      <LaneHeader
        arm={lesson.arms[1]!}
        lane={lane({
          phase: 'failed',
          message: 'QEMU ended with signal 9.',
          remedy: 'Press again.',
          detail: 'Kernel panic - not syncing',
        })}
        build={null}
        recorded={false}
        pending={false}
        missing={false}
        ops={41}
        total={230}
        operation={lesson.operation}
        lost={3}
        lines={[]}
        onLoss={nothing}
      />,
    );
    expect(screen.getByTestId('phase-srcu').textContent).toBe('failed');
    expect(screen.getByTestId('lost-srcu').textContent).toContain('3 events lost');
    expect(screen.getByTestId('ops-srcu').textContent).toBe('41');
    expect(screen.getByTestId('lane-srcu').textContent).toContain('41 of 230 umounts');
    expect(screen.getByTestId('lane-srcu').textContent).not.toContain('/s');
    fireEvent.click(screen.getByTestId('details-srcu'));
    expect(screen.getByTestId('details').textContent).toContain('Kernel panic');
  });

  it('a build speaks while no guest does', () => {
    const build = {
      type: 'build' as const,
      lesson: lesson.slug,
      arms: ['srcu'],
      arm: 'srcu',
      phase: 'compile' as const,
      done: 400,
      total: 1000,
      elapsed_s: 10,
      message: '',
      error: null,
    };
    expect(lanePhase(null, build, false)).toMatchObject({ words: 'building 40 %', progress: 0.4 });
    expect(lanePhase(lane({}), build, false).words).toBe('live');
  });
});
