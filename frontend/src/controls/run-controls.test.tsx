// @vitest-environment happy-dom
// SPDX-License-Identifier: GPL-2.0-or-later
import { cleanup, fireEvent, render, screen, within } from '@testing-library/react';
import { useState } from 'react';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { testLesson } from '../../test/fixtures/page.tsx';
import { bestRecording, differs } from '../derive/recording.ts';
import {
  clamp,
  firstKnobs,
  type Knobs,
  knobPlace,
  knobsAt,
  knobWords,
  modelParams,
  needBoot,
  paramWords,
  recordedNs,
  runLine,
  runParams,
  sceneKnobs,
  withArm,
  withClock,
  withParam,
} from '../navigation/knobs.ts';
import { toStep } from '../navigation/navigation.ts';
import { Knob, RunControls } from './run-controls.tsx';

afterEach(cleanup);
const lesson = testLesson();
const knobs = firstKnobs(lesson);

describe('knobs', () => {
  it('stay within their limits', () => {
    const hogs = lesson.params['hogs'];
    if (!hogs) throw new Error('no hogs');
    expect([0, 1, 9, 10, 1e6, Number.NaN].map((v) => clamp(hogs, v))).toEqual([1, 1, 9, 9, 9, 3]);
    expect(withParam(lesson, knobs, 'exp_holdoff', 7).params['exp_holdoff']).toBe(25000);
  });

  it('the count clock forces one CPU, and the wall clock gives the choice back', () => {
    const count = withClock(lesson, withParam(lesson, knobs, 'vcpus', 4), 'count');
    expect(count.params['vcpus']).toBe(1);
    expect(withParam(lesson, count, 'vcpus', 3).params['vcpus']).toBe(1);
    expect(withClock(lesson, count, 'wall').params['vcpus']).toBe(2);
  });

  it('come back from the address, which names only what the step puts elsewhere', () => {
    const scene = lesson.scenes[1];
    if (!scene) throw new Error('no second scene');
    const plain = knobsAt(lesson, scene, { knobs: null, clock: null, workload: null });
    expect(knobPlace(lesson, scene, plain)).toEqual({ knobs: null, clock: null, workload: null });
    const turned = withClock(lesson, withParam(lesson, plain, 'hogs', 7), 'count');
    const place = knobPlace(lesson, scene, turned);
    expect(place).toEqual({ knobs: { hogs: 7 }, clock: 'count', workload: null });
    expect(knobsAt(lesson, scene, place)).toEqual(turned);
  });

  it('of an address stay within what the lesson allows', () => {
    const scene = lesson.scenes[0];
    if (!scene) throw new Error('no scene');
    const wild = {
      knobs: { hogs: 1e9, toString: 1, cats: 3 },
      clock: null,
      workload: 'constructor',
    };
    const got = knobsAt(lesson, scene, wild);
    expect([got.params['hogs'], got.workload]).toEqual([9, 'storm']);
    expect(Object.keys(got.params)).toEqual(Object.keys(lesson.params));
  });

  it('never lose the last arm', () => {
    const one = withArm(lesson, knobs, 'rwsem', false);
    expect(one.arms).toEqual(['srcu']);
    expect(withArm(lesson, one, 'srcu', false).arms).toEqual(['srcu']);
    expect(withArm(lesson, one, 'rwsem', true).arms).toEqual(['rwsem', 'srcu']);
  });

  it('name what needs new guests', () => {
    const wanted = withClock(lesson, withParam(lesson, knobs, 'hogs', 9), 'count');
    expect(needBoot(lesson, knobs, wanted)).toEqual(['vCPUs', 'clock']);
    expect(needBoot(lesson, knobs, withParam(lesson, knobs, 'hogs', 9))).toEqual([]);
  });

  it('of a model on the page are no business of a run', () => {
    const cpus = { ...lesson.params['hogs']!, title: 'modelled CPUs', applies: 'model' as const };
    const modelled = { ...lesson, params: { ...lesson.params, cpus } };
    const mine = withParam(modelled, firstKnobs(modelled), 'cpus', 7);
    expect(modelParams(modelled, mine)).toEqual({ cpus: 7 });
    expect(runParams(modelled, mine)).toEqual(knobs.params);
    expect(paramWords(modelled, mine.params).join()).not.toContain('modelled');
    expect(differs(modelled, { params: { cpus: 5 } }, { cpus: 7 })).toEqual([]);
  });

  it('follow the scene and keep the CPUs', () => {
    const mine = withParam(lesson, knobs, 'vcpus', 4);
    const one = lesson.scenes[0];
    if (!one) throw new Error('no scene');
    expect(sceneKnobs(lesson, mine, one)).toMatchObject({
      arms: ['rwsem'],
      params: { hogs: 1, vcpus: 4 },
    });
  });

  it('that a step sets are not taken along to the next, those of the viewer are', () => {
    const [first, second] = lesson.scenes;
    const many = { ...first!, id: 'many', params: { hogs: 1, vcpus: 4, exp_holdoff: 0 } };
    const scenes = [many, second!];
    const there = sceneKnobs(lesson, knobs, many);
    expect(there.params).toMatchObject({ vcpus: 4, exp_holdoff: 0 });
    const on = toStep({ ...lesson, scenes }, many, there, second!.id);
    expect(on.knobs).toBeNull();
    const turned = withParam(lesson, withParam(lesson, there, 'vcpus', 3), 'seconds', 9);
    const taken = toStep({ ...lesson, scenes }, many, turned, second!.id);
    expect(taken.knobs).toEqual({ vcpus: 3, seconds: 9 });
    const back = knobsAt(lesson, second!, { knobs: null, clock: null, workload: null });
    expect(toStep({ ...lesson, scenes }, second!, back, 'many').knobs).toBeNull();
  });

  it('are described as the run on the stage has them, with what the next one would have', () => {
    const shown = { ...knobs, params: { ...knobs.params, seconds: 1 } };
    expect(runLine(lesson, null, knobs, 'hogs')).toBe('2 lanes, 2 vCPUs, 3 s, wall clock');
    expect(runLine(lesson, shown, knobs, 'hogs')).toBe(
      '2 lanes, 2 vCPUs, 1 s (next run: 3 s), wall clock',
    );
    const next = withClock(lesson, withParam(lesson, knobs, 'hogs', 9), 'count');
    expect(runLine(lesson, knobs, next, 'hogs')).toBe(
      '2 lanes, 3 hogs (next run: 9), 2 vCPUs (next run: 1), 3 s, wall clock (next run: count clock)',
    );
  });

  it('say how much there is of a recording that was cut', () => {
    const shown = { ...knobs, params: { ...knobs.params, seconds: 1 } };
    const index = { lanes: [{ watermark: 473.9e6 }, { watermark: 491.8e6 }] } as never;
    const kept = recordedNs({ source: 'recorded' }, index);
    expect(runLine(lesson, shown, knobs, 'hogs', kept)).toBe(
      '2 lanes, 2 vCPUs, 1 s (first 0.5 s recorded; next run: 3 s), wall clock',
    );
    expect(runLine(lesson, shown, shown, 'hogs', kept)).toContain('1 s (first 0.5 s recorded),');
    expect(runLine(lesson, shown, shown, 'hogs', 0.99e9)).toContain('2 vCPUs, 1 s, wall');
    expect(recordedNs({ source: 'live' }, index)).toBeNull();
  });

  it('whose values stand for something are said by what they stand for', () => {
    const choice = { ...lesson.params['exp_holdoff']!, title: 'spinlocks', choices: [159, 9999] };
    const kinds = { ...choice, labels: ['queued', 'test-and-set'], unit: null };
    const one = { ...lesson.params['hogs']!, title: 'a reader seeks', type: 'bool' as const };
    const of = { params: { locks: kinds, reader: one } } as unknown as typeof lesson;
    expect(knobWords(of, 'locks', 9999)).toBe('spinlocks: test-and-set');
    expect([0, 1].map((value) => knobWords(of, 'reader', value))).toEqual([
      'a reader seeks: no',
      'a reader seeks: yes',
    ]);
  });
});

describe('recordings', () => {
  const all = [
    { name: 'nine', params: { hogs: 9 }, arms: ['rwsem', 'srcu'], clock: 'wall' },
    { name: 'one', params: { hogs: 1 }, arms: ['rwsem', 'srcu'], clock: 'wall' },
  ];
  const with_ = { ...lesson, recordings: all as unknown as typeof lesson.recordings };

  it('the one with the params of the step plays', () => {
    expect(lesson.scenes.map((s) => bestRecording(with_, s)?.name)).toEqual(['one', 'one']);
    expect(
      bestRecording(with_, { arms: ['rwsem'], params: { hogs: 8 }, workload: null })?.name,
    ).toBe('nine');
    expect(bestRecording(lesson, { arms: ['rwsem'], params: {}, workload: null })).toBeNull();
  });

  it('what does not fit is named', () => {
    expect(differs(lesson, { params: { hogs: 3 } }, { hogs: 9, seconds: 1 })).toEqual([
      { name: 'hogs', wanted: 3, got: 9 },
    ]);
  });
});

function Bench({
  onRun = () => {},
  blocked = '',
  copied = false,
}: {
  onRun?: (k: Knobs) => void;
  blocked?: string;
  copied?: boolean;
}) {
  const [now, setNow] = useState(knobs);
  return (
    <RunControls
      lesson={lesson}
      knobs={now}
      shown={knobs}
      live
      running={false}
      armStates={[{ name: 'srcu', words: 'not built yet', copied }]}
      blocked={blocked}
      onKnobs={setNow}
      onRun={() => onRun(now)}
      onStop={() => {}}
      onAgain={() => {}}
    />
  );
}

describe('the knob desk', () => {
  it('hogs go from one to nine, and run takes what the knobs say', () => {
    const onRun = vi.fn();
    render(<Bench onRun={onRun} />);
    const more = screen.getByRole('button', { name: 'more hogs' });
    for (let i = 0; i < 20; i++) fireEvent.click(more);
    expect(screen.getByTestId('value-hogs').textContent).toBe('9 hogs');
    expect(more).toHaveProperty('disabled', true);
    fireEvent.click(screen.getByTestId('run'));
    expect(onRun.mock.calls[0]?.[0]).toMatchObject({ params: { hogs: 9 } });
  });

  it('what is yes or no is a box to tick', () => {
    const onChange = vi.fn();
    const param = { ...lesson.params['hogs']!, title: 'a reader', type: 'bool' as const };
    render(<Knob name="reader" param={param} value={0} onChange={onChange} />);
    const box = screen.getByRole('checkbox', { name: 'a reader' });
    expect(box).toHaveProperty('checked', false);
    fireEvent.click(box);
    expect(onChange).toHaveBeenCalledWith(1);
  });

  it('Esc closes the panel from wherever the focus is, and gives it back to the button', () => {
    render(<Bench />);
    const more = screen.getByTestId('more-knobs');
    fireEvent.click(more);
    fireEvent.keyDown(screen.getByTestId('knob-panel').querySelector('input')!, { key: 'Escape' });
    expect(screen.queryByTestId('knob-panel')).toBeNull();
    expect(document.activeElement).toBe(more);
    fireEvent.click(more);
    fireEvent.keyDown(document.body, { key: 'Escape' });
    expect(screen.queryByTestId('knob-panel')).toBeNull();
  });

  it('a number out of bounds is reported, not taken', () => {
    render(<Bench />);
    fireEvent.click(screen.getByTestId('more-knobs'));
    const seconds = within(screen.getByTestId('knob-seconds')).getByRole('spinbutton');
    fireEvent.change(seconds, { target: { value: '1000000' } });
    expect(screen.getByRole('alert').textContent).toContain('1 to 60');
    fireEvent.blur(seconds);
    expect(seconds).toHaveProperty('value', '60');
  });

  it('the count clock greys the CPUs and says why; run says what must boot again', () => {
    render(<Bench />);
    fireEvent.click(screen.getByTestId('more-knobs'));
    fireEvent.click(screen.getByRole('button', { name: 'count' }));
    const cpus = screen.getByTestId('knob-vcpus');
    expect(within(cpus).getByRole('spinbutton')).toHaveProperty('disabled', true);
    expect(within(cpus).getByRole('spinbutton')).toHaveProperty('value', '1');
    expect(cpus.textContent).toContain('one CPU');
    expect(screen.getByTestId('needs-boot').textContent).toContain('clock');
  });

  it('a slider turns the knob, and runs follow it where lanes are copies and it is asked for', () => {
    vi.useFakeTimers();
    const onRun = vi.fn();
    render(<Bench onRun={onRun} copied />);
    const slider = screen.getByTestId('slider-hogs');
    const turn = (value: string) => {
      fireEvent.change(slider, { target: { value } });
      vi.advanceTimersByTime(100);
    };
    turn('7');
    expect(screen.getByTestId('value-hogs').textContent).toBe('7 hogs');
    vi.advanceTimersByTime(5000);
    expect(onRun).not.toHaveBeenCalled();
    fireEvent.click(screen.getByTestId('follow-knobs'));
    vi.advanceTimersByTime(5000);
    expect(onRun).not.toHaveBeenCalled();
    for (const value of ['4', '5', '6']) turn(value);
    expect(onRun).not.toHaveBeenCalled();
    vi.advanceTimersByTime(250);
    expect(onRun.mock.calls.map(([k]) => (k as Knobs).params['hogs'])).toEqual([6]);
    // Another clock needs new guests, so only the button starts the run.
    fireEvent.click(screen.getByTestId('more-knobs'));
    fireEvent.click(screen.getByRole('button', { name: 'count' }));
    vi.advanceTimersByTime(5000);
    expect(onRun).toHaveBeenCalledTimes(1);
    vi.useRealTimers();
  });

  it('runs that would boot do not follow the knob', () => {
    render(<Bench />);
    expect(screen.queryByTestId('follow-knobs')).toBeNull();
  });

  it('who watches cannot run, and reads why', () => {
    render(<Bench blocked="Another viewer controls the live run." />);
    expect(screen.getByTestId('run')).toHaveProperty('disabled', true);
    expect(screen.getByTestId('blocked').textContent).toContain('Another viewer');
  });

  it('shows the state of each kernel', () => {
    render(<Bench />);
    fireEvent.click(screen.getByTestId('more-knobs'));
    expect(screen.getByTestId('knob-panel').textContent).toContain('not built yet');
  });
});

describe('without guests', () => {
  const [main = ''] = Object.keys(lesson.params).filter(
    (k) => lesson.params[k]?.role === 'threads',
  );

  function show(recorded: Readonly<Record<string, readonly number[]>>) {
    const onKnobs = vi.fn();
    const values = (name: string) => recorded[name] ?? [knobs.params[name] ?? 0];
    render(
      <RunControls
        {...{ lesson, knobs, values, onKnobs }}
        {...{ shown: null, live: false, running: false, armStates: [], blocked: 'no guests' }}
        {...{ onRun: vi.fn(), onStop: vi.fn(), onAgain: vi.fn() }}
      />,
    );
    return onKnobs;
  }

  it('a stepper goes from one recorded value to the next, and stops at the last', () => {
    const onKnobs = show({ [main]: [1, 3, 8] });
    fireEvent.click(screen.getByRole('button', { name: 'more hogs' }));
    expect(onKnobs.mock.lastCall?.[0].params[main]).toBe(8);
    fireEvent.click(screen.getByRole('button', { name: 'fewer hogs' }));
    expect(onKnobs.mock.lastCall?.[0].params[main]).toBe(1);
    fireEvent.change(screen.getByTestId(`slider-${main}`), { target: { value: '2' } });
    expect(onKnobs.mock.lastCall?.[0].params[main]).toBe(8);
  });

  it('a knob offers the recorded values alone, and is fixed if there is only one', () => {
    const onKnobs = show({ vcpus: [1, 2], [main]: [3] });
    fireEvent.click(screen.getByTestId('more-knobs'));
    const cpus = within(screen.getByTestId('knob-vcpus'));
    expect(cpus.getAllByRole('button').map(({ textContent }) => textContent)).toEqual(['1', '2']);
    fireEvent.click(cpus.getByRole('button', { name: '1' }));
    expect(onKnobs.mock.lastCall?.[0].params.vcpus).toBe(1);
    expect(screen.queryByTestId(`slider-${main}`)).toBeNull();
    expect(screen.getByTestId('knob-seconds').textContent).toContain('No other value is recorded');
    onKnobs.mockClear();
    fireEvent.click(screen.getByRole('button', { name: 'count' }));
    fireEvent.click(screen.getByRole('button', { name: 'more hogs' }));
    expect(onKnobs).not.toHaveBeenCalled();
  });
});
