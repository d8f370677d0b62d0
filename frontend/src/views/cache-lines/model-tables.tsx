// SPDX-License-Identifier: GPL-2.0-or-later
/** What the model predicts, as tables. */

import { formatFigure } from '../../base/units.ts';
import type { Lesson } from '../../protocol/lesson.ts';
import type { ModelNumber, Sensitivity } from './model/curve.ts';
import type { Prediction } from './model/prediction.ts';

const words: Readonly<Record<ModelNumber, string>> = {
  hit: 'hit',
  transfer: 'transfer',
  upgrade: 'upgrade',
  own: 'rest of an operation',
  handover: 'handover',
  jitter: 'jitter',
};

/** How far the ratio hangs on each number of the model. */
export function SensitivityTable({ found }: { readonly found: Sensitivity }) {
  return (
    <table className="table small" data-testid="sensitivity">
      <caption className="small quiet">
        The ratio with {found.cpus} CPUs, if one number is halved or doubled
      </caption>
      <thead>
        <tr>
          <th scope="col">number</th>
          <th scope="col" className="right">
            half
          </th>
          <th scope="col" className="right">
            as stated
          </th>
          <th scope="col" className="right">
            double
          </th>
        </tr>
      </thead>
      <tbody>
        {found.rows.map(({ what, halved, doubled }) => (
          <tr key={what}>
            <th scope="row">{words[what]}</th>
            <td className="right">{formatFigure(halved)}</td>
            <td className="right">{formatFigure(found.ratio)}</td>
            <td className="right">{formatFigure(doubled)}</td>
          </tr>
        ))}
        <tr>
          <th scope="row">loads that own</th>
          <td />
          <td className="right">{formatFigure(found.owning)}</td>
          <td />
        </tr>
      </tbody>
    </table>
  );
}

/** The chart as a table. */
export function CurveTable({
  prediction,
  title,
  lesson,
}: {
  readonly lesson: Lesson;
  readonly prediction: Prediction;
  readonly title: (arm: string) => string;
}) {
  const { curves } = prediction;
  const figure = (arm: string, cpus: number) => {
    const point = curves.find((one) => one.arm === arm)?.points.find((one) => one.cpus === cpus);
    if (point === undefined) return '–';
    const per = (point.opsPerS.median / 1e6).toFixed(2);
    return `${per}M, ${formatFigure(point.transfersPerOp.median)}`;
  };
  return (
    <details className="small">
      <summary>the curve as a table</summary>
      <table className="table small" data-testid="curve-table">
        <caption className="small quiet">
          {lesson.operation.plural} a second, transfers per {lesson.operation.name}; modelled
        </caption>
        <thead>
          <tr>
            <th scope="col" className="right">
              CPUs
            </th>
            {curves.map(({ arm }) => (
              <th key={arm} scope="col" className="right">
                {title(arm)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {(curves[0]?.points ?? []).map(({ cpus }) => (
            <tr key={cpus}>
              <th scope="row" className="right">
                {cpus}
              </th>
              {curves.map(({ arm }) => (
                <td key={arm} className="right" data-arm={arm} data-cpus={cpus}>
                  {figure(arm, cpus)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
