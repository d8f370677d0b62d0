// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Spans of one row and layer in order of their begin, and how much time each kind took per bucket.
 * Spans arrive in order of their END, so an outer function span comes after the inner ones: it is inserted.
 */

import { firstAbove, grown } from '../base/columns.ts';
import type { Layer, LodLevel, SpanTable, Strand } from './types.ts';

/** 1.05 ms, 8.4 ms, 67 ms, 0.54 s. A finer window draws its spans one by one. */
export const bucketSizes: readonly number[] = [2 ** 20, 2 ** 23, 2 ** 26, 2 ** 29];

class Level implements LodLevel {
  readonly bucketNs: number;
  readonly kindOf: Uint8Array;
  readonly kinds: number;
  ns = new Float32Array(0);
  buckets = 0;

  constructor(bucketNs: number, kindOf: Uint8Array) {
    this.bucketNs = bucketNs;
    this.kindOf = kindOf;
    this.kinds = kindOf.length;
  }

  add(t0: number, t1: number, local: number): void {
    const from = Math.max(0, t0);
    if (t1 < from) return;
    const first = Math.floor(from / this.bucketNs);
    const last = Math.floor(t1 / this.bucketNs);
    if (last >= this.buckets) {
      this.ns = grown(this.ns, this.buckets * this.kinds, (last + 1) * this.kinds);
      this.buckets = last + 1;
    }
    if (first === last) {
      // Nearly all spans lie in one bucket.
      const at = first * this.kinds + local;
      this.ns[at] = this.ns[at]! + Math.max(t1 - from, 1);
      return;
    }
    for (let bucket = first; bucket <= last; bucket++) {
      const begin = Math.max(from, bucket * this.bucketNs);
      const end = Math.min(t1, (bucket + 1) * this.bucketNs);
      // An instant counts 1 ns, so that it is never nothing.
      const at = bucket * this.kinds + local;
      this.ns[at] = this.ns[at]! + Math.max(end - begin, bucket === first ? 1 : 0);
    }
  }
}

export class StrandBuilder implements Strand {
  readonly row: number;
  readonly layer: Layer;
  order = new Uint32Array(0);
  length = 0;
  longest = 0;
  readonly levels: readonly Level[];
  /** Kind -> its place in the levels; -1: of another layer. */
  readonly #local: Int16Array;

  /** `kindOf` lists the lesson's kinds of this layer. */
  constructor(row: number, layer: Layer, kindOf: Uint8Array) {
    this.row = row;
    this.layer = layer;
    this.levels = bucketSizes.map((size) => new Level(size, kindOf));
    this.#local = new Int16Array(256).fill(-1);
    for (const [local, kind] of kindOf.entries()) this.#local[kind] = local;
  }

  /** Takes span `index` of the table; keeps `order` sorted by t0. */
  add(spans: SpanTable, index: number): void {
    const t0 = spans.t0[index]!;
    const t1 = spans.t1[index]!;
    if (this.length === this.order.length)
      this.order = grown(this.order, this.length, this.length + 1);
    let place = this.length;
    if (place > 0 && spans.t0[this.order[place - 1]!]! > t0) {
      place = firstAbove(this.length, (i) => spans.t0[this.order[i]!]!, t0);
      this.order.copyWithin(place + 1, place, this.length);
    }
    this.order[place] = index;
    this.length += 1;
    if (t1 - t0 > this.longest) this.longest = t1 - t0;
    const local = this.#local[spans.kind[index]!]!;
    if (local < 0) return;
    for (const level of this.levels) level.add(t0, t1, local);
  }

  /** The oldest `dropped` entries of the table are gone; the rest moved down by as many. */
  shift(dropped: number): void {
    let live = 0;
    for (let i = 0; i < this.length; i++) {
      const index = this.order[i]!;
      if (index >= dropped) this.order[live++] = index - dropped;
    }
    this.length = live;
  }
}
