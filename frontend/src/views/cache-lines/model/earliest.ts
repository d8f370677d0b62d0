// SPDX-License-Identifier: GPL-2.0-or-later
/** Which of up to 64 clocks is first: a tournament, so that moving one clock costs log2(n) comparisons. */

export class Earliest {
  private readonly size: number;
  private readonly times: Float64Array;
  /** Node k is won by a child, 2k or 2k + 1; leaves begin at `size`. */
  private readonly winner: Uint8Array;

  constructor(clocks: number) {
    let size = 1;
    while (size < clocks) size *= 2;
    this.size = size;
    this.times = new Float64Array(size).fill(Infinity);
    this.winner = new Uint8Array(2 * size);
    for (let i = 0; i < size; i++) this.winner[size + i] = i;
    for (let k = size - 1; k > 0; k--) this.winner[k] = this.winner[2 * k]!;
  }

  /** The clock with the smallest time; of equal ones the lowest number. */
  first(): number {
    return this.winner[1]!;
  }

  at(clock: number): number {
    return this.times[clock]!;
  }

  set(clock: number, time: number): void {
    const { times, winner } = this;
    times[clock] = time;
    for (let k = (this.size + clock) >> 1; k > 0; k >>= 1) {
      const left = winner[2 * k]!;
      const right = winner[2 * k + 1]!;
      winner[k] = times[right]! < times[left]! ? right : left;
    }
  }
}
