// SPDX-License-Identifier: GPL-2.0-or-later
/** What answers a prediction in place of the run on the stage: a recorded table of untraced runs. */

import { expect, it } from 'vitest';
import { testLesson } from '../../test/fixtures/page.tsx';
import type { Lesson, Prediction } from '../protocol/lesson.ts';
import { answeredBy, tableRatio } from './prediction.ts';

const titles = testLesson();
const [usual = ''] = Object.keys(titles.workloads);
const prediction: Prediction = {
  ...{ question: '', choices: ['few', 'some', 'many'], metric: 'ops_ratio', unit: '' },
  ...{ arms: ['srcu', 'rwsem'], bounds: [0.2, 0.5], params: { hogs: 9 } },
  ...{ measured_on: 'wall', judged_when_busy: false },
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
    '7.8 umounts on SRCU for ten on rwsem, by the medians of 5 runs without tracing, one kernel after the other (wall clock).',
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
