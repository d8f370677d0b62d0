// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Shows a dot for each operation that ended before or at the moment. The dot's position is the operation's duration in
 * guest time. The view has a row per lane, and never gives a verdict.
 */

import { range } from 'd3-array';
import { scaleLog } from 'd3-scale';
import { type CSSProperties, useCallback, useMemo, useRef } from 'react';
import { hashUnit } from '../../base/columns.ts';
import { t as tr } from '../../base/lang/t.ts';
import type { Theme } from '../../base/theme.ts';
import { formatCount, formatNs } from '../../base/units.ts';
import { laneTime } from '../../derive/align.ts';
import { figure } from '../../derive/figures.ts';
import { type Latencies, latenciesOf } from '../../derive/latency.ts';
import type { Frame, RunIndex, Size } from '../../derive/types.ts';
import type { AxisTick } from '../axis.ts';
import type { CanvasProps } from '../contract.ts';
import { mix, type Pen } from '../paints.ts';
import { type Draw, useCanvas, useSize } from '../use-canvas.ts';

// Layout of the dots, with one row per lane and one logarithmic axis for all lanes. Pure.

export interface Dot {
  readonly x: number;
  readonly y: number;
  readonly id: number;
}

interface DotRow {
  readonly arm: string;
  readonly title: string;
  readonly n: string;
  readonly mean: string;
  readonly median: string;
  readonly top: number;
  readonly bandTop: number;
  readonly bandHeight: number;
  readonly dots: readonly Dot[];
  readonly meanX: number | null;
  readonly medianX: number | null;
}

interface DotsLayout {
  readonly left: number;
  readonly right: number;
  readonly rows: readonly DotRow[];
  readonly axisY: number;
  readonly ticks: readonly AxisTick[];
}

const axisHeight = 40;
const labelHeight = 22;
export const rowHeight = 58;
/**
 * Maximum height of a band of dots, px; only slides reach it. In a higher band, the vertical position of a dot would
 * seem to have a meaning.
 */
const highestBand = 110;

function preferredHeight(lanes: number): number {
  return lanes * rowHeight + axisHeight;
}

/** Both figures are needed: a few long waits change the mean, and thus the rate, but not the median. */
const typicalOf = (what: 'mean' | 'median', lane: Latencies) =>
  `${what} ${figure('far', lane.arm, what, lane[what], formatNs(lane[what]))}`;

/** The smallest range of whole decades that contains every lane's durations. It is at least 0.1 ms to 10 ms. */
function domainOf(all: readonly Latencies[]): [number, number] {
  let low = 1e5;
  let high = 1e7;
  for (const lane of all) {
    for (const s of lane.samples) {
      if (s.ns > 0) low = Math.min(low, s.ns);
      high = Math.max(high, s.ns);
    }
  }
  return scaleLog([low, high], [0, 1]).nice().domain() as [number, number];
}

export function layoutDots(
  index: RunIndex,
  frame: Frame,
  size: Size,
  titleOf: (arm: string) => string,
): DotsLayout {
  const all = index.lanes.map((lane) =>
    latenciesOf(lane, laneTime(frame.offset, lane.arm, frame.moment)),
  );
  const left = 8;
  const right = size.width - 8;
  // The axis covers the complete run, so that dots keep their place while more dots appear.
  const domain = domainOf(index.lanes.map((lane) => latenciesOf(lane, Number.POSITIVE_INFINITY)));
  const x = scaleLog().domain(domain).range([left, right]);
  const pitch = Math.max(40, (size.height - axisHeight) / Math.max(1, all.length));
  const rows = all.map((lane, i): DotRow => {
    const top = i * pitch;
    const bandTop = top + labelHeight;
    const bandHeight = Math.max(12, Math.min(highestBand, pitch - labelHeight - 8));
    const dots = lane.samples.map((s) => ({
      x: x(Math.max(domain[0], s.ns)),
      y: bandTop + 3 + hashUnit(s.id) * (bandHeight - 6),
      id: s.id,
    }));
    return {
      arm: lane.arm,
      title: titleOf(lane.arm),
      n: `n = ${figure('far', lane.arm, 'ops', lane.n)}`,
      mean: lane.n > 0 ? typicalOf('mean', lane) : '',
      median: lane.n > 0 ? typicalOf('median', lane) : '',
      top,
      bandTop,
      bandHeight,
      dots,
      meanX: lane.n > 0 ? x(Math.max(domain[0], lane.mean)) : null,
      medianX: lane.n > 0 ? x(Math.max(domain[0], lane.median)) : null,
    };
  });
  const decadePx = x(domain[0] * 10) - x(domain[0]);
  const decades = range(Math.round(Math.log10(domain[0])), Math.round(Math.log10(domain[1])) + 1);
  // A label needs 64 px. In narrower decades, every second line has no label.
  const ticks = decades.map((power, i) => ({
    x: x(10 ** power),
    label: decadePx >= 64 || i % 2 === 0 ? formatNs(10 ** power) : '',
  }));
  return { left, right, rows, axisY: all.length * pitch + 2, ticks };
}

// Draw one dot per operation. A triangle marks the mean, and a tick mark the median.

export function drawDots(
  pen: Pen,
  layout: DotsLayout,
  theme: Theme,
  width: number,
  height: number,
): void {
  pen.globalAlpha = 1;
  pen.clearRect(0, 0, width, height);
  pen.textBaseline = 'middle';
  for (const tick of layout.ticks) {
    pen.fillStyle = theme.rule;
    for (const row of layout.rows) pen.fillRect(Math.round(tick.x), row.bandTop, 1, row.bandHeight);
  }
  for (const row of layout.rows) drawRow(pen, layout, row, theme);
  drawAxis(pen, layout, theme);
}

/** Width of the triangle that marks the mean, px. */
const meanPx = 9;

function drawRow(pen: Pen, layout: DotsLayout, row: DotRow, theme: Theme): void {
  const y = row.top + 11;
  pen.fillStyle = theme.ink;
  pen.font = `550 13px ${theme.font}`;
  pen.textAlign = 'left';
  pen.fillText(row.title, layout.left, y);
  const title = pen.measureText(`${row.title}  `).width;
  pen.fillStyle = theme.soft;
  pen.font = `400 13px ${theme.font}`;
  pen.textAlign = 'right';
  const room = layout.right - layout.left - title;
  pen.fillText(figuresOf(pen, row, room), layout.right, y);
  pen.fillStyle = theme.rule;
  pen.fillRect(layout.left, row.bandTop + row.bandHeight, layout.right - layout.left, 1);
  pen.fillStyle = theme.work;
  pen.globalAlpha = row.dots.length > 150 ? 0.35 : 0.6;
  for (const dot of row.dots) {
    pen.beginPath();
    pen.arc(dot.x, dot.y, 1.9, 0, 2 * Math.PI);
    pen.fill();
  }
  pen.globalAlpha = 1;
  if (row.medianX === null || row.meanX === null) return;
  pen.fillStyle = mix(theme.ink, theme.paper, 0.95);
  pen.fillRect(row.medianX - 1, row.bandTop - 2, 2, row.bandHeight + 5);
  pen.beginPath();
  pen.moveTo(row.meanX, row.bandTop + row.bandHeight - meanPx);
  pen.lineTo(row.meanX - meanPx * 0.7, row.bandTop + row.bandHeight + 2);
  pen.lineTo(row.meanX + meanPx * 0.7, row.bandTop + row.bandHeight + 2);
  pen.fill();
}

/** Return as many of the row's figures as fit. The count can be omitted, because the lane's header shows it too. */
function figuresOf(pen: Pen, { mean, median, n }: DotRow, room: number): string {
  if (mean === '') return n;
  const wordings = [`▴ ${mean}  | ${median}  ${n}`, `▴ ${mean}  | ${median}`, `▴ ${mean}`];
  return wordings.find((words) => pen.measureText(words).width <= room) ?? mean;
}

function drawAxis(pen: Pen, layout: DotsLayout, theme: Theme): void {
  pen.font = `400 13px ${theme.font}`;
  pen.fillStyle = theme.soft;
  for (const [i, tick] of layout.ticks.entries()) {
    pen.textAlign = i === 0 ? 'left' : i === layout.ticks.length - 1 ? 'right' : 'center';
    pen.fillText(tick.label, tick.x, layout.axisY + 10);
  }
}

const fill: CSSProperties = { position: 'absolute', inset: 0, width: '100%', height: '100%' };

export function LatencyDots({
  runIndex,
  lesson,
  frame,
  theme,
}: Pick<CanvasProps, 'runIndex' | 'lesson' | 'frame' | 'theme'>) {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const size = useSize(box);
  const titleOf = useMemo(() => {
    const titles = new Map(lesson.arms.map((arm) => [arm.name, arm.title]));
    return (arm: string) => titles.get(arm) ?? arm;
  }, [lesson]);
  // Dots are updated as rarely as text, because new dots appear slowly.
  // Text and dots therefore always show the same moment.
  const shown = frame.text ?? frame;
  const draw = useCallback<Draw>(
    (ctx, s) => {
      const now = shown.get();
      drawDots(ctx, layoutDots(runIndex, now, s, titleOf), theme, s.width, s.height);
    },
    [runIndex, shown, theme, titleOf],
  );
  useCanvas(canvas, size, draw, shown.subscribe);
  const words = runIndex.lanes
    .map((lane) => {
      const { n, mean, median, p95 } = latenciesOf(lane, lane.watermark, 1);
      const what = `${formatCount(n)} ${lesson.operation.plural}`;
      return `${titleOf(lane.arm)}: ${what}${n > 0 ? tr(', mean {mean}, median {median}, 95 % within {p95}', { mean: formatNs(mean), median: formatNs(median), p95: formatNs(p95) }) : ''}`;
    })
    .join('. ');
  return (
    <div
      ref={box}
      style={{ position: 'relative', height: preferredHeight(runIndex.lanes.length) }}
      role="img"
      aria-label={tr('Length of each {name}, guest time, logarithmic. {words}.', {
        name: lesson.operation.name,
        words,
      })}
    >
      <canvas ref={canvas} style={fill} />
    </div>
  );
}
