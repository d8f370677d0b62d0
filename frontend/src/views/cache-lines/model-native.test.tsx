// @vitest-environment happy-dom
// SPDX-License-Identifier: GPL-2.0-or-later
/** The result of a machine with cores enough: a planted one, which no test and no page calls ours. */

import { cleanup, render, screen } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { lineLesson } from '../../../test/fixtures/cachelines.ts';
import { statOf } from '../../../test/fixtures/stat-stream.ts';
import { lightTheme } from '../../base/theme.ts';
import type { Lesson, Native } from '../../protocol/lesson.ts';
import { predictionSteps } from './model/prediction.ts';
import { statedSettings } from './model/stated.ts';
import { ModelChart } from './model-chart.tsx';
import { NativeNote } from './model-native.tsx';

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
  expect(words).toMatch(/^Measured on Planted Processor 9000 \(solid lines\), 2031-02-03, Linux 9/);
  expect(words).toContain('8 threads on 8 cores the moved one has 1.5 times the rate of the stock');
  expect(words).toContain('(95 %: 1.4 to 1.6)');
  expect(words).toContain('It has one layout, so it compares none');
  expect(words).toContain('Mind: a remark of the machine.');
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
});
