// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The chart of cost against n, the number of containers. Each run that the viewer starts adds points, which are stored
 * in this browser.
 */

import { t } from '@page/base/lang/t.ts';
import type { Theme } from '@page/base/theme.ts';
import { formatCount, formatNs } from '@page/base/units.ts';
import type { RunIndex } from '@page/derive/types.ts';
import type { Lesson } from '@page/protocol/lesson.ts';
import type { PanelProps } from '@page/views/contract.ts';
import { scaleLog } from 'd3-scale';
import { useEffect, useMemo, useState } from 'react';
import { ofCall } from './marks.ts';
import { doneCall } from './words.ts';

// Computes the chart's points: the cost of the fifth call, for each run and arm that this browser has seen. Pure.

/** Number of the call that is compared. Earlier calls differ in their number of passes. */
const lastCall = 5;

export interface CostPoint {
  readonly run: string;
  readonly arm: string;
  readonly n: number;
  /** Visits per pass. Visits per call could not be compared, because calls may differ in their number of passes. */
  readonly visits: number;
  readonly passes: number;
  /** Duration of the call, ns. It comes from a traced run, so it is not a measurement. */
  readonly ns: number;
  readonly source: 'live' | 'recorded';
  readonly clock: 'wall' | 'count';
}

/**
 * Return the points of the run that the page shows. The list is empty before the run's fifth call has ended, and if
 * events of this call were lost.
 */
export function costOf(index: RunIndex, lesson: Lesson): readonly CostPoint[] {
  const n = index.params['n'];
  // Another workload has other mounts, and therefore another number of visits at the same n.
  const usual = Object.keys(lesson.workloads)[0];
  if (n === undefined || (usual !== undefined && index.workload !== usual)) return [];
  return index.lanes.flatMap((lane): CostPoint[] => {
    const call = doneCall(lane, lesson, lastCall);
    if (call === null || call.passes === 0) return [];
    const { passes } = call;
    const { source, clock, runId: run } = index;
    const visits = call.visits / passes;
    return [{ run, arm: lane.arm, n, visits, passes, ns: call.ended - call.began, source, clock }];
  });
}

const mostKept = 400;

/** Add new points to the stored points. Keep one point for each run and arm, with the newest point last. */
export function merged(
  old: readonly CostPoint[],
  more: readonly CostPoint[],
): readonly CostPoint[] {
  const fresh = more.filter((p) => !old.some((q) => q.run === p.run && q.arm === p.arm));
  return fresh.length === 0 ? old : [...old, ...fresh].slice(-mostKept);
}

/** Parse stored points. Leave out everything that is not a valid point. */
export function parseCosts(text: string | null): readonly CostPoint[] {
  try {
    const list: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(list) ? list.filter(isPoint) : [];
  } catch {
    return [];
  }
}

function isPoint(value: unknown): value is CostPoint {
  const p = value as Partial<Record<keyof CostPoint, unknown>> | null;
  return (
    typeof p === 'object' &&
    p !== null &&
    ['n', 'visits', 'passes', 'ns'].every((key) => Number.isFinite(p[key as keyof CostPoint])) &&
    ['run', 'arm', 'source', 'clock'].every((key) => typeof p[key as keyof CostPoint] === 'string')
  );
}

export type Measure = 'visits' | 'ns';

interface Reference {
  readonly arm: string;
  readonly n: number;
  readonly value: number;
  readonly words: string;
}

/** Return the lesson's published values of a measure. */
function referencesOf(lesson: Pick<Lesson, 'references'>, measure: Measure): readonly Reference[] {
  return lesson.references
    .filter((one) => one.quantity === measure && one.params['n'] !== undefined)
    .map(({ arm, params, value, title }) => ({ arm, n: params['n']!, value, words: title }));
}

export interface Frame2d {
  readonly width: number;
  readonly height: number;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** Return logarithmic axes for all points. */
function scalesOf(
  points: readonly CostPoint[],
  references: readonly Reference[],
  measure: Measure,
  frame: Frame2d,
) {
  const ns = [...points.map((p) => p.n), 50, 4000];
  const values = [...points.map((p) => p[measure]), ...references.map((r) => r.value)];
  const [low, high] = [Math.min(...values.filter((v) => v > 0)), Math.max(...values)];
  const x = scaleLog()
    .domain([Math.min(...ns) * 0.8, Math.max(...ns) * 1.3])
    .range([frame.left, frame.width - frame.right]);
  const y = scaleLog()
    .domain([low / 4, high * 2.5])
    .range([frame.height - frame.bottom, frame.top]);
  return { x, y };
}

/** Return the two ends of a guide line through a point. On logarithmic axes its slope is `power`. */
export function guide(
  through: Pick<CostPoint, 'n'> & { readonly value: number },
  power: number,
  from: number,
  to: number,
): readonly (readonly [number, number])[] {
  return [from, to].map((n) => [n, through.value * (n / through.n) ** power] as const);
}

// Draws the chart on two logarithmic axes: a mark for each run and arm, guide lines, and the mail's figures.

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
      {/* Runs with large n trace no single visits, so the times do not lie on a straight line. */}
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

/**
 * Squares stand for the list walk and discs for the bitmap, so the shape distinguishes them. A hollow mark is a live
 * run of this browser.
 */
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

/**
 * Draw a guide line for each arm through its point with the largest n: with slope 2 for the list walk, and slope 1 for
 * the bitmap. Guide lines are dashed because they are calculated, not counted.
 */
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

const keyOf = (lesson: Pick<Lesson, 'slug'>) => `duet.cost.${lesson.slug}`;

function useCosts({ runIndex, lesson }: Pick<PanelProps, 'runIndex' | 'lesson'>) {
  const key = keyOf(lesson);
  const now = useMemo(() => costOf(runIndex, lesson), [runIndex, lesson]);
  const [kept, setKept] = useState(() => parseCosts(read(key)));
  const points = useMemo(() => merged(kept, now), [kept, now]);
  useEffect(() => {
    if (points === kept) return;
    write(key, points);
    setKept(points);
  }, [key, points, kept]);
  const forget = () => {
    write(key, now);
    setKept(now);
  };
  return { points, forget };
}

function read(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** Store the points. If the browser refuses storage, the points last until the user leaves the page. */
function write(key: string, points: readonly CostPoint[]): void {
  try {
    localStorage.setItem(key, JSON.stringify(points));
  } catch {
    // The storage is full or forbidden.
  }
}

/**
 * Format the visits of a pass. Mark the number as a figure if the page shows this run and the call made one pass,
 * because the sentence then contains the same number.
 */
function visitsOf({ run, arm, visits, passes }: CostPoint, shown: string): string {
  return run === shown && passes === 1
    ? ofCall(arm, lastCall, 'visits', visits)
    : formatCount(visits);
}

const measures: readonly { readonly of: Measure; readonly words: string }[] = [
  { of: 'visits', words: t('visits') },
  { of: 'ns', words: t('time, traced') },
];

export function CostPanel({ runIndex, lesson, theme }: PanelProps) {
  const { points, forget } = useCosts({ runIndex, lesson });
  const [measure, setMeasure] = useState<Measure>('visits');
  const [at, setAt] = useState<CostPoint | null>(null);
  const title = (arm: string) => lesson.arms.find((a) => a.name === arm)?.title ?? arm;
  const value = (p: CostPoint) => (measure === 'visits' ? formatCount(p.visits) : formatNs(p.ns));
  return (
    <div>
      <fieldset className="segments cost-measure" aria-label={t('What is drawn')}>
        {measures.map(({ of, words }) => (
          <button
            key={of}
            type="button"
            className="button"
            aria-pressed={measure === of}
            onClick={() => setMeasure(of)}
          >
            {words}
          </button>
        ))}
      </fieldset>
      <CostChart
        references={referencesOf(lesson, measure)}
        {...{ points, measure, theme, at }}
        title={title}
      />
      <p className="small quiet" aria-live="polite">
        {at === null
          ? t(
              'Cost of one pass of the fifth call. Both axes are logarithmic. Each run adds its points: choose a number of containers above, and start a run.',
            )
          : t(
              '{arm}, n = {n}: {value}, {source, select, live {live} other {recorded}}, {clock} clock.',
              {
                arm: title(at.arm),
                n: formatCount(at.n),
                value: value(at),
                source: at.source,
                clock: at.clock,
              },
            )}
      </p>
      <details className="small">
        <summary>{t('{n} points as a table', { n: points.length })}</summary>
        <table className="table small" data-testid="cost-table">
          <thead>
            <tr>
              <th scope="col" className="right">
                n
              </th>
              <th scope="col">{t('arm')}</th>
              <th scope="col" className="right">
                {t('visits')}
              </th>
              <th scope="col" className="right">
                {t('time')}
              </th>
              <th scope="col">{t('run')}</th>
            </tr>
          </thead>
          <tbody>
            {[...points]
              .sort((a, b) => a.n - b.n || a.arm.localeCompare(b.arm))
              .map((p) => (
                <tr key={`${p.run} ${p.arm}`} data-arm={p.arm} data-n={p.n}>
                  <td className="right">
                    <button
                      type="button"
                      className="link"
                      onFocus={() => setAt(p)}
                      onBlur={() => setAt(null)}
                      onMouseEnter={() => setAt(p)}
                      onMouseLeave={() => setAt(null)}
                    >
                      {formatCount(p.n)}
                    </button>
                  </td>
                  <td>{title(p.arm)}</td>
                  <td className="right">{visitsOf(p, runIndex.runId)}</td>
                  <td className="right">{formatNs(p.ns)}</td>
                  <td>{p.source}</td>
                </tr>
              ))}
          </tbody>
        </table>
        <button type="button" className="link" onClick={forget}>
          {t('forget the other runs')}
        </button>
      </details>
    </div>
  );
}
