// SPDX-License-Identifier: GPL-2.0-or-later
/** Dots of latency: one row per lane, one logarithmic axis for all. Pure. */

import { range } from 'd3-array';
import { scaleLog } from 'd3-scale';
import { hashUnit } from '../../base/columns.ts';
import { formatNs } from '../../base/units.ts';
import { laneTime } from '../../derive/align.ts';
import { figure } from '../../derive/figures.ts';
import { type Latencies, latenciesOf } from '../../derive/latency.ts';
import type { Frame, RunIndex, Size } from '../../derive/types.ts';
import type { AxisTick } from '../axis.ts';

export interface Dot {
  readonly x: number;
  readonly y: number;
  readonly id: number;
}

export interface DotRow {
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

export interface DotsLayout {
  readonly left: number;
  readonly right: number;
  readonly rows: readonly DotRow[];
  readonly axisY: number;
  readonly ticks: readonly AxisTick[];
}

const axisHeight = 40;
const labelHeight = 22;
export const rowHeight = 58;
/** Where a slide has room; dots that lie further apart are read as a second axis. */
const highestBand = 110;

export function preferredHeight(lanes: number): number {
  return lanes * rowHeight + axisHeight;
}

/** Few that wait long move the mean, and with it the rate, but not the median. */
const typicalOf = (what: 'mean' | 'median', lane: Latencies) =>
  `${what} ${figure('far', lane.arm, what, lane[what], formatNs(lane[what]))}`;

/** Decades that hold every lane's operations, at least 0.1 ms to 10 ms. */
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
  // The axis of the whole run, so that dots stand still while they gather.
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
  // Words need 64 px; a decade without them keeps its line.
  const ticks = decades.map((power, i) => ({
    x: x(10 ** power),
    label: decadePx >= 64 || i % 2 === 0 ? formatNs(10 ** power) : '',
  }));
  return { left, right, rows, axisY: all.length * pitch + 2, ticks };
}
