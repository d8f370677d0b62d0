// SPDX-License-Identifier: GPL-2.0-or-later
import { describe, expect, it } from 'vitest';
import { testLesson } from '../../test/fixtures/page.tsx';
import type { GridCell, Lesson, Prediction } from '../protocol/lesson.ts';
import {
  crossingAnswer,
  crossingPoints,
  gridsOf,
  neighbours,
  pointsOf,
  runOf,
  valuesOf,
  type Wanted,
} from './grid.ts';

const base = testLesson();
const [workload = ''] = Object.keys(base.workloads);
const defaults = Object.entries(base.params).map(([name, param]) => [name, param.default]);
const usual = { params: Object.fromEntries(defaults), clock: 'wall', workload } as const;
const arms = ['rwsem', 'srcu'];
const grid = {
  ...{ arms, over: { hogs: [1, 2, 5, 9], vcpus: [1, 2] }, params: {}, workload: null },
  window_ms: 80,
  curves: { rate: { title: 'umounts per second', over: 'hogs', metric: 'ops_per_s', per: true } },
};

/** SRCU does a half with one hog, a third with two, and so on. */
function cell(hogs: number, vcpus: number, also: Partial<GridCell> = {}): GridCell {
  const values = { ops_per_s: { rwsem: 1000 * hogs, srcu: (1000 * hogs) / (hogs + 1) } };
  return {
    ...{
      name: `grid-hogs-${hogs}-vcpus-${vcpus}`,
      window_ms: 80,
      grid: 'hogs',
      lesson: base.slug,
      arms,
      values,
    },
    ...{ params: { ...usual.params, hogs, vcpus, seconds: 1 }, clock: 'wall', workload },
    ...{ seconds: 1, bytes: 1, recorded_at: '2026-01-02T00:00:00Z', sha256: '', host: 'a CPU' },
    ...also,
  };
}

const cells = [1, 2].flatMap((vcpus) => [9, 5, 2, 1].map((hogs) => cell(hogs, vcpus)));
const lesson = { ...base, grids: { hogs: grid }, cells, recordings: [] } as unknown as Lesson;
const knobs = (params: Record<string, number>, also: Partial<Wanted> = {}): Wanted => ({
  ...usual,
  arms,
  ...also,
  params: { ...usual.params, ...params },
});

describe('the run of a knob’s value', () => {
  it('is the cell with all of the knobs, whatever its duration', () => {
    expect(runOf(lesson, knobs({ hogs: 5 }))?.name).toBe('grid-hogs-5-vcpus-2');
    expect(runOf(lesson, knobs({ hogs: 5, vcpus: 1, seconds: 9 }))?.name).toBe(
      'grid-hogs-5-vcpus-1',
    );
  });

  it('is none between the recorded values, and none of another clock, arm or workload', () => {
    expect(runOf(lesson, knobs({ hogs: 4 }))).toBeNull();
    expect(runOf(lesson, knobs({ hogs: 5 }, { clock: 'count' }))).toBeNull();
    expect(runOf(lesson, knobs({ hogs: 5 }, { arms: [...arms, 'srcu-expedited'] }))).toBeNull();
    expect(runOf(lesson, knobs({ hogs: 5 }, { workload: 'another' }))).toBeNull();
  });

  it('is the recording of a step rather than a cell with the same values', () => {
    const { values: _values, sha256: _sum, host: _host, grid: _grid, ...step } = cell(5, 2);
    const both = { ...lesson, recordings: [{ ...step, name: 'five' }] };
    expect(runOf(both, knobs({ hogs: 5 }))?.name).toBe('five');
  });
});

describe('the values of a knob', () => {
  it('are those that are recorded with the other knobs, in order', () => {
    expect(valuesOf(lesson, knobs({ hogs: 2 }), 'hogs')).toEqual([1, 2, 5, 9]);
    expect(valuesOf(lesson, knobs({ hogs: 2 }), 'vcpus')).toEqual([1, 2]);
    expect(valuesOf(lesson, knobs({ hogs: 2 }), 'exp_holdoff')).toEqual([25000]);
  });

  it('always have the current one', () => {
    expect(valuesOf(lesson, knobs({ hogs: 3 }), 'hogs')).toEqual([1, 2, 3, 5, 9]);
    expect(valuesOf(lesson, knobs({ hogs: 2, vcpus: 4 }), 'hogs')).toEqual([2]);
  });

  it('have neighbours, whose runs a page may fetch', () => {
    const names = neighbours(lesson, knobs({ hogs: 2 })).map(({ name }) => name);
    expect(names).toEqual(['grid-hogs-1-vcpus-2', 'grid-hogs-5-vcpus-2', 'grid-hogs-2-vcpus-1']);
  });
});

describe('a curve', () => {
  it('has the points of the current values of the other knobs, in ascending order', () => {
    const points = pointsOf(lesson, 'hogs', grid as never, 'rate', { vcpus: 1 });
    expect(points.map(({ value, cell: { name } }) => [value, name])).toEqual(
      [1, 2, 5, 9].map((hogs) => [hogs, `grid-hogs-${hogs}-vcpus-1`]),
    );
    expect(points[1]?.of).toEqual([2000, 2000 / 3]);
  });

  it('takes the first recorded values if no cell has the current ones', () => {
    const [first] = pointsOf(lesson, 'hogs', grid as never, 'rate', { vcpus: 7 });
    expect(first?.cell.name).toBe('grid-hogs-1-vcpus-1');
  });

  it('has the medians of untraced runs with the same knobs, and of no others', () => {
    const rows = arms.map((arm, n) => ({ arm, n: 5, unit: '', ops_per_s_median: 7 + n }));
    const table = {
      clock: 'wall',
      params: { hogs: 5, vcpus: 2 },
      workload,
      metric: 'ops_per_s',
      rows,
    };
    const measured = (also: object) =>
      pointsOf(
        { ...lesson, measured: [{ ...table, ...also }] } as never,
        ...(['hogs', grid as never, 'rate', {}] as const),
      ).map((point) => point.measured);
    const none = [null, null];
    expect(measured({})).toEqual([none, none, [7, 8], none]);
    for (const also of [{ clock: 'count' }, { metric: 'other' }, { on: 'elsewhere' }])
      expect(measured(also)).toEqual([none, none, none, none]);
  });

  it('belongs to steps with its workload', () => {
    expect(gridsOf(lesson, { workload: null }).map(([name]) => name)).toEqual(['hogs']);
    expect(gridsOf(lesson, { workload: 'another' })).toEqual([]);
    expect(gridsOf({ ...lesson, cells: [] }, { workload: null })).toEqual([]);
  });
});

describe('a prediction over a grid', () => {
  const asks = (crossing: object, bounds = [3, 6]) =>
    ({
      ...{ question: '', choices: ['two', 'three to five', 'more'], metric: 'crossing', unit: '' },
      ...{
        arms: ['srcu', 'rwsem'],
        bounds,
        params: {},
        measured_on: null,
        judged_when_busy: false,
      },
      crossing: { grid: 'hogs', curve: 'rate', below: null, above: null, ...crossing },
    }) as Prediction;

  it('is answered by the first recorded value at which the ratio passes the limit', () => {
    const answer = crossingAnswer(lesson, asks({ below: 0.2 }));
    expect(answer).toMatchObject({ value: 5, choice: 1, by: 'grid' });
    expect(answer?.words).toContain('At 5 hogs');
    expect(answer?.words).toContain('= 0.17');
    expect(crossingAnswer(lesson, asks({ below: 0.4 }))).toMatchObject({ value: 2, choice: 0 });
    const passes = crossingPoints(lesson, asks({ above: 0.3 })).map((one) => one.passes);
    expect(passes).toEqual([true, true, false, false]);
  });

  it('has the last choice as its answer if no recorded value passes', () => {
    const answer = crossingAnswer(lesson, asks({ below: 0.01 }));
    expect(answer?.choice).toBe(2);
    expect(answer?.words).toContain('up to 9');
  });

  it('has no answer without cells, or for another prediction', () => {
    expect(crossingAnswer({ ...lesson, cells: [] }, asks({ below: 0.2 }))).toBeNull();
    expect(crossingPoints(lesson, { ...asks({}), crossing: null })).toEqual([]);
  });
});
