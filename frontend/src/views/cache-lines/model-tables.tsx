// SPDX-License-Identifier: GPL-2.0-or-later
/** What the model predicts, as tables. */

import { rich, t } from '../../base/lang/t.ts';
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
  hit: t('hit'),
  transfer: t('transfer'),
  upgrade: t('upgrade'),
  own: t('other work'),
  handover: t('handover'),
  jitter: t('jitter'),
};

/** How far the ratio hangs on each number of the model, and which of its choices the mail's profile allows. */
export function SensitivityTable({ found }: { readonly found: Sensitivity }) {
  const { owning, reading, cpus } = found;
  return (
    <table className="table small" data-testid="sensitivity">
      <caption className="small quiet" style={{ textAlign: 'left' }}>
        {rich(
          '<b>How firm is it?</b> The ratio with {cpus} CPUs if one number is halved or doubled; below it, how many points the time by function is off the mail’s. {owning} {reading} Struck out: more than {mostOff} points off. Handover: after which share of a transfer the others have lost the line. Jitter: by which share the other work varies.',
          {
            b: (words) => <b>{words}</b>,
            cpus,
            owning: allowedWords(owning, 'own'),
            reading: allowedWords(reading, 'read'),
            mostOff,
          },
        )}
      </caption>
      <thead>
        <tr>
          <td />
          <th scope="colgroup" colSpan={2} className="right">
            {t('loads own')}
          </th>
          <th scope="colgroup" colSpan={2} className="right">
            {t('loads read')}
          </th>
        </tr>
        <tr>
          <th scope="col">{t('number')}</th>
          {['own half', 'own double', 'read half', 'read double'].map((of) => (
            <th key={of} scope="col" className="right">
              {of.endsWith('half') ? t('half') : t('double')}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        <tr>
          <th scope="row">{t('as stated')}</th>
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
  if (near.length === 0)
    return t('Where loads {verb, select, own {own} other {read}}, no profile is near the mail’s.', {
      verb,
    });
  const [low, high] = [Math.min(...near), Math.max(...near)].map((ratio) => ratio.toFixed(2));
  return t(
    'Where loads {verb, select, own {own} other {read}} and the profile is near the mail’s, the ratio is {ratio}.',
    {
      verb,
      ratio: low === high ? low : t('{low} to {high}', { low, high }),
    },
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
      <summary>{t('the curve as a table')}</summary>
      <table className="table small" data-testid="curve-table">
        <caption className="small quiet">
          {t('{plural} a second, transfers per {name}; modelled', {
            plural: lesson.operation.plural,
            name: lesson.operation.name,
          })}
        </caption>
        <thead>
          <tr>
            <th scope="col" className="right">
              {t('CPUs')}
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
