// SPDX-License-Identifier: GPL-2.0-or-later
/** Speed: guest seconds per second here, from 10^-6 to 10, on a logarithmic slider. */

import { scaleLog } from 'd3-scale';
import { second, speedWords } from '../base/units.ts';

export const slowest = 1e-6;
export const fastest = 10;

const slider = scaleLog([slowest, fastest], [0, 1]).clamp(true);

export function clampSpeed(speed: number): number {
  return Math.min(fastest, Math.max(slowest, speed));
}

/** Speed -> place on a slider from 0 to 1. */
export function sliderOf(speed: number): number {
  return slider(speed);
}

/** Place on a slider -> speed, at two figures, so that its words are round. */
export function speedOf(place: number): number {
  return clampSpeed(Number(slider.invert(place).toPrecision(2)));
}

/** The speed at which a window of `spanNs` lasts `seconds` here. */
export function speedFor(spanNs: number, seconds: number): number {
  return clampSpeed(spanNs / (seconds * second));
}

export { speedWords };
