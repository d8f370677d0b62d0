// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The recorded runs of knob values. A page without guests finds here which values a knob can have, and which run
 * belongs to each value. Code that can provide the run for another value adds this run to `lesson.cells`. Pure.
 */

import { t } from '../base/lang/t.ts';
import { formatCount, formatFigure } from '../base/units.ts';
import type { Grid, GridCell, GridCurve, Lesson, Prediction, Scene } from '../protocol/lesson.ts';
import type { ClockName } from '../protocol/messages.ts';
import { type Answer, choiceOf, medianOf } from './prediction.ts';
import { ownTables, workloadOf } from './recording.ts';
import { armTitle } from './words.ts';

/** The values of the knobs for which a run is wanted. */
export interface Wanted {
  readonly arms: readonly string[];
  readonly params: Readonly<Record<string, number>>;
  readonly clock: ClockName;
  readonly workload: string;
}

type GridLesson = Pick<Lesson, 'params' | 'workloads' | 'cells' | 'recordings'>;
type Recorded = Lesson['recordings'][number];

/**
 * Whether a recording has all values of the knobs. The duration is ignored, because a recording is cut to what its
 * steps need. Knobs of a model are ignored too, because they do not belong to a run.
 */
function isOf(
  lesson: Pick<Lesson, 'params' | 'workloads'>,
  one: Pick<Recorded, 'params' | 'clock' | 'workload'> & { readonly arms?: readonly string[] },
  wanted: Wanted,
): boolean {
  const [usual] = Object.keys(lesson.workloads);
  return (
    one.clock === wanted.clock &&
    (one.workload ?? usual) === wanted.workload &&
    wanted.arms.every((arm) => one.arms?.includes(arm)) &&
    Object.entries(lesson.params).every(
      ([name, param]) =>
        param.role === 'duration' ||
        param.applies === 'model' ||
        (one.params[name] ?? param.default) === (wanted.params[name] ?? param.default),
    )
  );
}

/** The recorded run with exactly these values: a recording of a step, or else a cell of a grid; null if there is none. */
export function runOf(lesson: GridLesson, wanted: Wanted): Recorded | null {
  const equal = (one: Recorded) => isOf(lesson, one, wanted);
  return lesson.recordings.find(equal) ?? lesson.cells.find(equal) ?? null;
}

/**
 * The values of a knob for which a run is recorded, if the other knobs stay as they are, in ascending order. The
 * current value is always included. For a duration or a knob of a model, it is the only value.
 */
export function valuesOf(lesson: GridLesson, now: Wanted, knob: string): readonly number[] {
  const { default: usual, role, applies } = lesson.params[knob] ?? { default: 0 };
  const current = now.params[knob] ?? usual;
  if (role === 'duration' || applies === 'model') return [current];
  const there = [...lesson.recordings, ...lesson.cells].flatMap((one) => {
    const value = one.params[knob] ?? usual;
    return isOf(lesson, one, { ...now, params: { ...now.params, [knob]: value } }) ? [value] : [];
  });
  return [...new Set([...there, current])].sort((a, b) => a - b);
}

/**
 * The runs for the values next to a knob's current value. A page can fetch these runs before the viewer asks for them.
 */
export function neighbours(lesson: GridLesson, now: Wanted): readonly Recorded[] {
  return Object.keys(lesson.params).flatMap((knob) => {
    const values = valuesOf(lesson, now, knob);
    const at = values.indexOf(now.params[knob] ?? lesson.params[knob]?.default ?? 0);
    return [values[at - 1], values[at + 1]].flatMap((value) => {
      if (value === undefined) return [];
      const run = runOf(lesson, { ...now, params: { ...now.params, [knob]: value } });
      return run === null ? [] : [run];
    });
  });
}

// Curves: a number from each cell, plotted over the values of one knob.

/** The grids that have the workload of a step, and of which at least one cell is recorded. */
export function gridsOf(
  lesson: Pick<Lesson, 'grids' | 'cells' | 'workloads'>,
  scene: Pick<Scene, 'workload'>,
): readonly (readonly [string, Grid])[] {
  const [usual] = Object.keys(lesson.workloads);
  return Object.entries(lesson.grids).filter(
    ([name, grid]) =>
      (grid.workload ?? usual) === workloadOf(lesson, scene) &&
      lesson.cells.some((cell) => cell.grid === name),
  );
}

/** One recorded value of the knob on the axis. */
export interface GridPoint {
  readonly value: number;
  readonly cell: GridCell;
  /** The number that the run gave for each arm of the grid, in the grid's order; null if it gave none. */
  readonly of: readonly (number | null)[];
  /** Medians of untraced runs with the same knobs, for the same arms; null where nothing was measured. */
  readonly measured: readonly (number | null)[];
}

/**
 * The points of a curve, in ascending order. The grid's other knobs have the wanted values, or the first recorded values
 * if no cell has those.
 */
export function pointsOf(
  lesson: Pick<Lesson, 'cells' | 'params' | 'workloads' | 'measured'>,
  name: string,
  grid: Grid,
  curveName: string,
  now: Readonly<Record<string, number>>,
): readonly GridPoint[] {
  const curve = grid.curves[curveName];
  if (curve === undefined) return [];
  const others = Object.entries(grid.over).filter(([knob]) => knob !== curve.over);
  const held = others.map(([knob, values]) => {
    const value = now[knob] ?? lesson.params[knob]?.default ?? 0;
    return [knob, values.includes(value) ? value : (values[0] ?? value)] as const;
  });
  return lesson.cells
    .filter((cell) => cell.grid === name && held.every(([knob, v]) => cell.params[knob] === v))
    .map((cell) => ({
      value: cell.params[curve.over] ?? 0,
      cell,
      of: grid.arms.map((arm) => cell.values[curve.metric]?.[arm] ?? null),
      measured: grid.arms.map((arm) => untraced(lesson, cell, curve, arm)),
    }))
    .sort((a, b) => a.value - b.value);
}

/** The median of untraced runs with a cell's knobs; null if no table has them or the curve's metric. */
function untraced(
  lesson: Pick<Lesson, 'params' | 'workloads' | 'measured'>,
  cell: GridCell,
  { metric }: GridCurve,
  arm: string,
): number | null {
  const workload = cell.workload ?? Object.keys(lesson.workloads)[0] ?? '';
  const table = ownTables(lesson.measured).findLast(
    (one) => one.metric === metric && isOf(lesson, one, { ...cell, workload, arms: [] }),
  );
  return table === undefined ? null : medianOf(table, arm);
}

/** The points that a prediction asks about, with the ratio of its two arms; none for other predictions. */
export function crossingPoints(
  lesson: Pick<Lesson, 'cells' | 'params' | 'workloads' | 'measured' | 'grids'>,
  { crossing, arms, params }: Pick<Prediction, 'crossing' | 'arms' | 'params'>,
): readonly { readonly point: GridPoint; readonly ratio: number; readonly passes: boolean }[] {
  const grid = lesson.grids[crossing?.grid ?? ''];
  if (crossing == null || grid === undefined) return [];
  const [of, to] = arms.map((arm) => grid.arms.indexOf(arm));
  return pointsOf(lesson, crossing.grid, grid, crossing.curve, params).flatMap((point) => {
    const [one, other] = [point.of[of ?? -1] ?? null, point.of[to ?? -1] ?? null];
    if (one === null || other === null || other === 0) return [];
    const ratio = one / other;
    const { below, above } = crossing;
    const passes = (below !== null && ratio < below) || (above !== null && ratio > above);
    return [{ point, ratio, passes }];
  });
}

/** The answer to a prediction over a grid: the first recorded value at which the ratio of two arms passes the limit. */
export function crossingAnswer(lesson: Lesson, prediction: Prediction): Answer | null {
  const points = crossingPoints(lesson, prediction);
  const grid = lesson.grids[prediction.crossing?.grid ?? ''];
  const curve = grid?.curves[prediction.crossing?.curve ?? ''];
  const last = points.at(-1);
  if (curve === undefined || last === undefined) return null;
  const found = points.find(({ passes }) => passes);
  const [of, to] = prediction.arms.map((arm) => armTitle(lesson, { arm }));
  const knob = lesson.params[curve.over]?.title ?? curve.over;
  if (found === undefined) {
    const most = formatCount(last.point.value);
    const words = t('At no recorded value of {knob}, up to {most}.', { knob, most });
    return { value: Number.MAX_VALUE, choice: prediction.choices.length - 1, words, by: 'grid' };
  }
  const { value } = found.point;
  const words = t('At {value} {knob} for the first time: {title}, {of} ÷ {to} = {ratio}.', {
    value: formatCount(value),
    knob,
    title: curve.title,
    of,
    to,
    ratio: formatFigure(Number(found.ratio.toPrecision(2))),
  });
  return { value, choice: choiceOf(prediction, value), words, by: 'grid' };
}
