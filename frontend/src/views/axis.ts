// SPDX-License-Identifier: GPL-2.0-or-later
/** Ticks of axes. d3 chooses round values, and an axis has as many ticks as there is room for labels. */

import { precisionFixed } from 'd3-format';
import { type ScaleLinear, scaleLinear } from 'd3-scale';
import type { Theme } from '../base/theme.ts';
import { formatCount, formatPlaces, millisecond, second } from '../base/units.ts';
import type { Pen } from './paints.ts';

export interface AxisTick {
  /** px */
  readonly x: number;
  readonly label: string;
}

/** A tick of a time axis, at time `t` in ns. */
export interface TimeTick extends AxisTick {
  readonly t: number;
}

type Scale = ScaleLinear<number, number>;

/**
 * Return as many of d3's ticks as fit if neighbouring ticks must be at least `leastPx` apart. The result can have one
 * tick more than `most`.
 */
export function ticksApart(scale: Scale, leastPx: number, most = 100): readonly number[] {
  const [from, to] = scale.range() as [number, number];
  const px = Math.abs(to - from);
  for (let count = Math.min(most, Math.floor(px / leastPx)); count > 1; count--) {
    const ticks = scale.ticks(count);
    const [first, next] = ticks;
    const apart = next === undefined || Math.abs(scale(next) - scale(first!)) >= leastPx;
    if (apart && ticks.length <= most + 1) return ticks;
  }
  return scale.ticks(1);
}

/** Return only ticks at integers. */
export function wholeTicks(scale: Scale, leastPx: number, most = 100): readonly number[] {
  return ticksApart(scale, leastPx, most).filter(Number.isInteger);
}

/** The number of decimal places that the labels of neighbouring ticks need to differ. */
export function placesOf(ticks: readonly number[]): number {
  const [first = 0, next = first + 1] = ticks;
  return Math.min(6, precisionFixed(next - first));
}

/** A window of time, ns, and its horizontal limits on the canvas, px. */
export interface Span {
  readonly start: number;
  readonly span: number;
  readonly left: number;
  readonly right: number;
}

/**
 * Return ticks in ms, with labels that omit the unit. `grid` is the distance, ns, between the lines behind the picture.
 * If these lines are far enough apart, the ticks are placed on them.
 */
export function msTicks(window: Span, leastPx: number, grid: number | null = null): TimeTick[] {
  const { start, span, left, right } = window;
  const over = (unit: number) =>
    scaleLinear([start / unit, (start + span) / unit], [left, right] as const);
  const gridPx = grid === null ? 0 : ((right - left) * grid) / span;
  if (grid !== null && gridPx >= 12 && gridPx < 2 * leastPx) {
    const scale = over(grid);
    const values = ticksApart(scale, leastPx).filter(Number.isInteger);
    return values.map((n) => {
      const t = n * grid;
      return { x: scale(n), label: formatPlaces(t / millisecond, 0), t };
    });
  }
  const scale = over(millisecond);
  const values = ticksApart(scale, leastPx);
  const places = placesOf(values);
  return values.map((ms) => {
    return { x: scale(ms), label: formatPlaces(ms, places), t: ms * millisecond };
  });
}

/** Ticks for a complete run from 0 to `end`, ns: "500 ms", "1.5 s". */
export function runTicks(end: number, left: number, right: number, leastPx: number): AxisTick[] {
  const [unit, name] = end >= 2 * second ? [second, 's'] : [millisecond, 'ms'];
  const scale = scaleLinear([0, end / unit], [left, right]);
  const values = ticksApart(scale, leastPx, 6);
  const places = placesOf(values);
  return values.map((t) => ({ x: scale(t), label: `${formatPlaces(t, places)} ${name}` }));
}

/** Ticks for a count from 0 to `most`: "0", "200", "400". */
export function countTicks(most: number, left: number, right: number, leastPx: number): AxisTick[] {
  const scale = scaleLinear([0, most], [left, right]);
  return wholeTicks(scale, leastPx, 6).map((n) => ({ x: scale(n), label: formatCount(n) }));
}

// A flag for aligned lanes: a dotted line through all lanes, labelled with the aligned operation.

export interface Flag {
  readonly x: number;
  readonly words: string;
  /** Horizontal limits of the label. */
  readonly left: number;
  readonly right: number;
  /** The label is drawn at `top`, and the line ends at `bottom`. */
  readonly top: number;
  readonly bottom: number;
}

/** Draw the flag if its moment is inside the window. */
export function drawFlag(pen: Pen, theme: Theme, flag: Flag, fontSize: number): void {
  const { left, right, top, bottom, words } = flag;
  const x = Math.round(flag.x);
  if (x < left || x > right) return;
  pen.globalAlpha = 1;
  pen.fillStyle = theme.soft;
  for (let y = top + fontSize * 1.5; y < bottom; y += 6) pen.fillRect(x - 0.5, y, 1, 2);
  pen.font = `500 ${fontSize}px ${theme.font}`;
  pen.textBaseline = 'middle';
  const wide = pen.measureText(words).width / 2 + 4;
  pen.textAlign = x - wide < left ? 'left' : x + wide > right ? 'right' : 'center';
  pen.fillText(words, x, top + fontSize * 0.8);
}
