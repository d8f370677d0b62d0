// SPDX-License-Identifier: GPL-2.0-or-later
/** Where lanes are laid over each other: a dotted line through all of them, with the name of what they share. */

import type { Theme } from '../base/theme.ts';
import type { Pen } from './paints.ts';

export interface Flag {
  readonly x: number;
  readonly words: string;
  /** Room that it may take. */
  readonly left: number;
  readonly right: number;
  /** The words stand at the top, the line goes down to the bottom. */
  readonly top: number;
  readonly bottom: number;
}

/** Draws nothing where the moment is out of the window. */
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
