// SPDX-License-Identifier: GPL-2.0-or-later
/** Beside the stage: freed against visited as a chart, and what an entry costs. */

import { type CSSProperties, useCallback, useRef } from 'react';
import { t } from '../../base/lang/t.ts';
import { formatFigure, formatPlaces } from '../../base/units.ts';
import { figure } from '../../derive/figures.ts';
import { ArmTable } from '../arm-table.tsx';
import type { Panel, PanelProps } from '../contract.ts';
import { type Draw, useCalm, useCanvas, useSize } from '../use-canvas.ts';
import { drawChart } from './chart.ts';
import { eachFreed, soFar } from './figures.ts';
import { type LaneNow, laneNow } from './now.ts';
import { listSteps } from './thread.ts';

const chartBox: CSSProperties = { position: 'relative', height: 210 };
const fill: CSSProperties = { position: 'absolute', inset: 0, width: '100%', height: '100%' };

function Cumulative({ runIndex, lesson, frame, theme }: PanelProps) {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const size = useSize(box);
  const draw = useCallback<Draw>(
    (ctx, s) => drawChart(ctx, { index: runIndex, lesson, theme, frame: frame.get(), size: s }),
    [runIndex, lesson, frame, theme],
  );
  useCanvas(canvas, size, draw, frame.subscribe);
  return (
    <div ref={box} style={chartBox}>
      <canvas
        ref={canvas}
        style={fill}
        role="img"
        aria-label={t(
          'Entries freed against entries visited, a line for each kernel. The counts below tell the same.',
        )}
      />
    </div>
  );
}

/** What the guest itself says of its slab: "extents: entry_bytes=40 slab_entries=512". */
export function said(lines: readonly { readonly text: string }[], name: string): number | null {
  for (const { text } of lines) {
    const found = text.startsWith('extents: ') && new RegExp(`\\b${name}=(\\d+)`).exec(text);
    if (found) return Number(found[1]);
  }
  return null;
}

/** A row of the price table; each says how its number was obtained. */
interface PriceRow {
  readonly head: string;
  readonly evidence: 'counted' | 'measured';
  readonly of: (arm: string) => string;
}

/** The metric of the lesson's tables, and of the mail's figure. */
const scanTime = 'scan_mean_us';

/** The table of untraced runs, and what the lesson's mail has of the same: that of an arm and of the one before it. */
function timesOf({ lesson, data }: Pick<PanelProps, 'lesson' | 'data'>) {
  const table = data.measured ?? data.tables[0] ?? null;
  const rows = table?.rows.filter((row) => row.unit === 'us') ?? [];
  const mail = lesson.published.find((one) => one.metric === scanTime && one.base !== null);
  return {
    table: rows.length > 0 ? table : null,
    here: (arm?: string | null) => rows.find((row) => row.arm === arm)?.ops_per_s_median ?? null,
    mail: mail ?? null,
    inMail: (arm: string) => (arm === mail?.arm ? mail.value : arm === mail?.to ? mail.base : null),
  };
}

export function priceRows(props: PanelProps): PriceRow[] {
  const { runIndex, frame, data } = props;
  const { linesOf } = data;
  const byArm = new Map(
    runIndex.lanes.map((lane) => [
      lane.arm,
      laneNow({ index: runIndex, frame: frame.get() }, lane),
    ]),
  );
  const at = (of: (one: LaneNow) => string) => (arm: string) => {
    const one = byArm.get(arm);
    return one === undefined ? '–' : of(one);
  };
  const given = (arm: string, what: string, n: number | null | undefined, unit = '') =>
    n == null ? '–' : figure('setup', arm, what, n, `${formatFigure(n)}${unit}`);
  const rows: PriceRow[] = [
    {
      head: t('bytes an entry'),
      evidence: 'counted',
      of: (arm) => given(arm, 'bytes an entry', said(linesOf(arm), 'entry_bytes')),
    },
    {
      head: t('list changed so far'),
      evidence: 'counted',
      of: at(({ lane, points }) => {
        const steps = listSteps(lane, points);
        return steps === null ? t('no list') : figure('far', lane.arm, 'list steps', steps);
      }),
    },
    {
      head: t('looks for each gain so far'),
      evidence: 'counted',
      of: at(eachFreed),
    },
    {
      head: t('freed so far'),
      evidence: 'counted',
      of: at((one) => soFar(one, 'freed')),
    },
  ];
  const times = timesOf(props);
  if (times.table === null) return rows;
  const byMail = (arm: string) => {
    const value = times.inMail(arm);
    return value === null ? '–' : figure('setup', arm, 'in the mail', value, mailText(value));
  };
  return [
    ...rows,
    {
      head: t('time of a scan'),
      // On the count clock a time is counted instructions.
      evidence: times.table.clock === 'count' ? 'counted' : 'measured',
      of: (arm) => given(arm, 'measured', times.here(arm), ' µs'),
    },
    ...(times.mail === null
      ? []
      : [{ head: t('time of a scan in the mail'), evidence: 'measured' as const, of: byMail }]),
  ];
}

/** As the mail's text rounds it. */
const mailText = (us: number) => `${formatPlaces(us, 1)} µs`;

/** What is left of the time there and here, where both kernels stand in the table; else nothing. */
export function leftWords(props: Pick<PanelProps, 'lesson' | 'data' | 'runIndex'>): string {
  const { here, mail } = timesOf(props);
  const shown = (arm?: string | null) => props.runIndex.lanes.some((lane) => lane.arm === arm);
  const [after, before] = [here(mail?.arm), here(mail?.to)];
  if (!mail?.base || !after || !before || !shown(mail.arm) || !shown(mail.to)) return '';
  const title = (name?: string | null) =>
    props.lesson.arms.find((arm) => arm.name === name)?.title ?? '';
  const percent = (share: number) => `${Math.round(100 * share)} %`;
  return t(
    'In the mail {arm} takes {there} of the time of {to}, here {here}. What the latter spends goes over delayed entries, and the mail does not say how many its files had.',
    {
      arm: title(mail.arm),
      there: percent(mail.value / mail.base),
      to: title(mail.to),
      here: percent(after / before),
    },
  );
}

function Price(props: PanelProps) {
  useCalm(props.frame.subscribe);
  const { lesson, runIndex } = props;
  const shown = lesson.arms.filter((arm) => runIndex.lanes.some((lane) => lane.arm === arm.name));
  const rows = priceRows(props);
  return (
    <>
      <ArmTable arms={shown} rows={rows} testId="price" />
      <p className="small quiet">
        {t(
          "Bytes: the guest's own slab. Time: untraced runs alone, of the table that ends the lesson, with its knobs; this run was traced and gives none. {left}",
          { left: leftWords(props) },
        )}
      </p>
    </>
  );
}

export const panels: Readonly<Record<string, Panel>> = {
  cumulative: { title: t('Freed, against looks'), evidence: 'counted', Body: Cumulative },
  price: { title: t('The price beside the gain'), evidence: 'counted', Body: Price },
};
