// @vitest-environment happy-dom
// SPDX-License-Identifier: GPL-2.0-or-later
import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { testLesson, testMeasured, testRun } from '../../test/fixtures/page.tsx';
import { actOf, keyList } from '../controls/keyboard.ts';
import { LaneHeader } from '../panels/lane-header.tsx';
import type { LaneLens } from '../panels/lens-badge.tsx';
import { mailText } from '../panels/mail.ts';
import { MeasuredPanel } from '../panels/measured-panel.tsx';
import { connectionWords, LaneErrors, NoticeLines } from '../panels/notices.tsx';
import { PatchPanel } from '../panels/patch-panel.tsx';
import { readAnswers, writeAnswers } from '../panels/predict.ts';
import { PredictCard } from '../panels/predict-card.tsx';
import { SourceBadge, StateStrip } from '../panels/state-strip.tsx';
import type { ControlMessage, LaneMessage, LensMessage } from '../protocol/messages.ts';
import { lanePhase } from '../runs/phase.ts';
import { StepNav } from './story.tsx';

afterEach(() => {
  cleanup();
  localStorage.clear();
});
const lesson = testLesson();
const nothing = () => {};

function lane(change: Partial<LaneMessage>): LaneMessage {
  return {
    type: 'lane',
    run_id: 'live-1',
    arm: 'srcu',
    phase: 'running',
    message: '',
    remedy: '',
    detail: '',
    accel: null,
    pid: null,
    kernel: null,
    boot_s: null,
    contention: null,
    ...change,
  };
}

describe('what is recorded says so', () => {
  it('with day and kernel, in every phase', () => {
    for (const phase of ['done', 'running', 'preparing'] as const) {
      render(<SourceBadge run={testRun({ phase })} kernel="6.1.192" />);
      expect(screen.getByTestId('source').textContent).toContain('recorded');
      expect(screen.getByTestId('source').textContent).toContain('1 Mar 2026, Linux 6.1.192');
      cleanup();
    }
  });

  it('also while live guests boot', () => {
    expect(lanePhase(lane({ phase: 'booting' }), null, true, true).words).toBe(
      'recorded; live: booting',
    );
    expect(lanePhase(lane({ phase: 'done' }), null, true).words).toBe('recorded');
  });

  it('and what is live says live', () => {
    render(<SourceBadge run={testRun({ source: 'live', phase: 'running' })} kernel={null} />);
    expect(screen.getByTestId('source').textContent).toContain('live');
    expect(screen.getByTestId('source').textContent).not.toContain('recorded');
  });
});

describe('the state of the run', () => {
  const lensOf = (state: LensMessage['state'], samples: number): LaneLens => ({
    title: 'SRCU',
    lens: {
      type: 'lens',
      run_id: 'r',
      arm: 'srcu',
      lens: 'xray',
      state,
      route: 'memory',
      message: '',
      remedy: '',
      samples,
      torn: samples > 0 ? 2 : 0,
      failed: samples > 0 ? 1 : 0,
      dropped: 0,
    },
  });
  const strip = (
    lost: number,
    by: ControlMessage['by'] | null,
    onControl = nothing as (t: boolean) => void,
    may_take = true,
    lenses: readonly LaneLens[] = [],
  ) =>
    render(
      <StateStrip
        run={testRun()}
        kernel={null}
        lanes={2}
        lost={lost}
        gaps={0}
        control={
          by === null
            ? null
            : { type: 'control', run_id: testRun().run_id, by, may_take, yours: by === 'you' }
        }
        pending=""
        lenses={lenses}
        onLoss={nothing}
        onLens={nothing}
        onControl={onControl}
      />,
    );

  it('tells how the x-ray is: samples, torn and failed reads, and a failure with a sign', () => {
    strip(0, null);
    expect(screen.queryByTestId('lens')).toBeNull();
    cleanup();
    strip(0, null, nothing, true, [lensOf('on', 40), lensOf('off', 0)]);
    expect(screen.getByTestId('lens').textContent).toBe(' x-ray 40, 2 torn, 1 failed');
    cleanup();
    strip(0, null, nothing, true, [lensOf('failed', 3)]);
    expect(screen.getByTestId('lens').dataset['tone']).toBe('hazard');
  });

  it('counts lost events, with a sign when there are some', () => {
    strip(0, null);
    expect(screen.getByTestId('lost').dataset['tone']).toBeUndefined();
    cleanup();
    strip(1204, null);
    expect(screen.getByTestId('lost').textContent).toContain('1,204');
    expect(screen.getByTestId('lost').dataset['tone']).toBe('hazard');
    expect(screen.getByTestId('lost').querySelector('svg')).not.toBeNull();
  });

  it('says who controls, and lets a watcher take over', () => {
    const take = vi.fn();
    strip(0, 'other', take);
    fireEvent.click(screen.getByTestId('control'));
    expect(screen.getByTestId('control').textContent).toContain('watching');
    expect(take).toHaveBeenCalledWith(true);
  });

  it('offers control to nobody who would not get it', () => {
    strip(0, 'other', nothing, false);
    expect(screen.getByTestId('control').tagName).toBe('SPAN');
  });
});

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
      connectionWords({ state: 'retry', reason: 'The server is going away.', retryInMs: 250 }),
    ).toContain('Reconnecting…');
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

describe('the patch', () => {
  const shown = (n: number) =>
    render(
      <PatchPanel
        lesson={lesson}
        arms={['rwsem', 'srcu']}
        arm="srcu"
        open={(_arm, kind) => (kind === 'srcu_call' ? n : 0)}
        occurs={() => true}
        onArm={nothing}
      />,
    );

  it('lights the line whose function runs, once, and counts who stands there', () => {
    const { container } = shown(7);
    const lit = [...container.querySelectorAll('[data-lit]')];
    expect(lit.map((l) => l.firstChild?.nextSibling?.textContent)).toEqual([
      'synchronize_srcu(&shrinker_srcu);',
    ]);
    expect(lit[0]).toHaveProperty('dataset.lit', 'wait');
    expect(screen.getByTestId('standing-srcu_call').textContent).toBe(
      '7 hogs stand on this line now',
    );
  });

  it('goes dark when nobody is inside', () => {
    const { container } = shown(0);
    expect(container.querySelectorAll('[data-lit]')).toHaveLength(0);
    expect(screen.getByTestId('standing-srcu_call').textContent).toContain('no hog');
  });

  it('has signs, not only colours, and says that stock has none', () => {
    const { container } = shown(0);
    const signs = [...container.querySelectorAll('.patch-line i')].map((i) => i.textContent);
    expect(new Set(signs)).toEqual(new Set([' ', '+', '−']));
    cleanup();
    render(
      <PatchPanel
        lesson={lesson}
        arms={['rwsem']}
        arm="rwsem"
        open={() => 0}
        occurs={() => true}
        onArm={nothing}
      />,
    );
    expect(screen.getByTestId('patch').textContent).toContain('No patch');
  });
});

describe('predict, then check', () => {
  const card = (
    guess: number | null,
    answer: { words: string; choice: number } | null,
    unfit = '',
  ) =>
    render(
      <PredictCard
        prediction={lesson.predictions['three']!}
        guess={guess}
        answer={answer}
        unfit={unfit}
        plural="umounts"
        onGuess={(i) => writeAnswers(lesson.slug, { guesses: { three: i }, answered: [] })}
        onForget={nothing}
      />,
    );

  it('tells no truth before the guess, and keeps the guess', () => {
    const { container } = card(null, {
      words: 'So far 2.0 umounts on SRCU for ten on rwsem.',
      choice: 0,
    });
    expect(container.querySelector('[data-truth]')).toBeNull();
    expect(screen.queryByTestId('predict-truth')).toBeNull();
    fireEvent.click(screen.getByText('some'));
    expect(readAnswers(lesson.slug).guesses).toEqual({ three: 1 });
  });

  it('then sets the guess against the events', () => {
    const { container } = card(1, {
      words: 'So far 2.0 umounts on SRCU for ten on rwsem.',
      choice: 0,
    });
    expect(container.querySelector('[data-truth]')?.textContent).toContain('few');
    expect(screen.getByTestId('predict-truth').textContent).toContain(
      'Counted: So far 2.0 umounts on SRCU for ten on rwsem.',
    );
    expect(screen.getByTestId('predict').textContent).toContain('You expected otherwise');
  });

  it('does not answer from a run with other knobs', () => {
    const { container } = card(
      1,
      { words: 'So far 2.0 umounts on SRCU for ten on rwsem.', choice: 0 },
      'It takes a run with 3 hogs.',
    );
    expect(container.querySelector('[data-truth]')).toBeNull();
    expect(screen.getByTestId('predict-truth').textContent).toContain('3 hogs');
  });

  it('survives a broken store', () => {
    localStorage.setItem(`duet.${lesson.slug}`, '{"guesses": 7, "answered": "x"');
    expect(readAnswers(lesson.slug)).toEqual({ guesses: {}, answered: [] });
  });
});

describe('the measured table', () => {
  it('says n, median, direction, and why there is no verdict', () => {
    render(
      <MeasuredPanel lesson={lesson} measured={testMeasured()} blocked="" onMeasure={nothing} />,
    );
    const text = screen.getByTestId('measured').textContent;
    expect(text).toContain('higher is better');
    expect(text).toContain('922');
    expect(text).toContain('no verdict: n < 5');
    expect(text).not.toContain('recorded');
  });

  it('of a recording says recorded', () => {
    const old = testMeasured({ source: 'recorded' });
    render(<MeasuredPanel lesson={lesson} measured={old} blocked="" onMeasure={nothing} />);
    expect(screen.getByTestId('measured').textContent).toContain('recorded 1 Mar 2026');
  });

  it('copies as plain ASCII of at most 75 columns, with the command', () => {
    const text = mailText(
      lesson,
      testMeasured({ verdict: 'SRCU “is” slower – by 75 %, '.repeat(9) }),
    );
    expect(Math.max(...text.split('\n').map((l) => l.length))).toBeLessThanOrEqual(75);
    expect(text).toMatch(/^[\n\x20-\x7e]*$/);
    expect(text).toContain('umounts/s, higher is better');
    expect(text).toContain('./duet run 02-grace-periods --arms rwsem,srcu --hogs 9');
    expect(text).toMatch(/srcu +3 +231 +234 +- +-75.0 %/);
  });
});

describe('the keyboard', () => {
  const keys = keyList('umount');
  const press = (key: string, on: HTMLElement = document.body, more = {}) => {
    let act: ReturnType<typeof actOf> = null;
    const listen = (event: KeyboardEvent) => {
      act = actOf(event, keys);
    };
    document.addEventListener('keydown', listen);
    fireEvent.keyDown(on, { key, ...more });
    document.removeEventListener('keydown', listen);
    return act;
  };

  it('plays, steps, jumps and helps', () => {
    expect(
      [' ', 'ArrowRight', 'PageDown', 'PageUp', 'n', 'd', 'p', '?', 'w', 'Escape'].map((k) =>
        press(k),
      ),
    ).toEqual([
      'toggle',
      'beat-on',
      'step-on',
      'step-back',
      'long-wait',
      'divergence',
      'present',
      'help',
      'words',
      'deselect',
    ]);
    expect(press('ArrowLeft', document.body, { shiftKey: true })).toBe('event-back');
  });

  it('leaves fields, buttons and shortcuts of the browser alone', () => {
    document.body.innerHTML = '<input id="a"><button id="b" type="button"></button>';
    const at = (id: string) => document.getElementById(id) as HTMLElement;
    expect(press('p', at('a'))).toBeNull();
    expect(press(' ', at('b'))).toBeNull();
    expect(press('p', at('b'))).toBe('present');
    expect(press('p', document.body, { ctrlKey: true })).toBeNull();
    document.body.innerHTML = '';
  });

  it('every act has one row in the help, and no key means two things', () => {
    const all = keys.flatMap((k) => k.keys);
    expect(new Set(all).size).toBe(all.length);
    expect(new Set(keys.map((k) => k.act)).size).toBe(keys.length);
  });

  it('arrows walk the steps while they have the focus', () => {
    const onStep = vi.fn();
    render(<StepNav lesson={lesson} scene={lesson.scenes[0]!} onStep={onStep} />);
    fireEvent.keyDown(screen.getByRole('button', { name: 'Step 1: One' }), { key: 'ArrowRight' });
    expect(onStep).toHaveBeenCalledWith('three');
  });
});
