// SPDX-License-Identifier: GPL-2.0-or-later
/** One lane of the model's chart: its median as a dashed line, and a band over the seeds. */

import { area, line as lineShape } from 'd3-shape';
import type { Theme } from '../../base/theme.ts';
import type { Prediction } from './model/prediction.ts';

/** Names of lanes take less, px. */
const widest = 150;

type Points = Prediction['curves'][number]['points'];

/** Modelled: dashed. The first lane has discs, the last squares. */
export function Curve({
  points,
  theme,
  x,
  y,
  first,
  name,
}: {
  readonly points: Points;
  readonly theme: Theme;
  readonly x: (n: number) => number;
  readonly y: (v: number) => number;
  readonly first: boolean;
  readonly name: string;
}) {
  const last = points.at(-1);
  if (last === undefined) return null;
  const middle = lineShape<Points[number]>()
    .x(({ cpus }) => x(cpus))
    .y(({ opsPerS }) => y(opsPerS.median))
    .digits(1);
  const band = area<Points[number]>()
    .x(({ cpus }) => x(cpus))
    .y0(({ opsPerS }) => y(opsPerS.low))
    .y1(({ opsPerS }) => y(opsPerS.high))
    .digits(1);
  const colour = first ? theme.work : theme.gain;
  // While the model is at work the curve may end before there is room for its name at the left.
  const early = x(last.cpus) < widest;
  return (
    <g>
      <path d={band(points) ?? ''} fill={colour} opacity={0.18} />
      <path
        d={middle(points) ?? ''}
        fill="none"
        stroke={colour}
        strokeWidth={2}
        strokeDasharray="6 4"
      />
      {points.map(({ cpus, opsPerS }) =>
        first ? (
          <circle key={cpus} cx={x(cpus)} cy={y(opsPerS.median)} r={3} fill={colour} />
        ) : (
          <rect
            key={cpus}
            x={x(cpus) - 3}
            y={y(opsPerS.median) - 3}
            width={6}
            height={6}
            fill={colour}
          />
        ),
      )}
      <text
        x={early ? x(2) + 4 : x(last.cpus)}
        y={y(last.opsPerS.median) + (first ? 18 : -9)}
        textAnchor={early ? 'start' : 'end'}
        fontSize={13}
        fontWeight={600}
        fill={theme.ink}
        fontFamily={theme.font}
      >
        {name}
      </text>
    </g>
  );
}
