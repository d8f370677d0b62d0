// SPDX-License-Identifier: GPL-2.0-or-later
// @vitest-environment happy-dom

import { cleanup, render, screen, within } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import type { Curve, Lesson, MeasuredTable } from '../protocol/lesson.ts';
import type { PanelProps } from './contract.ts';
import { apart } from './curve-chart.tsx';
import { curvePanel, hostCurves, unmeasured } from './curve-panel.tsx';

afterEach(cleanup);

const curve: Curve = {
  ...{ over: 'removers', arms: ['stock', 'waits'], clock: 'wall', workload: null, metric: null },
  points: [
    { removers: 1, vcpus: 2 },
    { removers: 4, vcpus: 4 },
    { removers: 12, vcpus: 12 },
  ],
};
const params = {
  removers: { title: 'removers', default: 1 },
  vcpus: { title: 'vCPUs', default: 2, role: 'cpus' },
  batch: { title: 'batch', default: 32 },
};
const lesson = {
  ...{ slug: '03-x', params, workloads: { removal: {} }, curves: { scale: curve } },
  arms: ['stock', 'waits'].map((name) => ({ name, title: name })),
} as unknown as Lesson;

function table(
  removers: number,
  vcpus: number,
  rates: readonly number[],
  more: Partial<MeasuredTable> = {},
) {
  const rows = rates.map((rate, n) => ({
    ...{ arm: curve.arms[n]!, n: 5, ops_per_s_median: rate, unit: 'files/s' },
  }));
  const of = { clock: 'wall', workload: 'removal', params: { removers, vcpus } } as const;
  return { ...of, rows, host: 'a CPU', ...more };
}

test('a point is a table of its knobs, clock and workload; other knobs have their defaults', () => {
  const own = [
    table(1, 2, [100, 50]),
    table(4, 4, [1, 1], { clock: 'count' }),
    table(4, 4, [1, 1], { workload: 'other' }),
    table(4, 4, [1, 1], { params: { removers: 4, vcpus: 4, batch: 8 } }),
    table(4, 2, [1, 1]),
  ];
  const [here] = hostCurves(lesson, curve, own, []);
  expect(here).toEqual({
    ...{ on: '', host: 'a CPU', points: [{ value: 1, medians: [100, 50] }], missing: [4, 12] },
  });
});

test('each host has its own curve, and a value is unmeasured if no host has it', () => {
  const big = table(12, 12, [300, 290], { on: 'sixteen cores' });
  const curves = hostCurves(lesson, curve, [table(1, 2, [100, 50])], [big]);
  expect(curves.map(({ on, missing }) => [on, missing])).toEqual([
    ['', [4, 12]],
    ['sixteen cores', [1, 4]],
  ]);
  expect(unmeasured(curves)).toEqual([4]);
});

function show(tables: readonly MeasuredTable[], elsewhere: readonly MeasuredTable[]) {
  const { Body } = curvePanel('scale', 'by removers');
  const data = { measured: null, tables, elsewhere, linesOf: () => [] };
  render(<Body {...({ lesson, data } as unknown as PanelProps)} />);
}

test('the panel names what is missing, the CPUs that it needs, and the command', () => {
  show([table(1, 2, [100, 50])], []);
  const missing = screen.getByTestId('curve-missing');
  expect(missing.textContent).toMatch(/Not measured yet: 4 and 12\..* 12 CPUs or more/);
  expect(missing.textContent).toContain('./duet pack 03-x');
  const row = within(screen.getByTestId('curve-table')).getByRole('row', { name: /^1 / });
  expect(row.textContent).toBe('110050 ×0.50');
});

test('a curve of another metric has its own tables, also those of this host, and its unit', () => {
  const metrics = { retries: { title: 'failed compare-and-swaps', unit: 'per stat' } };
  const curves = { scale: { ...curve, metric: 'retries' } };
  const { Body } = curvePanel('scale', 'by removers');
  const tables = [table(1, 2, [100, 50])];
  const elsewhere = [
    table(1, 2, [0.5, 0.25], { curve: 'scale' }),
    table(4, 4, [9, 9], { curve: 'another' }),
  ];
  const data = { measured: null, tables, elsewhere, linesOf: () => [] };
  const given = { lesson: { ...lesson, metrics, curves }, data } as unknown as PanelProps;
  const { container } = render(<Body {...given} />);
  const row = within(screen.getByTestId('curve-table')).getByRole('row', { name: /^1 / });
  expect(row.textContent).toBe('10.50.25 ×0.50');
  expect(screen.getByTestId('curve-missing').textContent).toContain('4 and 12');
  expect(container.textContent).toContain('per stat');
  const axis = [...container.querySelectorAll('svg text')].map(({ textContent }) => textContent);
  expect(axis).toContain('0.2');
});

test('a host that measured all leaves nothing missing, and has its name', () => {
  const all = curve.points.map(({ removers, vcpus }) =>
    table(removers!, vcpus!, [200, 100], { on: 'sixteen cores' }),
  );
  show([], all);
  expect(screen.queryByTestId('curve-missing')).toBeNull();
  expect(screen.getByText('Measured on sixteen cores (a CPU)')).toBeTruthy();
  expect(screen.getByText('No point is measured here yet.')).toBeTruthy();
});

test('labels of the axis stand apart, and the last value always has one', () => {
  expect(apart([1, 2, 3], 20)).toEqual([1, 2, 3]);
  expect(apart([512, 1024, 2048, 3200], 24)).toEqual([1024, 3200]);
  expect(apart([512, 1024, 2048, 3200], 24, 2048)).toEqual([512, 2048]);
});
