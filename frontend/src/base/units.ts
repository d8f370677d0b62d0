// SPDX-License-Identifier: GPL-2.0-or-later
/** Types for units, and formats of numbers for people. */

import { formatLocale } from 'd3-format';
import { locale, t } from './lang/t.ts';
import { english } from './lang/tags.ts';

declare const brand: unique symbol;

/** Nanoseconds since the start of the lane's workload. Values up to 104 days are exact. */
export type Nanos = number & { readonly [brand]: 'ns' };

/** Mark a number as nanoseconds, for a moment or a duration on a lane's axis. */
export function ns(value: number): Nanos {
  return value as Nanos;
}

export const microsecond = 1e3;
export const millisecond = 1e6;
export const second = 1e9;

interface Separators {
  readonly decimal: string;
  readonly thousands: string;
}

function separatorsOf(tag: string): Separators {
  const parts = new Intl.NumberFormat(tag).formatToParts(12345.6);
  const sign = (type: string) => parts.find((part) => part.type === type)?.value ?? '';
  return { decimal: sign('decimal'), thousands: sign('group') };
}

/** d3's number formats, with the separators of the visitor's language and an ASCII minus sign. */
function formatsOf(tag: string, { decimal, thousands }: Separators) {
  const { format } = formatLocale({
    decimal,
    thousands,
    grouping: [3],
    currency: ['', ''],
    minus: '-',
  });
  const withPlaces = [0, 1, 2, 3].map((places) => format(`,.${places}f`));
  return { tag, decimal, format, whole: format(',d'), withPlaces };
}

// The browser takes 12 ms to load its first NumberFormat, so the page starts without one.
let known = formatsOf(english, { decimal: '.', thousands: ',' });

function formats() {
  if (known.tag !== locale()) known = formatsOf(locale(), separatorsOf(locale()));
  return known;
}

/** Format a number with a fixed number of decimal places, 0 to 3: "1,234.500". */
export function formatPlaces(value: number, places: number): string {
  const { withPlaces, format } = formats();
  return (withPlaces[places] ?? format(`,.${places}f`))(value);
}

/** Format a number with three significant digits, without trailing zeros: 0.004, 0.25, 5.2, 14, 1,204. */
export function formatFigure(value: number): string {
  const size = Math.abs(value);
  if (size >= 100) return formats().whole(value);
  if (size >= 10) return trim(value.toFixed(1));
  if (size >= 1) return trim(value.toFixed(size < 2 ? 2 : 1));
  if (size === 0) return '0';
  return trim(value.toPrecision(2));
}

function trim(text: string): string {
  const short = text.includes('.') && !text.includes('e') ? text.replace(/\.?0+$/, '') : text;
  return short.replace('.', formats().decimal);
}

/** Format a duration in guest time: "5.2 ms", "14 µs", "0". */
export function formatNs(value: number): string {
  const size = Math.abs(value);
  if (size === 0) return '0';
  if (size < 999.5) return `${formatFigure(value)} ns`;
  if (size < 999.5e3) return `${formatFigure(value / microsecond)} µs`;
  if (size < 999.5e6) return `${formatFigure(value / millisecond)} ms`;
  return `${formatFigure(value / second)} s`;
}

/**
 * Format a moment on the axis in ms. `span` is the length of the window. The shorter the window, the more decimal
 * places are shown.
 */
export function formatMoment(value: number, span: number): string {
  const places =
    span > 200 * millisecond ? 0 : span > 20 * millisecond ? 1 : span > 2 * millisecond ? 2 : 3;
  return `${formatPlaces(value / millisecond, places)} ms`;
}

/** Format a moment for the readout, with exactly three decimal places: "1,234.567 ms". */
export function momentMs(value: number): string {
  return `${formatPlaces(value / millisecond, 3)} ms`;
}

/** Format an integer: "12,916". */
export function formatCount(value: number): string {
  return formats().whole(value);
}

/** Describe a playback speed: "1 s here = 4 ms in the guest". */
export function speedWords(speed: number): string {
  if (Math.abs(speed - 1) < 0.01) return t('1 s here = 1 s in the guest');
  return t('1 s here = {time} in the guest', { time: formatNs(speed * second) });
}

/** The unit of an axis that counts points instead of guest time, such as "entry" with the plural "entries". */
export interface Unit {
  readonly unit: string;
  readonly plural: string;
}

/** Describe a playback speed on an axis whose steps are `stepNs` long: "1 s here = 40 entries". */
export function stepSpeedWords(speed: number, stepNs: number, of: Unit): string {
  const n = (speed * second) / stepNs;
  return t('1 s here = {n} {unit}', { n: formatFigure(n), unit: n === 1 ? of.unit : of.plural });
}

/**
 * Format a number with its noun: "1 hog", "9 hogs". The default plural follows the page's language, because it is the
 * translation of '{one}s'.
 */
export function plural(n: number, one: string, many = t('{one}s', { one })): string {
  return `${formatCount(n)} ${n === 1 ? one : many}`;
}
