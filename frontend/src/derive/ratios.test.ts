// SPDX-License-Identifier: GPL-2.0-or-later
import { expect, it } from 'vitest';
import { testLesson } from '../../test/fixtures/page.tsx';
import type { MeasuredTable } from '../protocol/lesson.ts';
import { ratioRows } from './ratios.ts';

const table = (
  clock: 'wall' | 'count',
  medians: Readonly<Record<string, number | null>>,
  also: Partial<MeasuredTable> = {},
): MeasuredTable => ({
  ...{ clock, workload: Object.keys(testLesson().workloads)[0]!, params: { hogs: 9 } },
  rows: Object.entries(medians).map(([arm, ops_per_s_median]) => ({
    ...{ arm, n: 5, ops_per_s_median, unit: 'ops/s' },
  })),
  ...also,
});
const asked = (measured: readonly MeasuredTable[]) => ({
  lesson: { ...testLesson(), published: [], measured },
  arms: ['rwsem', 'srcu'],
  params: { hogs: 9 },
});

it('has a row for each clock and workload, each against the first kernel of the step', () => {
  const rows = ratioRows(
    asked([
      table('wall', { rwsem: 1000, srcu: 100 }),
      table('count', { rwsem: 2000, srcu: 60 }),
      table('count', { rwsem: 50, srcu: 20 }, { workload: 'other' }),
    ]),
    null,
  );
  expect(rows.map(({ head, of }) => [head, of.get('srcu')])).toEqual([
    ['wall clock, not traced', 0.1],
    ['count clock, not traced', 0.03],
    ['other, count clock, not traced', 0.4],
  ]);
});

it('leaves out tables of other knobs, with a refused median, or without one of the kernels', () => {
  const rows = ratioRows(
    asked([
      table('wall', { rwsem: 1000, srcu: 900 }, { params: { hogs: 1 } }),
      table('wall', { rwsem: null, srcu: 100 }),
      table('wall', { rwsem: 1000 }),
    ]),
    null,
  );
  expect(rows).toEqual([]);
});

it('begins with what was published of these kernels', () => {
  const one = {
    ...{ arm: 'srcu', to: 'rwsem', value: 2811, base: 12916, unit: 'bogo ops/s' },
  } as unknown as ReturnType<typeof testLesson>['published'][number];
  const ask = asked([]);
  const [row] = ratioRows({ ...ask, lesson: { ...ask.lesson, published: [one] } }, null);
  expect(row!.head).toContain('the mail');
  expect(row!.of.get('srcu')).toBeCloseTo(0.218, 3);
});
