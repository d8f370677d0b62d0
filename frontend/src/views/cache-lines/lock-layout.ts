// SPDX-License-Identifier: GPL-2.0-or-later
/** Where the second act stands: time runs to the right, lanes lie under each other on one axis. */

import { scaleLog } from 'd3-scale';
import type { Size } from '../../derive/types.ts';
import type { LaidLane } from '../contract.ts';
import type { Box } from './brush.ts';

export interface LockLane extends LaidLane {
  readonly headlineY: number;
  /** Shares by the way taken. */
  readonly share: Box;
  /** Operations a second, logarithmic. */
  readonly rate: Box;
}

export interface LockLayout {
  readonly lanes: readonly LockLane[];
  readonly fontSize: number;
}

/** Rates from 1 to so many a second are drawn, on a logarithmic scale. */
export const mostRate = 1e7;

export function layoutLock(
  arms: readonly string[],
  size: Size,
  headerHeight: number,
  fontSize: number,
): LockLayout {
  const n = Math.max(1, arms.length);
  const text = Math.round(fontSize * 1.4);
  const gutter = Math.round(fontSize * 5.2);
  const each = size.height / n;
  const width = Math.max(80, size.width - gutter - 10);
  const room = Math.max(100, each - headerHeight - text * 7 - 26);
  const lanes = arms.map((arm, i): LockLane => {
    const top = Math.round(i * each);
    const headlineY = top + headerHeight + 2;
    const share = {
      x: gutter,
      y: headlineY + text * 4 + 4,
      w: width,
      h: Math.round(Math.min(320, room * 0.6)),
    };
    const rate = {
      x: gutter,
      y: share.y + share.h + text * 1.5,
      w: width,
      h: Math.round(Math.min(200, room * 0.4)),
    };
    return { arm, left: 0, top, width: size.width, headlineY, share, rate };
  });
  return { lanes, fontSize };
}

const heightOf = scaleLog([1, mostRate], [0, 1]).clamp(true);

/** Height of a rate, 0 to 1. */
export function rateHeight(perSecond: number): number {
  return heightOf(Math.max(1, perSecond));
}
