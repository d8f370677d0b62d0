// SPDX-License-Identifier: GPL-2.0-or-later
/** Rectangles gathered by kind, so that a kind is drawn in one colour at one go. */

import type { MarkStyle } from './styles.ts';

/** Rectangles of one kind on one lane: [x, y, w, h] each. */
export class RectList {
  readonly style: MarkStyle;
  n = 0;
  at = new Float32Array(64);

  constructor(style: MarkStyle) {
    this.style = style;
  }

  push(x: number, y: number, w: number, h: number): void {
    const end = this.n * 4;
    if (end === this.at.length) {
      const larger = new Float32Array(end * 2);
      larger.set(this.at);
      this.at = larger;
    }
    this.at[end] = x;
    this.at[end + 1] = y;
    this.at[end + 2] = w;
    this.at[end + 3] = h;
    this.n += 1;
  }
}
