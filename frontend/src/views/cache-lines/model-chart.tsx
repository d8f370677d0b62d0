// SPDX-License-Identifier: GPL-2.0-or-later
/** Stats a second against CPUs, a dashed line a lane with a band over the seeds; the mail's figures as marked points. */

import { scaleLinear, scaleLog } from 'd3-scale';
import { t } from '../../base/lang/t.ts';
import type { Theme } from '../../base/theme.ts';
import { formatCount, formatPlaces } from '../../base/units.ts';
import type { Native } from '../../protocol/lesson.ts';
import type { Prediction } from './model/prediction.ts';
import { mailRates } from './model/stated.ts';
import { Curve } from './model-curve.tsx';
import { NativeLine, shownPoints } from './model-native.tsx';

const box = { width: 296, height: 250, left: 34, right: 10, top: 14, bottom: 36 };
const ticks = [2, 4, 8, 16, 32, 64];

interface Props {
  readonly prediction: Prediction;
  readonly theme: Theme;
  readonly title: (arm: string) => string;
  /** CPUs of the picture. */
  readonly at: number;
  /** What is counted: "stats". */
  readonly many: string;
  /** What a machine measured; null: none did. */
  readonly native: Native | null;
}

/** Arms of the mail: the first on show is before, the last after. */
export function mailPoints(arms: readonly string[]) {
  const { cpus, stockPerS, movedPerS } = mailRates;
  const of = (arm: string) => (arm === 'moved' ? movedPerS : stockPerS);
  return arms.map((arm) => ({ arm, cpus, perSecond: of(arm) }));
}

export function ModelChart({ prediction, theme, title, at, many, native }: Props) {
  const curves = prediction.curves.map(({ arm, points }) => ({
    arm,
    points: points.filter(({ cpus }) => cpus >= 2),
  }));
  const mail = mailPoints(curves.map(({ arm }) => arm));
  const measured = curves.map(
    ({ arm }) => native?.arms.find((one) => one.arm === arm)?.curve ?? [],
  );
  const most = Math.max(
    ...measured.flatMap((points) => shownPoints(points).map(({ high }) => high)),
    ...mail.map((one) => one.perSecond),
    ...curves.flatMap(({ points }) => points.map(({ opsPerS }) => opsPerS.high)),
  );
  const x = scaleLog([2, 64], [box.left, box.width - box.right]).base(2);
  const y = scaleLinear([0, most * 1.12], [box.height - box.bottom, box.top]);
  const label = { fontSize: 13, fill: theme.faint, fontFamily: theme.font };
  return (
    <svg
      viewBox={`0 0 ${box.width} ${box.height}`}
      width="100%"
      style={{ maxWidth: 420, display: 'block' }}
      role="img"
      aria-label={t('Predicted {many} a second against CPUs. {rates}', {
        many,
        rates: spoken(prediction, title),
      })}
      data-testid="model-chart"
    >
      {y.ticks(4).map((v) => (
        <g key={v}>
          <line x1={box.left} x2={box.width - box.right} y1={y(v)} y2={y(v)} stroke={theme.rule} />
          <text {...label} x={box.left - 6} y={y(v) + 4} textAnchor="end">
            {v === 0 ? '0' : `${v / 1e6}M`}
          </text>
        </g>
      ))}
      {ticks.map((n) => (
        <text key={n} {...label} x={x(n)} y={box.height - box.bottom + 17} textAnchor="middle">
          {n}
        </text>
      ))}
      <text {...label} x={box.width - box.right} y={box.height - 3} textAnchor="end">
        {t('CPUs, {many} a second', { many })}
      </text>
      {at >= 2 && (
        <line
          x1={x(at)}
          x2={x(at)}
          y1={box.top}
          y2={box.height - box.bottom}
          stroke={theme.staff}
          strokeWidth={2}
        />
      )}
      {curves.map(({ arm, points }, i) => (
        <Curve key={arm} {...{ points, theme }} x={x} y={y} first={i === 0} name={title(arm)} />
      ))}
      {measured.map((points, i) =>
        points.length === 0 ? null : (
          <NativeLine
            key={curves[i]!.arm}
            {...{ points, theme }}
            x={x}
            y={y}
            first={i === 0}
            name={title(curves[i]!.arm)}
          />
        ),
      )}
      {mail.map(({ arm, cpus, perSecond }) => (
        <g key={arm} stroke={theme.ink} strokeWidth={2}>
          <title>
            {t('the mail, measured: {rate} ops/s, {arm}', {
              rate: formatCount(perSecond),
              arm: title(arm),
            })}
          </title>
          <line x1={x(cpus) - 5} x2={x(cpus) + 5} y1={y(perSecond)} y2={y(perSecond)} />
          <line x1={x(cpus)} x2={x(cpus)} y1={y(perSecond) - 5} y2={y(perSecond) + 5} />
          <text
            {...label}
            fill={theme.ink}
            stroke={theme.paper}
            strokeWidth={3}
            paintOrder="stroke"
            x={x(cpus) - 9}
            y={y(perSecond) - 3}
            textAnchor="end"
          >
            {t('mail {n}M', { n: formatPlaces(perSecond / 1e6, 2) })}
          </text>
        </g>
      ))}
    </svg>
  );
}

function spoken({ curves }: Prediction, title: (arm: string) => string): string {
  return curves
    .map(({ arm, points }) => {
      const words = points.map(({ cpus, opsPerS }) =>
        t('{cpus}: {n} million', { cpus, n: formatPlaces(opsPerS.median / 1e6, 2) }),
      );
      return `${title(arm)} ${words.join(', ')}`;
    })
    .join('; ');
}
