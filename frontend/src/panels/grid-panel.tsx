// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The curves of a lesson's grids: a number from each recorded run, plotted over the values of a knob. A click on a
 * point opens its run.
 */

import { t } from '../base/lang/t.ts';
import { formatFigure } from '../base/units.ts';
import { type GridPoint, gridsOf, pointsOf } from '../derive/grid.ts';
import { armTitle, list } from '../derive/words.ts';
import type {
  Grid,
  GridCell,
  GridCurve as GridCurveFacts,
  Lesson,
  Scene,
} from '../protocol/lesson.ts';
import { evidenceName } from '../ui/words.ts';
import { CurveChart, CurveFigures } from '../views/curve-chart.tsx';
import './grid-panel.css';

interface CurveProps {
  readonly lesson: Lesson;
  readonly grid: Grid;
  readonly curve: string;
  readonly points: readonly GridPoint[];
  /** Name of the run on the stage. */
  readonly shown: string | null;
  /** A value of the knob that answers a question. */
  readonly answer?: number | null;
  /** Whether the chart has a title; default: yes. */
  readonly title?: boolean;
  readonly onCell: (cell: GridCell) => void;
}

/** The chart of one curve. Its axes have room for all points of the grid, also while only some are shown. */
export function GridCurve(props: CurveProps & { readonly all: readonly GridPoint[] }) {
  const { lesson, grid, points, all, shown, onCell } = props;
  const curve = grid.curves[props.curve];
  if (curve === undefined) return null;
  const numbers = all.flatMap(({ of, measured }) => [...of, ...measured]);
  return (
    <CurveChart
      {...sharedOf({ lesson, grid, points, shown }, curve)}
      unit={curve.title}
      values={all.map(({ value }) => value)}
      most={Math.max(...numbers.map((one) => one ?? 0), 0) || 1}
      answer={props.answer ?? null}
      title={props.title ?? true}
      onValue={(value) => {
        const point = points.find((one) => one.value === value);
        if (point) onCell(point.cell);
      }}
    />
  );
}

/** What the chart and the table of a curve have in common. */
function sharedOf(
  { lesson, grid, points, shown }: Pick<CurveProps, 'lesson' | 'grid' | 'points' | 'shown'>,
  { over }: GridCurveFacts,
) {
  return {
    over: lesson.params[over]?.title ?? over,
    arms: grid.arms.map((arm) => armTitle(lesson, { arm })),
    points: points.map(({ value, of, measured }) => ({ value, of, medians: measured })),
    here: points.find(({ cell }) => cell.name === shown)?.value ?? null,
  };
}

function ratioWords(ratio: number): string {
  return formatFigure(Number(ratio.toPrecision(2)));
}

/** Says what the points are, when and where they were recorded, and which other knobs they share. */
export function GridNote({
  lesson,
  grid,
  curve,
  points,
}: Pick<CurveProps, 'lesson' | 'grid' | 'curve' | 'points'>) {
  const cells = points.map(({ cell }) => cell);
  const [first] = cells;
  if (first === undefined) return null;
  const days = [
    ...new Set(cells.map(({ recorded_at }) => (recorded_at ?? '').slice(0, 10))),
  ].sort();
  const hosts = [...new Set(cells.map(({ host }) => host))];
  const held = Object.keys(grid.over)
    .filter((knob) => knob !== grid.curves[curve]?.over)
    .map((knob) => `${lesson.params[knob]?.title ?? knob} ${first.params[knob]}`);
  return (
    <p className="small quiet grid-note" data-testid="grid-note">
      {t(
        'Each point is one recorded run with tracing, {clock} clock{held}. Recorded {days} on {hosts}.',
        {
          clock: first.clock,
          held: held.length > 0 ? `, ${list(held)}` : '',
          days: list(days),
          hosts: list(hosts),
        },
      )}{' '}
      {points.some(({ measured }) => measured.some((one) => one !== null)) &&
        t('Crosses are medians of runs without tracing, one kernel after the other.')}
    </p>
  );
}

interface PanelProps {
  readonly lesson: Lesson;
  readonly scene: Scene;
  /** The current knobs. */
  readonly params: Readonly<Record<string, number>>;
  readonly shown: string | null;
  readonly onCell: (cell: GridCell) => void;
}

/** All curves of the grids that have the workload of the step. */
export function GridPanel({ lesson, scene, params, shown, onCell }: PanelProps) {
  return gridsOf(lesson, scene).map(([name, grid]) =>
    Object.entries(grid.curves).map(([curve, facts]) => {
      const { title } = facts;
      const points = pointsOf(lesson, name, grid, curve, params);
      const given = { lesson, grid, curve, points, shown, onCell };
      return (
        <section
          key={`${name} ${curve}`}
          className="panel"
          aria-label={title}
          data-testid={`grid-${curve}`}
        >
          <h3 className="eyebrow">
            {title}{' '}
            <span className="evidence">{`${evidenceName('counted')}${t(', recorded')}`}</span>
          </h3>
          <GridCurve {...given} all={points} title={false} />
          <CurveFigures {...sharedOf(given, facts)} ratioWords={ratioWords} testId="grid-table" />
          <GridNote {...given} />
        </section>
      );
    }),
  );
}
