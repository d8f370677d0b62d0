// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Chart of files per second against batch size. Our values come only from untraced runs: the runs recorded with the
 * lesson, and each run that the viewer measures. An explain run only counts, so it gives no rate and no point in this
 * chart.
 */

import { t } from '@page/base/lang/t.ts';
import { formatCount } from '@page/base/units.ts';
import type { Lesson, MeasuredTable } from '@page/protocol/lesson.ts';
import type { PanelProps } from '@page/views/contract.ts';
import { scaleLog } from 'd3-scale';
import { curveLinearClosed, line as lineShape } from 'd3-shape';

export interface SweepPoint {
  readonly batch: number;
  readonly perSecond: number;
}

export interface Line {
  readonly name: string;
  readonly arm: string;
  readonly mail: boolean;
  readonly points: readonly SweepPoint[];
}

/** The published lines, one per arm, in the order in which the lesson lists its arms. */
export function publishedLines(lesson: Pick<Lesson, 'arms' | 'references'>): readonly Line[] {
  return lesson.arms.flatMap((arm) => {
    const points = lesson.references
      .filter((one) => one.quantity === 'files_per_s' && one.arm === arm.name)
      .flatMap(({ params: { batch }, value }) =>
        batch === undefined ? [] : [{ batch, perSecond: value }],
      )
      .sort((a, b) => a.batch - b.batch);
    const name = arm.role === 'before' ? 'before' : 'after';
    return points.length === 0 ? [] : [{ name, arm: arm.name, mail: true, points }];
  });
}

const worth = (table: MeasuredTable, clock: string) =>
  table.workload === 'recycle' && table.clock === clock;

/** Our lines, one per arm. If there are several tables for a batch size, the last one counts. */
export function ourLines(
  lesson: Pick<Lesson, 'arms'>,
  tables: readonly MeasuredTable[],
  clock: string,
): readonly Line[] {
  return lesson.arms.flatMap((arm) => {
    const points = new Map<number, number>();
    for (const table of tables.filter((one) => worth(one, clock))) {
      const row = table.rows.find((one) => one.arm === arm.name);
      const batch = table.params['batch'];
      if (row?.ops_per_s_median != null && batch !== undefined)
        points.set(batch, row.ops_per_s_median);
    }
    if (points.size === 0) return [];
    const sorted = [...points].sort((a, b) => a[0] - b[0]);
    const found = sorted.map(([batch, perSecond]) => ({ batch, perSecond }));
    return [{ name: arm.title, arm: arm.name, mail: false, points: found }];
  });
}

const box = { width: 288, height: 250, left: 52, right: 18, top: 22, bottom: 42 };
const range = { batch: [0.8, 1400], rate: [400, 32000] } as const;

const x = scaleLog(range.batch, [box.left, box.width - box.right]);
const y = scaleLog(range.rate, [box.height - box.bottom, box.top]);

const lineOf = lineShape<SweepPoint>(
  (point) => x(point.batch),
  (point) => y(point.perSecond),
).digits(1);
const closed = lineShape<SweepPoint>(
  (point) => x(point.batch),
  (point) => y(point.perSecond),
)
  .curve(curveLinearClosed)
  .digits(1);

function path(points: readonly SweepPoint[]): string {
  return lineOf(points) ?? '';
}

/** The area between stock and the arm that waits. It shows what the wait costs. */
function area(lines: readonly Line[], arms: readonly [string, string]): string {
  const [one, other] = arms.map((arm) => lines.find((line) => line.arm === arm)?.points ?? []);
  if (!one?.length || !other?.length) return '';
  return closed([...one, ...other.toReversed()]) ?? '';
}

const waits = 'wait-at-recycle';

export function SweepPanel({ lesson, data }: PanelProps) {
  const ours = ourLines(lesson, data.tables, 'count');
  const mails = publishedLines(lesson);
  const stock = lesson.arms[0]?.name ?? '';
  const drawn = ours.filter((line) => line.arm === stock || line.arm === waits);
  return (
    <div className="sweep" data-testid="sweep">
      <svg
        viewBox={`0 0 ${box.width} ${box.height}`}
        role="img"
        aria-label={t(
          'Files per second against batch size, in our runs and in the mail; the table below has the figures',
        )}
        style={{ width: '100%', height: 'auto', font: '13px var(--font)' }}
      >
        <Axes />
        <path d={area(mails, [stock, waits])} fill="var(--vain)" opacity="0.12" />
        <path d={area(drawn, [stock, waits])} fill="var(--wait)" opacity="0.13" />
        {[...mails, ...drawn].map((line) => (
          <LinePath key={`${line.mail} ${line.arm}`} line={line} hollow={line.arm === waits} />
        ))}
      </svg>
      <SweepTable lesson={lesson} ours={ours} mails={mails} />
      <p className="small quiet">
        {t(
          "The solid lines are our untraced runs on the count clock, at 1 ns per instruction. The dashed lines are from Foster's mail of January 2022 and were measured on another machine. Filled dots are the kernel without the wait, and hollow dots are “wait at recycle”. If you measure with another batch size, the chart gets a new point.",
        )}
      </p>
    </div>
  );
}

function Axes() {
  return (
    <g fill="var(--soft)">
      {[1000, 10000].map((rate) => (
        <g key={rate}>
          <line
            x1={box.left}
            x2={box.width - box.right}
            y1={y(rate)}
            y2={y(rate)}
            stroke="var(--rule)"
          />
          <text x={box.left - 6} y={y(rate) + 4} textAnchor="end">
            {formatCount(rate)}
          </text>
        </g>
      ))}
      {[1, 8, 32, 256, 1024].map((batch) => (
        <text key={batch} x={x(batch)} y={box.height - 24} textAnchor="middle">
          {formatCount(batch)}
        </text>
      ))}
      <text x={(box.left + box.width) / 2} y={box.height - 6} textAnchor="middle">
        {t('files in a batch')}
      </text>
      <text x={2} y={15}>
        {t('files/s')}
      </text>
    </g>
  );
}

function LinePath({ line, hollow }: { readonly line: Line; readonly hollow: boolean }) {
  const colour = line.mail ? 'var(--faint)' : hollow ? 'var(--wait)' : 'var(--work)';
  return (
    <g>
      <path
        d={path(line.points)}
        fill="none"
        stroke={colour}
        strokeWidth="1.75"
        {...(line.mail ? { strokeDasharray: '4 3' } : {})}
      />
      {line.points.map((p) => (
        <circle
          key={p.batch}
          cx={x(p.batch)}
          cy={y(p.perSecond)}
          r="3.6"
          fill={hollow ? 'var(--paper)' : colour}
          stroke={colour}
          strokeWidth="1.75"
        >
          <title>
            {t(
              '{mail, select, yes {the mail, } other {}}{name}, batch {batch}: {n} files a second',
              {
                ...{ mail: line.mail ? 'yes' : 'no', name: line.name, batch: p.batch },
                n: formatCount(p.perSecond),
              },
            )}
          </title>
        </circle>
      ))}
    </g>
  );
}

function SweepTable(props: {
  readonly lesson: Lesson;
  readonly ours: readonly Line[];
  readonly mails: readonly Line[];
}) {
  const { ours, mails } = props;
  const batches = [...new Set([...ours, ...mails].flatMap((l) => l.points.map((p) => p.batch)))];
  batches.sort((a, b) => a - b);
  const columns = [
    ...ours.filter((line) => line.arm === props.lesson.arms[0]?.name || line.arm === waits),
    ...mails,
  ];
  return (
    <table className="table small" data-testid="sweep-table">
      <thead>
        <tr>
          <th scope="col">{t('batch')}</th>
          {columns.map((line) => (
            <th key={`${line.mail} ${line.arm}`} scope="col" className="right">
              {line.mail ? t('mail, {name}', { name: line.name }) : line.name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {batches.map((batch) => (
          <tr key={batch}>
            <th scope="row">{formatCount(batch)}</th>
            {columns.map((line) => {
              const point = line.points.find((p) => p.batch === batch);
              return (
                <td key={`${line.mail} ${line.arm}`} className="right">
                  {point === undefined ? '–' : formatCount(point.perSecond)}
                </td>
              );
            })}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
