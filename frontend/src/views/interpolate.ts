// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Replaces d3-interpolate below d3-scale (tools/plain-scales.ts). All scales of the page have numbers as their range. The
 * package also interpolates colours and texts, with five times as much code.
 */

type Interpolator = (t: number) => number;

export function interpolateNumber(a: number, b: number): Interpolator {
  return (t) => a * (1 - t) + b * t;
}

export function interpolateRound(a: number, b: number): Interpolator {
  return (t) => Math.round(a * (1 - t) + b * t);
}

export { interpolateNumber as interpolate, interpolateNumber as piecewise };
