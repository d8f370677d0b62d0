// SPDX-License-Identifier: GPL-2.0-or-later
/** Tests the answer to a prediction from a recorded table of untraced runs, instead of from the run on the stage. */

import { describe, expect, it } from 'vitest';
import { testLesson } from '../../test/fixtures/page.tsx';
import type { Lesson, MeasuredTable, Prediction } from '../protocol/lesson.ts';
import { answeredBy, ratioRows, tableRatio } from './prediction.ts';

describe('prediction', () => {
  const titles = testLesson();
  const [usual = ''] = Object.keys(titles.workloads);
  const prediction: Prediction = {
    ...{ question: '', choices: ['few', 'some', 'many'], metric: 'ops_ratio', unit: '' },
    ...{ arms: ['srcu', 'rwsem'], bounds: [0.2, 0.5], params: { hogs: 9 } },
    ...{ measured_on: 'wall', judged_when_busy: false, crossing: null },
  };
  type MeasuredTable = Lesson['measured'][number];
  const table = (median: number | null, also: Partial<MeasuredTable> = {}) =>
    ({
      ...{ clock: 'wall', workload: usual, params: { hogs: 9, vcpus: 2 } },
      rows: [
        { arm: 'rwsem', n: 5, ops_per_s_median: 1000 },
        { arm: 'srcu', n: 5, ops_per_s_median: median },
      ],
      ...also,
    }) as MeasuredTable;
  const answer = (...measured: MeasuredTable[]) =>
    tableRatio({ ...titles, measured }, prediction, titles);

  it('is the ratio of the medians, and says that nothing was traced', () => {
    const found = answer(table(780));
    expect(found).toMatchObject({ value: 0.78, choice: 2, by: 'table' });
    expect(found?.words).toBe(
      '7.8 umounts on SRCU for every ten on rwsem, by the medians of 5 runs without tracing, one kernel after the other (wall clock).',
    );
    expect(answeredBy(found!)).toEqual({ who: 'the table', how: 'Measured' });
  });

  it('takes the table of the clock, knobs and workload that were asked for, and none that was refused', () => {
    const count = table(900, { clock: 'count' });
    const few = table(900, { params: { hogs: 3 } });
    const other = table(900, { workload: 'other' });
    expect(answer(count, few, other, table(null))).toBeNull();
    expect(answer(count, few, other, table(null), table(100))?.value).toBe(0.1);
  });
});

describe('ratios', () => {
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
});
