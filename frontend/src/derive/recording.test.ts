// SPDX-License-Identifier: GPL-2.0-or-later
import { expect, it } from 'vitest';
import { testLesson, testMeasured } from '../../test/fixtures/page.tsx';
import type { MeasuredMessage } from '../protocol/messages.ts';
import { tableFor } from './recording.ts';

const [row] = testMeasured().rows;
const recorded = (at: string, ...arms: string[]): MeasuredMessage =>
  testMeasured({ source: 'recorded', at, rows: arms.map((arm) => ({ ...row!, arm })) });

const headline = recorded('first', 'rwsem', 'srcu');
const beside = recorded('second', 'srcu', 'srcu-hz1000');
const asked = { params: { hogs: 1 }, clock: 'wall', workload: 'storm' };
const lesson = { ...testLesson(), measured: [headline, beside] };

it('is the one at hand where that has the arms of the scene', () => {
  expect(tableFor(headline, lesson, { arms: ['srcu'] }, asked)).toBe(headline);
});

it('is another recorded one where only that has them', () => {
  const arms = ['srcu', 'srcu-hz1000'];
  expect(tableFor(headline, lesson, { arms }, asked)).toEqual(beside);
  expect(tableFor(null, lesson, { arms }, asked)).toEqual(beside);
});

it('stays as it is where none has them, and where somebody has just measured', () => {
  expect(tableFor(headline, lesson, { arms: ['mainline'] }, asked)).toBe(headline);
  const live = testMeasured();
  expect(tableFor(live, lesson, { arms: ['srcu-hz1000'] }, asked)).toBe(live);
  expect(
    tableFor(
      testMeasured({ lesson: '01-other' }),
      { ...lesson, measured: [] },
      { arms: [] },
      asked,
    ),
  ).toBeNull();
});

it('is the recorded one of the very knobs, where there is one', () => {
  const stress = { ...headline, at: 'third', clock: 'count' as const, workload: 'stress-ng' };
  const both = { ...lesson, measured: [headline, stress] };
  const knobs = {
    params: { hogs: 9, vcpus: 2, seconds: 1 },
    clock: 'count',
    workload: 'stress-ng',
  };
  const arms = ['rwsem', 'srcu'];
  expect(tableFor(headline, both, { arms }, knobs)).toEqual(stress);
  expect(tableFor(headline, both, { arms }, { ...knobs, params: { hogs: 3, vcpus: 2 } })).toBe(
    headline,
  );
  expect(tableFor(headline, both, { arms }, { ...knobs, clock: 'wall' })).toBe(headline);
  expect(tableFor(headline, both, { arms: ['mainline'] }, knobs)).toBe(headline);
  const live = testMeasured();
  expect(tableFor(live, both, { arms }, knobs)).toBe(live);
});
