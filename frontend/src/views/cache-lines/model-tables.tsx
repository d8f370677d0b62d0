// SPDX-License-Identifier: GPL-2.0-or-later
/** What the model predicts, as tables. */

import { formatFigure } from '../../base/units.ts';
import type { Lesson } from '../../protocol/lesson.ts';
import type { Prediction } from './model/prediction.ts';
import {
  type Case,
  casesOf,
  type ModelNumber,
  mostOff,
  type Ratios,
  type Sensitivity,
} from './model/sensitivity.ts';

const words: Readonly<Record<ModelNumber, string>> = {
  hit: 'hit',
  transfer: 'transfer',
  upgrade: 'upgrade',
  own: 'other work',
  handover: 'handover',
  jitter: 'jitter',
};

/** How far the ratio hangs on each number of the model, and which of its choices the mail's profile allows. */
export function SensitivityTable({ found }: { readonly found: Sensitivity }) {
  const { owning, reading, cpus } = found;
  return (
    <table className="table small" data-testid="sensitivity">
      <caption className="small quiet" style={{ textAlign: 'left' }}>
        <b>How firm is it?</b> The ratio with {cpus} CPUs if one number is halved or doubled; below
        it, how many points the time by function is off the mail’s. {allowedWords(owning, 'own')}{' '}
        {allowedWords(reading, 'read')} Struck out: more than {mostOff} points off. Handover: after
        which share of a transfer the others have lost the line. Jitter: by which share the other
        work varies.
      </caption>
      <thead>
        <tr>
          <td />
          <th scope="colgroup" colSpan={2} className="right">
            loads own
          </th>
          <th scope="colgroup" colSpan={2} className="right">
            loads read
          </th>
        </tr>
        <tr>
          <th scope="col">number</th>
          {['half', 'double', 'half ', 'double '].map((head) => (
            <th key={head} scope="col" className="right">
              {head.trim()}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        <tr>
          <th scope="row">as stated</th>
          <CaseCell of={owning.stated} span={2} />
          <CaseCell of={reading.stated} span={2} />
        </tr>
        {owning.rows.map(({ what, halved, doubled }, i) => (
          <tr key={what} data-what={what}>
            <th scope="row">{words[what]}</th>
            <CaseCell of={halved} />
            <CaseCell of={doubled} />
            <CaseCell of={reading.rows[i]!.halved} />
            <CaseCell of={reading.rows[i]!.doubled} />
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function CaseCell({ of: { ratio, off }, span = 1 }: { readonly of: Case; readonly span?: number }) {
  const out = off > mostOff;
  return (
    <td className="right" colSpan={span} data-out={out ? '' : undefined}>
      {out ? <s className="quiet">{ratio.toFixed(2)}</s> : <b>{ratio.toFixed(2)}</b>}
      {Number.isNaN(off) ? null : (
        <>
          <br />
          <span className="quiet">{off.toFixed(1)}</span>
        </>
      )}
    </td>
  );
}

/** Between which ratios those choices lie whose profile is near the mail's. */
export function allowedWords(ratios: Ratios, verb: 'own' | 'read'): string {
  const near = casesOf(ratios).flatMap(({ ratio, off }) => (off <= mostOff ? [ratio] : []));
  if (near.length === 0) return `Where loads ${verb}, no profile is near the mail’s.`;
  const [low, high] = [Math.min(...near), Math.max(...near)].map((ratio) => ratio.toFixed(2));
  return `Where loads ${verb} and the profile is near the mail’s, the ratio is ${low === high ? low : `${low} to ${high}`}.`;
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
