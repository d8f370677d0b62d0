// SPDX-License-Identifier: GPL-2.0-or-later
/** Intervals by time: which of them touch a window, by bisection. */

import { firstAbove, firstAtLeast } from '../../base/columns.ts';

export class Intervals<T> {
  readonly #all: readonly T[];
  readonly #from: Float64Array;
  /** The latest end of each and of all before it: it never falls. */
  readonly #latest: Float64Array;

  /** @param all in order of their begin; they do not change any more */
  constructor(all: readonly T[], from: (one: T) => number, to: (one: T) => number) {
    this.#all = all;
    this.#from = Float64Array.from(all, from);
    let latest = Number.NEGATIVE_INFINITY;
    this.#latest = Float64Array.from(all, (one) => {
      latest = Math.max(latest, to(one));
      return latest;
    });
  }

  /** Places [from, to) in which all lie that touch [a, b], ends included; others may lie between them. */
  near(a: number, b: number): { readonly from: number; readonly to: number } {
    const n = this.#all.length;
    const to = firstAbove(n, (i) => this.#from[i]!, b);
    return {
      from: Math.min(
        to,
        firstAtLeast(n, (i) => this.#latest[i]!, a),
      ),
      to,
    };
  }
}
