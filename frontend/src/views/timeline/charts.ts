// SPDX-License-Identifier: GPL-2.0-or-later
/** Counters -> canvas: an area up to the value, with a line on it. */

import type { Theme } from '../../base/theme.ts';
import { colourOf, mix, type Pen } from '../paints.ts';
import type { Chart } from './counters.ts';

/** One chart, from `left` on, a column a pixel. Neighbours of one height become one rectangle. */
export function paintChart(pen: Pen, chart: Chart, theme: Theme, left: number): void {
  const { line, low, high, top } = chart;
  const colour = colourOf(theme, chart.series.colour);
  const bottom = line.top + line.height;
  const height = (value: number) => (Math.max(0, value) / top) * (line.height - 1);
  const area = mix(colour, theme.paper, 0.2);
  const spread = mix(colour, theme.paper, 0.4);
  eachRun(low, high, (x0, x1, least, most) => {
    const base = height(least);
    const peak = height(most);
    pen.fillStyle = area;
    if (base > 0) pen.fillRect(left + x0, bottom - base, x1 - x0, base);
    // What rose or fell within the pixel.
    pen.fillStyle = spread;
    if (peak > base) pen.fillRect(left + x0, bottom - peak, x1 - x0, peak - base);
    pen.fillStyle = colour;
    if (peak > 0) pen.fillRect(left + x0, bottom - peak - 0.5, x1 - x0, 1.5);
  });
}

function eachRun(
  low: Float64Array,
  high: Float64Array,
  draw: (x0: number, x1: number, least: number, most: number) => void,
): void {
  let from = 0;
  for (let x = 1; x <= low.length; x++) {
    if (x < low.length && low[x] === low[from] && high[x] === high[from]) continue;
    if (!Number.isNaN(low[from]!)) draw(from, x, low[from]!, high[from]!);
    from = x;
  }
}
