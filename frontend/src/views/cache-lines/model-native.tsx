// SPDX-License-Identifier: GPL-2.0-or-later
/** What a machine with cores enough measured, beside the model: `duet microscope --native` writes it, if anybody runs it. */

import { line as lineShape } from 'd3-shape';
import { rich, t } from '../../base/lang/t.ts';
import type { Theme } from '../../base/theme.ts';
import { formatFigure } from '../../base/units.ts';
import type { Lesson, Native } from '../../protocol/lesson.ts';

type Point = Native['arms'][number]['curve'][number];
type Scale = (value: number) => number;

/** Points that the chart shows; alone, nobody takes a line away. */
export function shownPoints(points: readonly Point[]): readonly Point[] {
  return points.filter(({ threads }) => threads >= 2);
}

interface LineProps {
  readonly points: readonly Point[];
  readonly theme: Theme;
  readonly x: Scale;
  readonly y: Scale;
  readonly first: boolean;
  readonly name: string;
}

/** Measured: solid, with a bar from the lowest to the highest run; the model's is dashed. */
export function NativeLine({ points, theme, x, y, first, name }: LineProps) {
  const shown = shownPoints(points);
  const colour = first ? theme.work : theme.gain;
  const path = lineShape<Point>()
    .x(({ threads }) => x(threads))
    .y(({ median }) => y(median))
    .digits(1);
  return (
    <g data-testid="native-line" stroke={colour} strokeWidth={2}>
      <title>{t('{name}, measured', { name })}</title>
      <path d={path([...shown]) ?? ''} fill="none" />
      {shown.map(({ threads, median, low, high }) => (
        <g key={threads}>
          <line x1={x(threads)} x2={x(threads)} y1={y(low)} y2={y(high)} />
          <line x1={x(threads) - 4} x2={x(threads) + 4} y1={y(median)} y2={y(median)} />
        </g>
      ))}
    </g>
  );
}

/** Where, when and how it was measured, and every figure. */
export function NativeNote({ lesson, title }: { lesson: Lesson; title: (arm: string) => string }) {
  const { native, operation } = lesson;
  if (native === null) return null;
  const { made, ratio } = native;
  const arms = native.arms.map(({ arm, curve }) => ({ name: title(arm), curve }));
  const columns =
    native.host === null
      ? arms
      : [...arms, { name: `Linux ${made.kernel}`, curve: native.host.curve }];
  const span = t('{low} to {high}', {
    low: formatFigure(ratio.low),
    high: formatFigure(ratio.high),
  });
  return (
    <div data-testid="native">
      <p className="small">
        {rich(
          '<b>Measured on {cpu}</b> (solid lines), {day}, Linux {kernel}: {what}. With {threads} threads on {cores} cores {of} has {median} times the rate of {to} (95 %: {span}).',
          {
            cpu: made.cpu,
            b: (words) => <b>{words}</b>,
            day: made.at.slice(0, 10),
            kernel: made.kernel,
            what: native.what,
            threads: native.threads,
            cores: native.cores,
            of: title(ratio.of),
            median: formatFigure(ratio.median),
            to: title(ratio.to),
            span,
          },
        )}
      </p>
      <details className="small">
        <summary>{t('what was measured, as a table')}</summary>
        <table className="table small" data-testid="native-table">
          <caption className="small quiet">
            {t('{plural} a second of all threads; measured, {ms} ms a run, by {compiler}', {
              plural: operation.plural,
              ms: native.run_ms,
              compiler: made.compiler,
            })}
          </caption>
          <thead>
            <tr>
              <th scope="col" className="right">
                {t('threads')}
              </th>
              {columns.map(({ name }) => (
                <th key={name} scope="col" className="right">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {(columns[0]?.curve ?? []).map(({ threads }, i) => (
              <tr key={threads}>
                <th scope="row" className="right">
                  {threads}
                </th>
                {columns.map(({ name, curve }) => (
                  <td key={name} className="right">
                    {`${((curve[i]?.median ?? 0) / 1e6).toFixed(2)}M`}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
        {native.host !== null && (
          <p className="quiet">
            {t(
              'Last column: {what}. It has one layout, so it compares none; it shows how far a machine like this gets.',
              { what: native.host.what },
            )}
          </p>
        )}
        {native.remarks.map((remark) => (
          <p key={remark} className="quiet">
            {t('Mind: {remark}.', { remark: remark.replace(/\.$/, '') })}
          </p>
        ))}
      </details>
    </div>
  );
}
