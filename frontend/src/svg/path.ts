// SPDX-License-Identifier: GPL-2.0-or-later
/** A canvas path as shapes: rectangles and circles stay what they are, so that they can be moved one by one. */

import { attributes, num } from './xml.ts';

export class Path {
  readonly #shapes: string[] = [];
  #lines = '';

  get length(): number {
    return this.#shapes.length + this.#lines.length;
  }

  moveTo(x: number, y: number): void {
    if (finite(x, y)) this.#lines += `M${num(x)} ${num(y)}`;
  }

  lineTo(x: number, y: number): void {
    if (finite(x, y)) this.#lines += `${this.#lines === '' ? 'M' : 'L'}${num(x)} ${num(y)}`;
  }

  rect(x: number, y: number, w: number, h: number, r = 0): void {
    if (!finite(x, y, w, h)) return;
    const [width, height] = [Math.abs(w), Math.abs(h)];
    const at = { x: Math.min(x, x + w), y: Math.min(y, y + h), width, height };
    const rx = Math.min(r, width / 2, height / 2);
    this.#shapes.push(`rect${attributes({ ...at, rx: rx > 0 ? rx : null })}`);
  }

  circle(cx: number, cy: number, r: number): void {
    if (finite(cx, cy, r)) this.#shapes.push(`circle${attributes({ cx, cy, r })}`);
  }

  /** Tag and geometry of each shape, without brackets. */
  shapes(): readonly string[] {
    return this.#lines === '' ? this.#shapes : [...this.#shapes, `path d="${this.#lines}"`];
  }
}

/** A canvas passes over what has no place, too. */
function finite(...numbers: readonly number[]): boolean {
  return numbers.every(Number.isFinite);
}
