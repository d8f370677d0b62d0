// SPDX-License-Identifier: GPL-2.0-or-later
/** The index of one lane, brought up to date with what came since the last look. Never rebuilt while a run grows. */

import { grown } from '../base/growable.ts';
import { firstAbove } from '../base/search.ts';
import { type Nanos, ns } from '../base/units.ts';
import type { LaneStore } from '../store/lane.ts';
import { PointIndex } from './points.ts';
import { StrandBuilder } from './strand.ts';
import type { KindFacts, LaneIndex, LaneSample, Layer, Order } from './types.ts';

/** Indices of a growing table, sorted by one of its columns. Arrival is nearly sorted. */
class SortedOrder implements Order {
  order = new Uint32Array(0);
  length = 0;

  add(key: Float64Array, index: number): void {
    if (this.length === this.order.length)
      this.order = grown(this.order, this.length, this.length + 1);
    let place = this.length;
    const value = key[index]!;
    if (place > 0 && key[this.order[place - 1]!]! > value) {
      place = firstAbove(this.length, (i) => key[this.order[i]!]!, value);
      this.order.copyWithin(place + 1, place, this.length);
    }
    this.order[place] = index;
    this.length += 1;
  }
}

const layers: readonly Layer[] = ['state', 'function', 'track'];

export class LaneIndexer implements LaneIndex {
  readonly arm: string;
  readonly #store: LaneStore;
  readonly #layerOf: readonly Layer[];
  readonly #waits: readonly boolean[];
  readonly #kindsOf: ReadonlyMap<Layer, Uint8Array>;
  readonly #strands = new Map<number, StrandBuilder>();
  #sorted: readonly StrandBuilder[] = [];
  #opsByEnd = new SortedOrder();
  #linksByTime = new SortedOrder();
  #points: PointIndex;
  #spansSeen = 0;
  #opsSeen = 0;
  #linksSeen = 0;
  #spansEvicted = 0;
  #epochs = { spans: 0, ops: 0, links: 0 };
  longestWait = 0;

  constructor(store: LaneStore, kinds: readonly KindFacts[], points: readonly string[] = []) {
    this.#points = new PointIndex(store.points, points);
    this.arm = store.arm;
    this.#store = store;
    this.#layerOf = kinds.map((k) => k.layer);
    this.#waits = kinds.map((k) => k.layer === 'state' && k.colour === 'wait' && k.lesson);
    this.#kindsOf = new Map(
      layers.map((layer) => [
        layer,
        Uint8Array.from(kinds.flatMap((k, i) => (k.layer === layer ? [i] : []))),
      ]),
    );
    this.#epochs = this.#storeEpochs();
    this.#spansEvicted = store.spans.evicted;
  }

  get rows() {
    return this.#store.rows;
  }
  get spans() {
    return this.#store.spans;
  }
  get open() {
    return this.#store.open;
  }
  get ops() {
    return this.#store.ops;
  }
  get links() {
    return this.#store.links;
  }
  get points() {
    return this.#store.points;
  }
  get losses() {
    return this.#store.losses;
  }
  get ended(): boolean {
    return this.#store.ended;
  }
  get failed(): boolean {
    return this.#store.state?.phase === 'failed';
  }
  get watermark(): Nanos {
    return this.#store.watermark;
  }
  get historyFrom(): Nanos {
    return this.#store.historyFrom;
  }
  get opsEvicted(): number {
    return this.#store.ops.evicted;
  }
  get strands(): readonly StrandBuilder[] {
    return this.#sorted;
  }
  get opsByEnd(): Order {
    return this.#opsByEnd;
  }
  get linksByTime(): Order {
    return this.#linksByTime;
  }

  strand(row: number, layer: Layer): StrandBuilder | null {
    return this.#strands.get(row * layers.length + layers.indexOf(layer)) ?? null;
  }

  pointsOf(name: string): Order {
    return this.#points.of(name);
  }

  samples(probe: string): readonly LaneSample[] {
    return this.#store.samples(probe);
  }

  guestTime(t: number): Nanos {
    return ns(t);
  }

  layerOf(kind: number): Layer | undefined {
    return this.#layerOf[kind];
  }

  /** Takes what came since the last call. */
  update(): void {
    const { spans, ops, links } = this.#store;
    this.#followMoves();
    this.#points.update();
    const strandsBefore = this.#strands.size;
    for (; this.#spansSeen < spans.length; this.#spansSeen++) {
      const i = this.#spansSeen;
      const kind = spans.kind[i]!;
      const layer = this.#layerOf[kind];
      if (layer === undefined) continue;
      this.#strandOf(spans.row[i]!, layer).add(spans, i);
      if (this.#waits[kind]) {
        this.longestWait = Math.max(this.longestWait, spans.t1[i]! - spans.t0[i]!);
      }
    }
    for (; this.#opsSeen < ops.length; this.#opsSeen++) this.#opsByEnd.add(ops.t1, this.#opsSeen);
    for (; this.#linksSeen < links.length; this.#linksSeen++) {
      this.#linksByTime.add(links.t, this.#linksSeen);
    }
    if (this.#strands.size !== strandsBefore) {
      this.#sorted = [...this.#strands.entries()].sort((a, b) => a[0] - b[0]).map(([, s]) => s);
    }
  }

  #strandOf(row: number, layer: Layer): StrandBuilder {
    const key = row * layers.length + layers.indexOf(layer);
    let strand = this.#strands.get(key);
    if (strand === undefined) {
      strand = new StrandBuilder(row, layer, this.#kindsOf.get(layer)!);
      this.#strands.set(key, strand);
    }
    return strand;
  }

  #storeEpochs() {
    const { spans, ops, links } = this.#store;
    return { spans: spans.epoch, ops: ops.epoch, links: links.epoch };
  }

  /** Entries of a table moved: they were evicted, or the table began anew. */
  #followMoves(): void {
    const now = this.#storeEpochs();
    if (now.spans !== this.#epochs.spans) {
      const dropped = this.#store.spans.evicted - this.#spansEvicted;
      if (dropped > 0 && dropped <= this.#spansSeen) {
        for (const strand of this.#strands.values()) strand.shift(dropped);
        this.#spansSeen -= dropped;
      } else {
        this.#strands.clear();
        this.#sorted = [];
        this.#spansSeen = 0;
        this.longestWait = 0;
      }
      this.#spansEvicted = this.#store.spans.evicted;
    }
    if (now.ops !== this.#epochs.ops) {
      this.#opsByEnd = new SortedOrder();
      this.#opsSeen = 0;
    }
    if (now.links !== this.#epochs.links) {
      this.#linksByTime = new SortedOrder();
      this.#linksSeen = 0;
    }
    this.#epochs = now;
  }
}

/** Nothing of a lane is known beyond this, and nothing more will come if it ended. */
export function completeUpTo(lane: Pick<LaneIndex, 'watermark' | 'ended'>): Nanos {
  return lane.ended ? ns(Number.POSITIVE_INFINITY) : lane.watermark;
}
