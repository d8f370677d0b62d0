// @vitest-environment happy-dom
// SPDX-License-Identifier: GPL-2.0-or-later
import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { testLesson, testRun } from '../../test/fixtures/page.tsx';
import type { ControlMessage, HeldMessage } from '../protocol/messages.ts';
import { Store } from '../store/store.ts';
import { HoldBar, holdWords } from './act-bar.tsx';

afterEach(cleanup);

const lesson = {
  ...testLesson(),
  microscope: {
    functions: ['dput'],
    bases: {},
    operation: 'dput',
    until: '',
    object: 'struct dentry',
    workloads: ['storm'],
    ...{ probe: 'dentry', ready: 'ready', go: 'go', log: 0 },
  },
};
const run = testRun({ run_id: 'live-1', source: 'live', phase: 'running' });
const me: ControlMessage = {
  type: 'control',
  run_id: 'live-1',
  by: 'you',
  may_take: true,
  yours: true,
};
const other: ControlMessage = { ...me, by: 'other', may_take: false, yours: false };

function hold(change: Partial<HeldMessage> = {}): HeldMessage {
  return {
    type: 'held',
    run_id: 'live-1',
    arm: 'rwsem',
    phase: 'held',
    after: 0,
    asked: 1204,
    stood: 1391,
    message: '',
    ...change,
  };
}

function show(change: Partial<Parameters<typeof HoldBar>[0]> = {}) {
  const onHold = vi.fn();
  render(<HoldBar lesson={lesson} run={run} control={me} holds={[]} onHold={onHold} {...change} />);
  return onHold;
}

describe('the words of a hold', () => {
  it('say where it was asked for, where it stood, and what lies between', () => {
    expect(holdWords(hold())).toBe('requested at access 1,204, stopped at 1,391: 187 more');
    expect(holdWords(hold({ after: 100 }))).toBe(
      'requested at access 1,204 for 100 more, stopped at 1,391: 87 beyond',
    );
    expect(holdWords(hold({ phase: 'waiting', after: 100, stood: null }))).toBe(
      'requested at access 1,204 for 100 more',
    );
  });

  it('say why it goes on, and nothing when somebody let it go', () => {
    expect(holdWords(hold({ phase: 'going' }))).toBe('');
    expect(holdWords(hold({ phase: 'going', message: 'It goes on.' }))).toBe('It goes on.');
  });
});

describe('holding the guests', () => {
  it('asks for it at once, or after some accesses', () => {
    const onHold = show();
    fireEvent.click(screen.getByTestId('hold'));
    fireEvent.change(screen.getByTestId('hold-after'), { target: { value: '250' } });
    fireEvent.click(screen.getByTestId('hold'));
    expect(onHold.mock.calls).toEqual([
      [true, 0],
      [true, 250],
    ]);
  });

  it('lets them go, and says per lane how far they ran on', () => {
    const onHold = show({ holds: [hold(), hold({ arm: 'srcu', stood: 1300 })] });
    expect(screen.getByTestId('hold').textContent).toBe('resume the guests');
    expect(screen.getByTestId('held-rwsem').textContent).toContain(
      'rwsem requested at access 1,204',
    );
    expect(screen.getByTestId('held-srcu').textContent).toContain('SRCU');
    expect(screen.getByTestId('held-srcu').textContent).toContain('96 more');
    fireEvent.click(screen.getByTestId('hold'));
    expect(onHold).toHaveBeenCalledWith(false, 0);
  });

  it('is for the controller; the others read what is so', () => {
    show({ control: other, holds: [hold()] });
    expect(screen.queryByTestId('hold')).toBeNull();
    expect(screen.getByTestId('held-rwsem').textContent).toContain('187 more');
    cleanup();
    show({ control: other });
    expect(screen.queryByTestId('hold-bar')).toBeNull();
  });

  it.each([
    ['a recording', { run: testRun({ phase: 'running' }) }],
    ['a run that is over', { run: { ...run, phase: 'done' as const } }],
    ['no run', { run: null }],
    ['a workload that is not watched', { run: { ...run, workload: 'exact' } }],
    ['a lesson without a microscope', { lesson: testLesson() }],
  ])('is not there for %s', (_, change) => {
    show({ ...change, holds: [hold()] });
    expect(screen.queryByTestId('hold-bar')).toBeNull();
  });

  it('forgets what was held in a former run', () => {
    show({ holds: [hold({ run_id: 'live-0' })] });
    expect(screen.getByTestId('hold').textContent).toBe('hold the guests');
    expect(screen.queryByTestId('held-rwsem')).toBeNull();
  });
});

describe('the store', () => {
  it('keeps the latest of each lane, of the newest run', () => {
    const store = new Store();
    store.dispatch(hold({ run_id: 'live-0' }));
    store.dispatch(hold({ phase: 'waiting', stood: null }));
    store.dispatch(hold({ arm: 'srcu' }));
    store.dispatch(hold());
    expect(store.holds.get()).toEqual([hold({ arm: 'srcu' }), hold()]);
  });
});
