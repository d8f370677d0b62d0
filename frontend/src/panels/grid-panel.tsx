// SPDX-License-Identifier: GPL-2.0-or-later
/** The curves of a lesson's grids: one number of each recorded run over a knob. A point opens its run. */

import { t } from '../base/lang/t.ts';
import { formatCount, formatFigure } from '../base/units.ts';
import { type GridPoint, gridsOf, pointsOf } from '../derive/grid.ts';
import { armTitle, list } from '../derive/words.ts';
import type { Grid, GridCell, Lesson, Scene } from '../protocol/lesson.ts';
import { evidenceName } from '../ui/words.ts';
import { CurveChart, CurveMark } from '../views/curve-chart.tsx';
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
      over={lesson.params[curve.over]?.title ?? curve.over}
      unit={curve.title}
      values={all.map(({ value }) => value)}
      most={Math.max(...numbers.map((one) => one ?? 0), 0) || 1}
      arms={grid.arms.map((arm) => armTitle(lesson, { arm }))}
      points={points.map(({ value, of, measured }) => ({ value, of, medians: measured }))}
      here={points.find(({ cell }) => cell.name === shown)?.value ?? null}
      answer={props.answer ?? null}
      title={props.title ?? true}
      onValue={(value) => {
        const point = points.find((one) => one.value === value);
        if (point) onCell(point.cell);
      }}
    />
  );
}

function ratioWords(ratio: number): string {
  return formatFigure(Number(ratio.toPrecision(2)));
}

/** The numbers of a curve as a table. Each number is followed by its ratio to that of the first arm. */
function Figures({ lesson, grid, curve, points, shown }: CurveProps) {
  const over = grid.curves[curve]?.over ?? '';
  return (
    <table className="table small" data-testid="grid-table">
      <thead>
        <tr>
          <th scope="col">{lesson.params[over]?.title ?? over}</th>
          {grid.arms.map((arm, n) => (
            <th key={arm} scope="col" className="right">
              <svg viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">
                <CurveMark arm={n} x={6} y={6} />
              </svg>{' '}
              {armTitle(lesson, { arm })}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {points.map(({ value, cell, of }) => (
          <tr key={value} aria-current={cell.name === shown || undefined}>
            <th scope="row">{formatCount(value)}</th>
            {of.map((number, n) => (
              <td key={grid.arms[n]} className="right">
                {number === null ? '–' : formatFigure(number)}
                {n > 0 && number !== null && of[0] ? (
                  <span className="quiet"> {`×${ratioWords(number / of[0])}`}</span>
                ) : null}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
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
    Object.entries(grid.curves).map(([curve, { title }]) => {
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
          <Figures {...given} />
          <GridNote {...given} />
        </section>
      );
    }),
  );
}
