// SPDX-License-Identifier: GPL-2.0-or-later
/** The model's only source of chance: mulberry32, 32 bits of state, the same in model.py. */

export class Chance {
  private state: number;

  constructor(seed: number) {
    this.state = seed | 0;
  }

  /** The next whole number in [0, 2^32). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    const a = this.state;
    let t = Math.imul(a ^ (a >>> 15), a | 1);
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
    return (t ^ (t >>> 14)) >>> 0;
  }

  /** The next number in [0, 1). */
  unit(): number {
    return this.next() / 4294967296;
  }

  /** The next whole number in [0, n). */
  below(n: number): number {
    return Math.floor((this.next() / 4294967296) * n);
  }
}
