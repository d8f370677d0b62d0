// SPDX-License-Identifier: GPL-2.0-or-later
/** What every part of a lane's drawing is given. */

import type { Drawing } from '../contract.ts';
import type { Pen } from '../paints.ts';
import type { Brushes } from './brush.ts';
import type { LinesLane, LinesLayout } from './layout.ts';
import type { LaneNow } from './now.ts';

export interface Easel {
  readonly pen: Pen;
  readonly layout: LinesLayout;
  readonly laid: LinesLane;
  readonly drawing: Drawing;
  readonly shown: LaneNow;
  readonly brushes: Brushes;
  /** 1, or less for a kind that is not in focus. */
  readonly shade: (kind: string) => number;
}

export function write(
  { pen, layout, drawing }: Pick<Easel, 'pen' | 'layout' | 'drawing'>,
  text: string,
  x: number,
  y: number,
  more: { colour?: string; weight?: number; size?: number; align?: CanvasTextAlign } = {},
): number {
  const { theme } = drawing;
  pen.font = `${more.weight ?? 400} ${more.size ?? layout.fontSize}px ${theme.font}`;
  pen.fillStyle = more.colour ?? theme.soft;
  pen.textAlign = more.align ?? 'left';
  pen.fillText(text, x, y);
  return pen.measureText(text).width;
}

/** Times within a step at which a copy has set out, has come, and the access is done: parts of 1. */
export const beats = { leaves: 0.08, comes: 0.7, lit: 0.9 } as const;

/** How far something has come between two parts of a step, 0 to 1, slow at both ends. */
export function between(part: number, from: number, to: number): number {
  const x = Math.max(0, Math.min(1, (part - from) / (to - from)));
  return x * x * (3 - 2 * x);
}
