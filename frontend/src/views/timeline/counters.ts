// SPDX-License-Identifier: GPL-2.0-or-later
/** Series as columns of a pixel; one scale serves all lanes. */

import { scaleLinear } from 'd3-scale';
import { firstAbove, firstAtLeast } from '../../base/columns.ts';
import type { RunIndex } from '../../derive/types.ts';
import type { LaneBox, Layout } from './layout.ts';
import type { Line } from './lines.ts';
import type { Score } from './score.ts';
import { type Series, seriesOf, stepsOf } from './series.ts';

export interface Chart {
  readonly line: Line;
  readonly series: Series;
  /** The least and the most in each column of a pixel; NaN where nothing is known. */
  readonly low: Float64Array;
  readonly high: Float64Array;
  /** The top of the scale, the same on all lanes. */
  readonly top: number;
}

/** Charts of every lane, by arm. */
export function chartsOf(
  index: RunIndex,
  layout: Layout,
  score: Score,
): ReadonlyMap<string, readonly Chart[]> {
  const series = new Map(seriesOf(index.kinds, score).map((one) => [one.name, one]));
  const drawn = layout.lanes.flatMap((box) =>
    box.lines
      .filter((line) => line.what === 'counter')
      .map((line) => ({ box, line, series: series.get(line.points[0]!)! }))
      .map((one) => ({ ...one, ...columnsOf(layout, one.box, one.series) })),
  );
  const tops = new Map<Series, number>();
  for (const one of drawn) {
    const most = one.high.reduce((max, v) => (v > max ? v : max), 0);
    tops.set(one.series, Math.max(tops.get(one.series) ?? 0, most));
  }
  const charts = new Map<string, Chart[]>(layout.lanes.map((box) => [box.arm, []]));
  for (const { box, line, series: of, low, high } of drawn) {
    const [, top] = scaleLinear([0, Math.max(1, tops.get(of)!)], [0, 1])
      .nice(3)
      .domain();
    charts.get(box.arm)!.push({ line, series: of, low, high, top: top! });
  }
  return charts;
}

/** One pass over what happens in the window. */
function columnsOf(layout: Layout, box: LaneBox, series: Series) {
  const width = Math.max(1, Math.floor(layout.right - layout.left));
  const low = new Float64Array(width).fill(Number.NaN);
  const high = new Float64Array(width).fill(Number.NaN);
  const steps = stepsOf(box.lane, series);
  const end = Math.min(box.lane.watermark, box.t0 + width * layout.nsPerPx);
  const after = series.adds ? firstAbove : firstAtLeast;
  let p = after(steps.n, steps.t, box.t0);
  let value = series.adds ? 0 : p === 0 ? Number.NaN : steps.value(p - 1);
  const known = Math.min(width, Math.ceil((end - box.t0) / layout.nsPerPx));
  for (let x = Math.max(0, Math.floor(-box.t0 / layout.nsPerPx)); x < known; x++) {
    const until = Math.min(end, box.t0 + (x + 1) * layout.nsPerPx);
    let [least, most] = [value, value];
    for (; p < steps.n && steps.t(p) <= until; p++) {
      value = series.adds ? value + steps.value(p) : steps.value(p);
      least = Number.isNaN(least) ? value : Math.min(least, value);
      most = Number.isNaN(most) ? value : Math.max(most, value);
    }
    low[x] = least;
    high[x] = most;
  }
  return { low, high };
}
