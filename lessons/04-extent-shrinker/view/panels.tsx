// SPDX-License-Identifier: GPL-2.0-or-later
/** Panels next to the stage: a chart of freed against visited entries, and what an entry costs. */

import { t } from '@page/base/lang/t.ts';
import type { Theme } from '@page/base/theme.ts';
import { formatCount, formatFigure, formatPlaces } from '@page/base/units.ts';
import { figure } from '@page/derive/figures.ts';
import type { Frame, LaneIndex, RunIndex, Size } from '@page/derive/types.ts';
import { armTitle } from '@page/derive/words.ts';
import type { Lesson } from '@page/protocol/lesson.ts';
import { ArmTable } from '@page/views/arm-table.tsx';
import { wholeTicks } from '@page/views/axis.ts';
import type { Panel, PanelProps } from '@page/views/contract.ts';
import type { Pen } from '@page/views/paints.ts';
import { type Draw, useCalm, useCanvas, useSize } from '@page/views/use-canvas.ts';
import { scaleLinear } from 'd3-scale';
import { type CSSProperties, useCallback, useRef } from 'react';
import { eachFreed, soFar } from './figures.ts';
import { factsOf, freed, type LaneNow, laneNow, listSteps, nowOf, refillsOf } from './replay.ts';

// Freed entries against visited entries, up to the moment, with one line for each lane and a key above.

interface Given {
  readonly index: RunIndex;
  readonly frame: Frame;
  readonly lesson: Lesson;
  readonly theme: Theme;
  readonly size: Size;
}

const fontSize = 13;
/** Half the width of a plus, px. */
const plus = 4;

/** Line styles of lanes. All but the first are wide and dashed, so that a line under them shows between the dashes. */
const strokes: readonly { readonly width: number; readonly dash: readonly number[] }[] = [
  { width: 1.5, dash: [] },
  { width: 3, dash: [7, 5] },
  { width: 3, dash: [2, 4] },
  { width: 3, dash: [12, 4, 2, 4] },
];
const sample = 24;
const keyRow = Math.round(fontSize * 1.4);

/** Return the line style of each lane. It depends on the arm's place in the lesson, so it is the same in every step. */
export function strokesOf(lanes: readonly LaneIndex[], { arms }: Pick<Lesson, 'arms'>): number[] {
  const own = lanes.map((lane) => arms.findIndex(({ name }) => name === lane.arm) % strokes.length);
  const clear = !own.includes(-1) && new Set(own).size === own.length;
  return clear ? own : lanes.map((_, i) => i % strokes.length);
}

/** The place of a line sample in the key above the chart. */
export interface KeyPlace {
  readonly x: number;
  readonly row: number;
}

/** Lay out the key in as many rows as needed: for each lane, a sample of its line and its name. */
export function keyPlaces(widths: readonly number[], left: number, right: number): KeyPlace[] {
  let [x, row] = [left, 0];
  return widths.map((width) => {
    const wide = sample + 6 + width;
    if (x > left && x + wide > right) [x, row] = [left, row + 1];
    const place = { x, row };
    x += wide + 14;
    return place;
  });
}

export function drawChart(pen: Pen, given: Given): void {
  const { index, frame, lesson, theme, size } = given;
  pen.clearRect(0, 0, size.width, size.height);
  const lines = index.lanes.map((lane) => ({
    lane,
    facts: factsOf(lane),
    now: nowOf(lane, frame),
  }));
  const ways = strokesOf(index.lanes, lesson);
  const mostX = Math.max(1, (frame.start + frame.span) / 1000);
  const inView = lines.map(
    ({ facts }) => facts.upTo[freed][Math.min(facts.visits, Math.floor(mostX))]!,
  );
  const mostY = Math.max(1, ...inView);
  const left = 44;
  const right = size.width - 14;
  pen.save();
  pen.font = `${fontSize}px ${theme.font}`;
  const names = lines.map(({ lane }) => armTitle(lesson, lane));
  const places = keyPlaces(
    names.map((name) => pen.measureText(name).width),
    4,
    size.width - 4,
  );
  const top = 12 + ((places.at(-1)?.row ?? 0) + 1) * keyRow;
  const bottom = size.height - 40;
  const x = scaleLinear([0, mostX], [left, right]);
  const y = scaleLinear([0, mostY], [bottom, top]);

  pen.fillStyle = theme.soft;
  pen.strokeStyle = theme.rule;
  pen.lineWidth = 1;
  pen.textBaseline = 'middle';
  pen.textAlign = 'right';
  pen.beginPath();
  for (const n of wholeTicks(y, fontSize * 2, 3)) {
    pen.moveTo(left, Math.round(y(n)) + 0.5);
    pen.lineTo(right, Math.round(y(n)) + 0.5);
    pen.fillText(formatCount(n), left - 6, y(n));
  }
  pen.stroke();
  pen.textAlign = 'center';
  for (const n of wholeTicks(x, fontSize * 5, 3)) pen.fillText(formatCount(n), x(n), bottom + 12);
  pen.fillText(t('entries visited'), (left + right) / 2, bottom + 29);
  for (const [i, { lane, facts, now }] of lines.entries()) {
    const high = (visits: number) => y(facts.upTo[freed][visits]!);
    pen.strokeStyle = theme.gain;
    dashed(pen, ways[i]!);
    pen.beginPath();
    pen.moveTo(x(0), y(0));
    const stride = Math.max(1, Math.floor(now.visits / 600));
    for (let n = 0; n < now.visits; n += stride) pen.lineTo(x(n), high(n));
    pen.lineTo(x(now.visits), high(now.visits));
    pen.stroke();
    pen.setLineDash([]);
    // Draw a plus on the line where lookups put entries back.
    for (const visits of refillsOf(lane, now.visits)) {
      const [atX, atY] = [x(visits), high(visits)];
      pen.fillStyle = theme.ink;
      pen.fillRect(atX - plus, atY - 0.75, 2 * plus, 1.5);
      pen.fillRect(atX - 0.75, atY - plus, 1.5, 2 * plus);
    }
    pen.fillStyle = theme.gain;
    pen.beginPath();
    pen.arc(x(now.visits), high(now.visits), 3, 0, 7);
    pen.fill();
  }
  drawKey(pen, theme, names, places, ways);
  pen.restore();
}

function dashed(pen: Pen, way: number): void {
  const { width, dash } = strokes[way]!;
  pen.lineWidth = width;
  pen.setLineDash([...dash]);
}

function drawKey(
  pen: Pen,
  theme: Theme,
  names: readonly string[],
  places: readonly KeyPlace[],
  ways: readonly number[],
): void {
  pen.textAlign = 'left';
  for (const [i, { x, row }] of places.entries()) {
    const middle = row * keyRow + keyRow / 2;
    pen.strokeStyle = theme.gain;
    dashed(pen, ways[i]!);
    pen.beginPath();
    pen.moveTo(x, middle);
    pen.lineTo(x + sample, middle);
    pen.stroke();
    pen.setLineDash([]);
    pen.fillStyle = theme.ink;
    pen.fillText(names[i]!, x + sample + 6, middle);
  }
}

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
          'Entries freed against entries visited, with a line for each kernel. The counts below give the same figures.',
        )}
      />
    </div>
  );
}

/** Read a number from the line that the guest prints about its slab: "extents: entry_bytes=40 slab_entries=512". */
export function said(lines: readonly { readonly text: string }[], name: string): number | null {
  for (const { text } of lines) {
    const found = text.startsWith('extents: ') && new RegExp(`\\b${name}=(\\d+)`).exec(text);
    if (found) return Number(found[1]);
  }
  return null;
}

/** A row of the price table. It says how its number was obtained. */
interface PriceRow {
  readonly head: string;
  readonly evidence: 'counted' | 'measured';
  readonly of: (arm: string) => string;
}

/** Name of the metric for the time of a scan, in the lesson's tables and in the mail's figures. */
const scanTime = 'scan_mean_us';

/** Return scan times from the table of untraced runs, and the mail's times for the arms that the mail compares. */
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
      head: t('bytes per entry'),
      evidence: 'counted',
      of: (arm) => given(arm, 'bytes per entry', said(linesOf(arm), 'entry_bytes')),
    },
    {
      head: t('list changes so far'),
      evidence: 'counted',
      of: at(({ lane, points }) => {
        const steps = listSteps(lane, points);
        return steps === null ? t('no list') : figure('far', lane.arm, 'list steps', steps);
      }),
    },
    {
      head: t('entries looked at per freed entry, so far'),
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
      // On the count clock, a time is a count of instructions.
      evidence: times.table.clock === 'count' ? 'counted' : 'measured',
      of: (arm) => given(arm, 'measured', times.here(arm), ' µs'),
    },
    ...(times.mail === null
      ? []
      : [{ head: t('time of a scan in the mail'), evidence: 'measured' as const, of: byMail }]),
  ];
}

/** Write a time with one decimal place, as the mail's text does. */
const mailText = (us: number) => `${formatPlaces(us, 1)} µs`;

/** Compare the ratio of times in the mail with the ratio here; empty if the table lacks one of the kernels. */
export function leftWords(props: Pick<PanelProps, 'lesson' | 'data' | 'runIndex'>): string {
  const { here, mail } = timesOf(props);
  const shown = (arm?: string | null) => props.runIndex.lanes.some((lane) => lane.arm === arm);
  const [after, before] = [here(mail?.arm), here(mail?.to)];
  if (!mail?.base || !after || !before || !shown(mail.arm) || !shown(mail.to)) return '';
  const title = (name?: string | null) =>
    props.lesson.arms.find((arm) => arm.name === name)?.title ?? '';
  const percent = (share: number) => `${Math.round(100 * share)} %`;
  return t(
    'In the mail, a scan on {arm} takes {there} of the time of a scan on {to}. Here, a scan on {arm} takes {here}. The slower scan spends its time on delayed entries, and the mail does not say how many delayed entries its files had.',
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
          "Bytes come from the guest's slab. Times come from the untraced runs in the table of the last step, with that table's knobs. This run was traced and gives no times. {left}",
          { left: leftWords(props) },
        )}
      </p>
    </>
  );
}

export const panels: Readonly<Record<string, Panel>> = {
  cumulative: { title: t('Entries freed against looks'), evidence: 'counted', Body: Cumulative },
  price: { title: t('The price and the gain'), evidence: 'counted', Body: Price },
};
