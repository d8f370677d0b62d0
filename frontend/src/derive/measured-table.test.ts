// SPDX-License-Identifier: GPL-2.0-or-later
import { expect, it } from 'vitest';
import { testLesson, testMeasured } from '../../test/fixtures/page.tsx';
import type { MeasuredMessage } from '../protocol/messages.ts';
import { tableFor } from './measured-table.ts';

const [row] = testMeasured().rows;
const recorded = (at: string, ...arms: string[]): MeasuredMessage =>
  testMeasured({ source: 'recorded', at, rows: arms.map((arm) => ({ ...row!, arm })) });

const headline = recorded('first', 'rwsem', 'srcu');
const beside = recorded('second', 'srcu', 'srcu-hz1000');
const lesson = { ...testLesson(), measured: [headline, beside] };

it('is the one at hand where that has the arms of the scene', () => {
  expect(tableFor(headline, lesson, { arms: ['srcu'] })).toBe(headline);
});

it('is another recorded one where only that has them', () => {
  const arms = ['srcu', 'srcu-hz1000'];
  expect(tableFor(headline, lesson, { arms })).toEqual(beside);
  expect(tableFor(null, lesson, { arms })).toEqual(beside);
});

it('stays as it is where none has them, and where somebody has just measured', () => {
  expect(tableFor(headline, lesson, { arms: ['mainline'] })).toBe(headline);
  const live = testMeasured();
  expect(tableFor(live, lesson, { arms: ['srcu-hz1000'] })).toBe(live);
  expect(
    tableFor(testMeasured({ lesson: '01-other' }), { ...lesson, measured: [] }, { arms: [] }),
  ).toBeNull();
});
