// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * A measured curve of a lesson: the headline metric over one knob. There is one chart per host, with one line per arm.
 * Below the charts, the panel lists points that no host has measured, and says what is needed to measure them.
 */

import { rich, t } from '../base/lang/t.ts';
import { formatCount } from '../base/units.ts';
import { medianOf } from '../derive/prediction.ts';
import { armTitle, list } from '../derive/words.ts';
import { type Curve, knobOf, type Lesson, type MeasuredTable } from '../protocol/lesson.ts';
import type { Panel, PanelProps } from './contract.ts';
import { CurveChart, CurveFigures } from './curve-chart.tsx';

/** One measured point, with the median of each arm. The median is null if the arm was not measured. */
interface CurvePoint {
  readonly value: number;
  readonly medians: readonly (number | null)[];
}

/** One host's measurements of a curve. */
export interface HostCurve {
  /** Name of the host; empty for this project's host and for the server's host. */
  readonly on: string;
  readonly host: string;
  readonly points: readonly CurvePoint[];
  /** Values of the knob at which this host has measured nothing. */
  readonly missing: readonly number[];
}

type CurveLesson = Pick<Lesson, 'params' | 'workloads'>;

/** Whether a table was measured at this point of the curve, with other knobs at their defaults. */
function isAt(
  { params, workloads }: CurveLesson,
  curve: Curve,
  point: Readonly<Record<string, number>>,
  table: MeasuredTable,
): boolean {
  const workload = curve.workload ?? Object.keys(workloads)[0];
  return (
    table.workload === workload &&
    table.clock === curve.clock &&
    Object.entries(params).every(
      ([name, { default: usual }]) => (table.params[name] ?? usual) === (point[name] ?? usual),
    )
  );
}

/**
 * Return one curve per host. The curve of this project's or the server's host comes first, even if it has no points.
 */
export function hostCurves(
  lesson: CurveLesson,
  curve: Curve,
  own: readonly MeasuredTable[],
  elsewhere: readonly MeasuredTable[],
): readonly HostCurve[] {
  const hosts = new Map<string, readonly MeasuredTable[]>([['', own]]);
  for (const table of elsewhere)
    hosts.set(table.on ?? '', [...(hosts.get(table.on ?? '') ?? []), table]);
  const found = [...hosts].map(([on, tables]): HostCurve => {
    const points: CurvePoint[] = [];
    const missing: number[] = [];
    let host = '';
    for (const point of curve.points) {
      const value = point[curve.over] ?? 0;
      // If several tables have this point, use the last one, because tables measured while the page is open come last.
      const table = tables.findLast((one) => isAt(lesson, curve, point, one));
      const medians = curve.arms.map((arm) => (table ? medianOf(table, arm) : null));
      if (medians.every((median) => median === null)) missing.push(value);
      else points.push({ value, medians });
      host ||= table?.host ?? '';
    }
    return { on, host, points, missing };
  });
  return found.filter(({ on, points }) => on === '' || points.length > 0);
}

/** Values of the knob that no host has measured. */
export function unmeasured(curves: readonly HostCurve[]): readonly number[] {
  const [first, ...others] = curves;
  return (first?.missing ?? []).filter((value) =>
    others.every(({ missing }) => missing.includes(value)),
  );
}

interface ChartProps {
  readonly lesson: Lesson;
  readonly curve: Curve;
  readonly host: HostCurve;
  readonly most: number;
  readonly unit: string;
}

/** What the chart and the table of one host have in common. */
function shared(lesson: Lesson, curve: Curve, host: HostCurve) {
  return {
    over: lesson.params[curve.over]?.title ?? curve.over,
    arms: curve.arms.map((arm) => armTitle(lesson, { arm })),
    points: host.points.map(({ value, medians }) => ({ value, of: medians })),
  };
}

function Chart({ lesson, curve, host, most, unit }: ChartProps) {
  return (
    <CurveChart
      {...shared(lesson, curve, host)}
      {...{ unit, most }}
      values={curve.points.map((point) => point[curve.over] ?? 0)}
      missing={host.missing}
    />
  );
}

function Missing({
  lesson,
  curve,
  values,
}: Omit<ChartProps, 'host' | 'most' | 'unit'> & { readonly values: readonly number[] }) {
  if (values.length === 0) return null;
  const cpus = knobOf(lesson, 'cpus') ?? '';
  const needed = curve.points
    .filter((point) => values.includes(point[curve.over] ?? 0))
    .map((point) => point[cpus] ?? 1);
  return (
    <p className="small" data-testid="curve-missing">
      {rich(
        '<b>Not measured yet: {values}.</b> These points need a host with {cpus, plural, one {# CPU} other {# CPUs}} or more. <code>{command}</code> makes a pack that measures them there; nothing has to be installed on that host.',
        {
          values: list(values.map((value) => formatCount(value))),
          cpus: Math.max(...needed),
          command: `./duet pack ${lesson.slug}`,
          b: (words) => <b>{words}</b>,
          code: (words) => <code>{words}</code>,
        },
      )}
    </p>
  );
}

/** Create a panel that shows the curve with this name in the lesson's evidence.yaml. */
export function curvePanel(name: string, title: string): Panel {
  function Body({ lesson, data }: PanelProps) {
    const curve = lesson.curves[name];
    if (curve === undefined) return null;
    const own = data.tables.filter((table) => isOf(table, name, curve));
    const others = data.elsewhere.filter((table) => isOf(table, name, curve));
    const curves = hostCurves(lesson, curve, own, others);
    const medians = curves.flatMap(({ points }) => points.flatMap((point) => point.medians));
    const most = Math.max(...medians.map((one) => one ?? 0), 0) || 1;
    const unit = unitOf(lesson, curve, [...own, ...others]);
    return (
      <div data-testid={`curve-${name}`}>
        {curves.map((host) => (
          <section key={host.on} aria-label={host.on || t('this host')}>
            <p className="small quiet">
              {host.host === ''
                ? t('No point is measured here yet.')
                : t('Measured on {host}', {
                    host: host.on ? `${host.on} (${host.host})` : host.host,
                  })}
            </p>
            <Chart {...{ lesson, curve, host, most, unit }} />
            {host.points.length > 0 && (
              <CurveFigures
                {...shared(lesson, curve, host)}
                ratioWords={(ratio) => ratio.toFixed(2)}
                testId="curve-table"
              />
            )}
          </section>
        ))}
        <Missing {...{ lesson, curve }} values={unmeasured(curves)} />
        <p className="small quiet">
          {t(
            'Medians of untraced runs, {clock} clock; × is the ratio to {base}. Only values from the same host are compared.',
            {
              clock: curve.clock,
              base: armTitle(lesson, { arm: curve.arms[0] ?? '' }),
            },
          )}
        </p>
      </div>
    );
  }
  return { title, evidence: 'measured', Body };
}

/** Whether a table has the curve's metric. Tables of the headline metric belong to no single curve. */
function isOf(table: MeasuredTable, name: string, { metric }: Curve): boolean {
  return (table.curve ?? '') === (metric === null ? '' : name);
}

function unitOf(
  { metrics }: Pick<Lesson, 'metrics'>,
  { metric, workload }: Curve,
  tables: readonly MeasuredTable[],
): string {
  if (metric !== null) return metrics[metric]?.unit ?? '';
  const table = tables.find((one) => workload === null || one.workload === workload);
  return table?.rows[0]?.unit ?? '';
}
