// SPDX-License-Identifier: GPL-2.0-or-later
/** Cost against n, both axes logarithmic: a mark for each run and arm, guides, and the mail's own figures. */

import { t } from '../../base/lang/t.ts';
import type { Theme } from '../../base/theme.ts';
import { formatCount, formatNs } from '../../base/units.ts';
import { type CostPoint, guide, type Measure, type Reference, scalesOf } from './cost.ts';

const frame = { width: 296, height: 236, left: 54, right: 10, top: 12, bottom: 34 };

interface ChartProps {
  readonly points: readonly CostPoint[];
  readonly references: readonly Reference[];
  readonly measure: Measure;
  readonly theme: Theme;
  readonly at: CostPoint | null;
  readonly title: (arm: string) => string;
}

export function CostChart({ points, references, measure, theme, at, title }: ChartProps) {
  const { x, y } = scalesOf(points, references, measure, frame);
  const [n0, n1] = x.domain() as [number, number];
  const label = { fontSize: 13, fill: theme.faint, fontFamily: theme.font };
  const bottom = frame.height - frame.bottom;
  const powers = [10, 100, 1000, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9].filter(
    (v) => v >= y.domain()[0]! && v <= y.domain()[1]!,
  );
  const shown = powers.filter((_, i) => powers.length < 5 || i % 2 === 0);
  const summary = points
    .map((p) => `${title(p.arm)} n ${p.n}: ${measure === 'visits' ? p.visits : formatNs(p.ns)}`)
    .join('; ');
  return (
    <svg
      viewBox={`0 0 ${frame.width} ${frame.height}`}
      width="100%"
      role="img"
      aria-label={t('Cost of one pass of the fifth call against n. {summary}', { summary })}
      data-testid="cost-chart"
    >
      <clipPath id="cost-plot">
        <rect
          x={frame.left}
          y={frame.top}
          width={frame.width - frame.left - frame.right}
          height={bottom - frame.top}
        />
      </clipPath>
      {shown.map((v) => (
        <g key={v}>
          <line
            x1={frame.left}
            x2={frame.width - frame.right}
            y1={y(v)}
            y2={y(v)}
            stroke={theme.rule}
          />
          <text {...label} x={frame.left - 6} y={y(v) + 4} textAnchor="end">
            {measure === 'visits' ? short(v) : formatNs(v)}
          </text>
        </g>
      ))}
      {[10, 100, 1000, 4000]
        .filter((n) => n >= n0 && n <= n1)
        .map((n) => (
          <text key={n} {...label} x={x(n)} y={bottom + 17} textAnchor="middle">
            {formatCount(n)}
          </text>
        ))}
      <text {...label} x={frame.width - frame.right} y={frame.height - 3} textAnchor="end">
        {t('containers')}
      </text>
      {/* Of large walls the visits are not traced, so that times of different n are no straight line. */}
      {measure === 'visits' && (
        <g clipPath="url(#cost-plot)">
          <Guides {...{ points, measure, theme }} scales={{ x, y }} ends={[n0, n1]} />
        </g>
      )}
      {references.map((r) => (
        <g key={r.words} stroke={theme.soft} strokeWidth={1.6}>
          <title>{r.words}</title>
          <line x1={x(r.n) - 5} x2={x(r.n) + 5} y1={y(r.value)} y2={y(r.value)} />
          <line x1={x(r.n)} x2={x(r.n)} y1={y(r.value) - 5} y2={y(r.value) + 5} />
          <text {...label} stroke="none" x={x(r.n) - 8} y={y(r.value) - 7} textAnchor="end">
            {t('mail, {n}', { n: formatCount(r.n) })}
          </text>
        </g>
      ))}
      {points.map((p) => (
        <Dot
          key={`${p.run} ${p.arm}`}
          point={p}
          on={p === at}
          theme={theme}
          x={x(p.n)}
          y={y(Math.max(p[measure], 1))}
        />
      ))}
      <EndLabels {...{ points, measure, theme, title }} scales={{ x, y }} />
    </svg>
  );
}

const short = (v: number) => (v >= 1e6 ? `${v / 1e6}M` : v >= 1000 ? `${v / 1000}k` : String(v));

/** Squares are the list walk, discs the bitmap: distinguished by shape. Hollow: a live run of this browser. */
function Dot({
  point,
  on,
  theme,
  x,
  y,
}: {
  readonly point: CostPoint;
  readonly on: boolean;
  readonly theme: Theme;
  readonly x: number;
  readonly y: number;
}) {
  const size = on ? 6.5 : 4.5;
  const paint = { fill: theme.work, stroke: on ? theme.ink : theme.paper, strokeWidth: on ? 2 : 1 };
  return point.arm === 'before' ? (
    <rect x={x - size} y={y - size} width={2 * size} height={2 * size} {...paint} />
  ) : (
    <circle cx={x} cy={y} r={size} {...paint} />
  );
}

interface Scales {
  readonly x: (n: number) => number;
  readonly y: (v: number) => number;
}

/** The largest run of each arm carries a guide: n squared for one, n for the other. Dashed: worked out, not counted. */
function Guides({
  points,
  measure,
  theme,
  scales,
  ends,
}: Pick<ChartProps, 'points' | 'measure' | 'theme'> & {
  readonly scales: Scales;
  readonly ends: readonly [number, number];
}) {
  return [
    { arm: 'before', power: 2 },
    { arm: 'after', power: 1 },
  ].map(({ arm, power }) => {
    const top = largest(points, arm);
    if (top === null || top[measure] <= 0) return null;
    const line = guide({ n: top.n, value: top[measure] }, power, ends[0], ends[1]);
    const [a, b] = line.map(([n, v]) => [scales.x(n), scales.y(v)] as const);
    return (
      <line
        key={arm}
        x1={a![0]}
        y1={a![1]}
        x2={b![0]}
        y2={b![1]}
        stroke={theme.soft}
        strokeDasharray="5 4"
      />
    );
  });
}

function largest(points: readonly CostPoint[], arm: string): CostPoint | null {
  return points
    .filter((p) => p.arm === arm)
    .reduce<CostPoint | null>((best, p) => (best === null || p.n >= best.n ? p : best), null);
}

function EndLabels({
  points,
  measure,
  theme,
  title,
  scales,
}: Omit<ChartProps, 'at' | 'references'> & { readonly scales: Scales }) {
  return ['before', 'after'].map((arm) => {
    const top = largest(points, arm);
    if (top === null) return null;
    const slope = measure === 'visits' ? ` ~ n${arm === 'before' ? '²' : ''}` : '';
    const words = `${title(arm)}${slope}`;
    return (
      <text
        key={arm}
        x={scales.x(top.n) - 10}
        y={scales.y(Math.max(1, top[measure])) + -8}
        textAnchor="end"
        fontSize={13}
        fontWeight={600}
        fill={theme.ink}
        fontFamily={theme.font}
      >
        {words}
      </text>
    );
  });
}
