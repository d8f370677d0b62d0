// SPDX-License-Identifier: GPL-2.0-or-later
// @vitest-environment happy-dom

import { lightTheme } from '@page/base/theme.ts';
import type { Lesson, Native } from '@page/protocol/lesson.ts';
import type { PanelProps } from '@page/views/contract.ts';
import { lineLesson, lineRun } from '@test/fixtures/cachelines.ts';
import { wholeLesson } from '@test/fixtures/whole.ts';
import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { statOf } from './fixtures/stat-stream.ts';
import { predictionSteps } from './model/prediction.ts';
import { statedSettings } from './model/stated.ts';
import { ModelChart, ModelPanel, NativeNote } from './model-panel.tsx';

describe('model panel', () => {
  // SPDX-License-Identifier: GPL-2.0-or-later
  /** The panel of the model: its checkbox is a knob of the lesson, as the picture has it. */

  afterEach(cleanup);

  const owning = { title: 'loads that own', help: 'a load asks', type: 'bool', default: 1 };
  const lesson = wholeLesson({
    ...lineLesson,
    params: { owning: { ...owning, min: 0, max: 1, applies: 'model' } },
  } as never);
  const params = (value: number) => ({ model_cpus: 2, owning: value });
  const runs = [0, 1].map((value) =>
    lineRun({ letters: 24, stats: 6 }, ['stock', 'moved'], params(value)),
  );

  async function box(value: 0 | 1, more: Partial<PanelProps>) {
    const props = { runIndex: runs[value]!, lesson, theme: lightTheme, ...more };
    render(<ModelPanel {...(props as PanelProps)} />);
    return (await screen.findByTestId('owning', undefined, {
      timeout: 60_000,
    })) as HTMLInputElement;
  }

  test('the checkbox shows the knob, and turns it', async () => {
    const onKnob = vi.fn();
    const on = await box(1, { onKnob });
    expect(on.checked).toBe(true);
    fireEvent.click(on);
    expect(onKnob).toHaveBeenCalledWith('owning', 0);
    // The knob is the run's: nothing here remembers another state of it.
    expect(on.checked).toBe(true);
    cleanup();
    expect((await box(0, { onKnob })).checked).toBe(false);
  }, 120_000);

  test('where no knob can be turned it is off, and a lesson without the knob has no box', async () => {
    expect((await box(1, {})).disabled).toBe(true);
    cleanup();
    const props = { runIndex: runs[1]!, lesson: lineLesson, theme: lightTheme };
    render(<ModelPanel {...(props as unknown as PanelProps)} />);
    await screen.findByTestId('stated', undefined, { timeout: 60_000 });
    expect(screen.queryByTestId('owning')).toBeNull();
  }, 120_000);

  test('the sentence has a ratio of each kind of loads, and they differ', async () => {
    await box(1, {});
    const said = await screen.findByText(/the model gives .* The mail measured/, undefined, {
      timeout: 60_000,
    });
    const [own, read] =
      /gives ([\d.]+) times .* owns the line, and ([\d.]+) times as many if such a load reads the line/
        .exec(said.textContent ?? '')!
        .slice(1);
    expect(Number(own)).toBeGreaterThan(Number(read));
  }, 120_000);
});

describe('model native', () => {
  // SPDX-License-Identifier: GPL-2.0-or-later
  /** The result of a machine with cores enough: a planted one, which no test and no page calls ours. */

  const curve = (rate: number) =>
    [1, 2, 4, 8].map((threads) => ({ threads, median: rate, low: rate * 0.9, high: rate * 1.1 }));

  const planted: Native = {
    format: 1,
    lesson: '05-cacheline-pingpong',
    evidence: 'measured',
    what: 'a replica of the accesses',
    threads: 8,
    cores: 8,
    rounds: 7,
    run_ms: 700,
    made: {
      cpu: 'Planted Processor 9000',
      kernel: '9.9.9-planted',
      machine: 'x86_64',
      compiler: 'cc (planted) 1.0',
      at: '2031-02-03T04:05:06+00:00',
    },
    arms: [
      { arm: 'stock', curve: curve(4e6) },
      { arm: 'moved', curve: curve(6e6) },
    ],
    ratio: { of: 'moved', to: 'stock', median: 1.5, low: 1.4, high: 1.6 },
    host: { what: 'the kernel that ran there', curve: curve(2e6) },
    remarks: ['a remark of the machine.'],
  };
  const title = (arm: string) => `the ${arm} one`;

  afterEach(cleanup);

  function chart(native: Native | null) {
    const arms = (['stock', 'moved'] as const).map((arm) => ({ arm, streams: [statOf(arm)] }));
    const runs = { seeds: [1], ops: 60 };
    const [prediction] = [
      ...predictionSteps({ arms, settings: statedSettings, cpus: [2, 4], runs }),
    ].slice(-1);
    render(
      <ModelChart
        prediction={prediction!}
        theme={lightTheme}
        title={title}
        at={2}
        many="stats"
        native={native}
      />,
    );
  }

  test('a result names its CPU, kernel and day, and its figures stand apart from the model', () => {
    const lesson: Lesson = { ...lineLesson, native: planted };
    render(<NativeNote lesson={lesson} title={title} />);
    const words = screen.getByTestId('native').textContent;
    expect(words).toMatch(
      /^Measured on Planted Processor 9000 \(solid lines\), 2031-02-03, Linux 9/,
    );
    expect(words).toContain(
      '8 threads on 8 cores the moved one has 1.5 times the rate of the stock',
    );
    expect(words).toContain('(95 %: 1.4 to 1.6)');
    expect(words).toContain('This measurement has a single layout, so it compares no layouts');
    expect(words).toContain('Note: a remark of the machine.');
    const cells = [...screen.getByTestId('native-table').querySelectorAll('tbody tr')].at(-1)!;
    expect(cells.textContent).toBe('84.00M6.00M2.00M');
  });

  test('measured lines are solid, the model is dashed; without a result there are none', () => {
    chart(planted);
    const lines = screen.getAllByTestId('native-line');
    expect(lines).toHaveLength(2);
    for (const line of lines) expect(line.querySelector('[stroke-dasharray]')).toBeNull();
    cleanup();
    chart(null);
    expect(screen.queryByTestId('native-line')).toBeNull();
    render(<NativeNote lesson={{ ...lineLesson, native: null }} title={title} />);
    expect(screen.queryByTestId('native')).toBeNull();
    const missing = screen.getByTestId('native-missing').textContent;
    expect(missing).toContain('needs 4 or more cores');
    expect(missing).toContain('./duet pack 05-cacheline-pingpong');
  });
});
