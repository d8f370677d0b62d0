// SPDX-License-Identifier: GPL-2.0-or-later
/** The drawings of a report: bars of both rounds, where the class pointed, when it was lost. */

import { t } from '../base/lang/t.ts';
import { heatOf } from '../classroom/pointing.ts';
import type { ClassReport } from '../protocol/contract.gen.ts';
import { HeadRow } from '../ui/parts.tsx';
import {
  type Bar,
  binsOf,
  clockOf,
  type ReportRound,
  roundWords,
  titleOf,
  type Words,
} from './report.ts';

interface BarsProps {
  readonly bars: readonly Bar[];
  readonly rounds: readonly ReportRound[];
}

export function Bars({ bars, rounds }: BarsProps) {
  const heads = rounds.map((round) => roundWords(round, rounds.length > 1));
  if (bars.length === 0) return <p className="small quiet">{heads.join('; ')}</p>;
  return (
    <table className="report-bars">
      <HeadRow heads={[t('answer'), ...heads]} />
      <tbody>
        {bars.map(({ label, counts }) => (
          <tr key={label}>
            <th scope="row">{label}</th>
            {counts.map((count, i) => (
              <td key={rounds[i]!.round}>
                <span className="report-bar">
                  <span className="report-track">
                    <span
                      style={{ width: `${(100 * count) / Math.max(1, rounds[i]!.answers)}%` }}
                    />
                  </span>
                  <span className="number">{count}</span>
                </span>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Of the frame; the picture of a lesson is about twice as wide as it is high. */
const frame = { width: 480, height: 240 };

/** Where each pointed first, over the frame of the picture as parts of its width and height. */
export function HeatMap({ marks }: { readonly marks: readonly (readonly number[])[] }) {
  const cells = heatOf(marks.map(([x, y]) => ({ x: x ?? 0.5, y: y ?? 0.5 })));
  const top = Math.max(1, ...cells.map(({ count }) => count));
  const words = t('{n} pointed into the picture; at most {top} at one place.', {
    n: marks.length,
    top,
  });
  return (
    <figure className="report-heat">
      <svg viewBox={`0 0 ${frame.width} ${frame.height}`} role="img" aria-label={words}>
        <rect className="report-frame" width={frame.width} height={frame.height} />
        {cells.map(({ x, y, count }) => (
          <g key={`${x} ${y}`}>
            <circle
              cx={x * frame.width}
              cy={y * frame.height}
              r={7 + 15 * Math.sqrt(count / top)}
            />
            {count > 1 && (
              <text x={x * frame.width} y={y * frame.height} dy="0.35em">
                {count}
              </text>
            )}
          </g>
        ))}
      </svg>
      <figcaption className="small quiet">
        {t(
          '{words} The frame is the picture of the lanes: time from left to right, the first lane on top.',
          { words },
        )}
      </figcaption>
    </figure>
  );
}

const chart = { width: 960, height: 120 };

export function LostCurve({ report, words }: { report: ClassReport; words: Words }) {
  const { bins, width, whole } = binsOf(report.lost, report.lasted_s);
  const all = report.lost.reduce((sum, { count }) => sum + count, 0);
  if (all === 0) return <p>{t('Nobody said that they were lost.')}</p>;
  const most = Math.max(...bins.map(({ count }) => count));
  const peaks = bins
    .filter(({ count }) => count > 0)
    .toSorted((a, b) => b.count - a.count)
    .slice(0, 3);
  const at = (seconds: number) => (seconds / whole) * chart.width;
  return (
    <figure className="report-lost">
      <svg
        viewBox={`0 0 ${chart.width} ${chart.height}`}
        role="img"
        aria-label={t('When somebody was lost: {all} times in {length} minutes', {
          all,
          length: clockOf(whole),
        })}
        data-testid="report-lost"
      >
        {bins.map(({ from, count }) => (
          <rect
            key={from}
            x={at(from)}
            y={chart.height * (1 - count / most)}
            width={Math.max(1, at(width) - 1)}
            height={chart.height * (count / most)}
          />
        ))}
      </svg>
      <div className="report-axis small number">
        {[0, 0.25, 0.5, 0.75, 1].map((part) => (
          <span key={part}>{clockOf(part * whole)}</span>
        ))}
      </div>
      <figcaption>
        {peaks.map(({ from, count, step }) => (
          <span key={from}>
            {step
              ? t('At {from}, in “{step}”: {count}.', {
                  ...{ from: clockOf(from), step: titleOf(words, step), count },
                })
              : t('At {from}: {count}.', { from: clockOf(from), count })}{' '}
          </span>
        ))}
        <span className="quiet">
          {t('Minutes since the class began; a member counts once in ten seconds.')}
        </span>
      </figcaption>
    </figure>
  );
}
