// SPDX-License-Identifier: GPL-2.0-or-later
/** Speed: guest seconds per second here, from 10^-6 to 10, on a logarithmic slider. */

import { second, speedWords } from '../base/units.ts';

export const slowest = 1e-6;
export const fastest = 10;

const decades = Math.log10(fastest / slowest);

export function clampSpeed(speed: number): number {
  return Math.min(fastest, Math.max(slowest, speed));
}

/** Speed -> place on a slider from 0 to 1. */
export function sliderOf(speed: number): number {
  return Math.log10(clampSpeed(speed) / slowest) / decades;
}

/** Place on a slider -> speed, at two figures, so that its words are round. */
export function speedOf(slider: number): number {
  const raw = slowest * 10 ** (Math.min(1, Math.max(0, slider)) * decades);
  return clampSpeed(Number(raw.toPrecision(2)));
}

/** The speed at which a window of `spanNs` lasts `seconds` here. */
export function speedFor(spanNs: number, seconds: number): number {
  return clampSpeed(spanNs / (seconds * second));
}

export { speedWords };
