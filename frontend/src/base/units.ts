// SPDX-License-Identifier: GPL-2.0-or-later
/** Units as types, and how they are written for people. */

import { formatLocale } from 'd3-format';

declare const brand: unique symbol;

/** Nanoseconds since this lane's workload start. Exact up to 104 days. */
export type Nanos = number & { readonly [brand]: 'ns' };

/** A number of nanoseconds, as a moment or a length on a lane's axis. */
export function ns(value: number): Nanos {
  return value as Nanos;
}

export const microsecond = 1e3;
export const millisecond = 1e6;
export const second = 1e9;

/** d3's numbers with commas, and the minus sign that people type. */
const { format } = formatLocale({
  decimal: '.',
  thousands: ',',
  grouping: [3],
  currency: ['', ''],
  minus: '-',
});
const whole = format(',d');
const withPlaces = [0, 1, 2, 3].map((places) => format(`,.${places}f`));

/** So many decimal places, 0 to 3: "1,234.500". */
export function formatPlaces(value: number, places: number): string {
  return (withPlaces[places] ?? format(`,.${places}f`))(value);
}

/** Three figures, no trailing zeros: 0.004, 0.25, 5.2, 14, 1,204. */
export function formatFigure(value: number): string {
  const size = Math.abs(value);
  if (size >= 100) return whole(value);
  if (size >= 10) return trim(value.toFixed(1));
  if (size >= 1) return trim(value.toFixed(size < 2 ? 2 : 1));
  if (size === 0) return '0';
  return trim(value.toPrecision(2));
}

function trim(text: string): string {
  return text.includes('.') && !text.includes('e') ? text.replace(/\.?0+$/, '') : text;
}

/** A length of guest time: "5.2 ms", "14 µs", "0". */
export function formatNs(value: number): string {
  const size = Math.abs(value);
  if (size === 0) return '0';
  if (size < 999.5) return `${formatFigure(value)} ns`;
  if (size < 999.5e3) return `${formatFigure(value / microsecond)} µs`;
  if (size < 999.5e6) return `${formatFigure(value / millisecond)} ms`;
  return `${formatFigure(value / second)} s`;
}

/** A moment on the axis in ms, with as many places as a window of `span` can show. */
export function formatMoment(value: number, span: number): string {
  const places =
    span > 200 * millisecond ? 0 : span > 20 * millisecond ? 1 : span > 2 * millisecond ? 2 : 3;
  return `${formatPlaces(value / millisecond, places)} ms`;
}

/** The moment as the readout shows it, always with the same width: "1,234.567 ms". */
export function momentMs(value: number): string {
  return `${formatPlaces(value / millisecond, 3)} ms`;
}

/** A number of things: 12,916. */
export function formatCount(value: number): string {
  return whole(value);
}

/** What a speed means: "1 s here = 4 ms in the guest". */
export function speedWords(speed: number): string {
  if (Math.abs(speed - 1) < 0.01) return '1 s here = 1 s in the guest';
  return `1 s here = ${formatNs(speed * second)} in the guest`;
}

/** Axis that counts points instead of guest time: "entry", "entries". */
export interface Unit {
  readonly unit: string;
  readonly plural: string;
}

/** What a speed means on an axis of steps of `stepNs`: "1 s here = 40 entries". */
export function stepSpeedWords(speed: number, stepNs: number, of: Unit): string {
  const n = (speed * second) / stepNs;
  return `1 s here = ${formatFigure(n)} ${n === 1 ? of.unit : of.plural}`;
}

/** "1 hog", "9 hogs". */
export function plural(n: number, one: string, many = `${one}s`): string {
  return `${formatCount(n)} ${n === 1 ? one : many}`;
}
