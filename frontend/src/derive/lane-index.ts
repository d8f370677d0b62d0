// SPDX-License-Identifier: GPL-2.0-or-later
/** The index of one lane, brought up to date with what came since the last look. Never rebuilt while a run grows. */

import { type Nanos, ns } from '../base/units.ts';
import type { LaneStore } from '../store/lane.ts';
import type { LinkColumns, OpColumns } from '../store/tables.ts';
import { PointIndex } from './points.ts';
import type { StrandBuilder } from './strand.ts';
import { Strands } from './strands.ts';
import { TableOrder } from './table-order.ts';
import type { KindFacts, LaneIndex, LaneSample, Layer, Order } from './types.ts';

export class LaneIndexer implements LaneIndex {
  readonly arm: string;
  readonly #store: LaneStore;
  readonly #strands: Strands;
  readonly #opsByEnd: TableOrder<OpColumns>;
  readonly #linksByTime: TableOrder<LinkColumns>;
  readonly #points: PointIndex;

  constructor(store: LaneStore, kinds: readonly KindFacts[], points: readonly string[] = []) {
    this.#points = new PointIndex(store.points, points);
    this.arm = store.arm;
    this.#store = store;
    this.#strands = new Strands(store.spans, kinds);
    this.#opsByEnd = new TableOrder(store.ops, ({ t1 }) => t1);
    this.#linksByTime = new TableOrder(store.links, ({ t }) => t);
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
  get startNs(): number | null {
    return this.#store.metrics?.start_ns ?? null;
  }
  get historyFrom(): Nanos {
    return this.#store.historyFrom;
  }
  get opsEvicted(): number {
    return this.#store.ops.evicted;
  }
  get strands(): readonly StrandBuilder[] {
    return this.#strands.sorted;
  }
  get longestWait(): number {
    return this.#strands.longestWait;
  }
  get opsByEnd(): Order {
    return this.#opsByEnd.order;
  }
  get linksByTime(): Order {
    return this.#linksByTime.order;
  }

  strand(row: number, layer: Layer): StrandBuilder | null {
    return this.#strands.of(row, layer);
  }

  pointsOf(name: string): Order {
    return this.#points.of(name);
  }

  samples(probe: string): readonly LaneSample[] {
    return this.#store.samples(probe);
  }

  probes(): readonly string[] {
    return this.#store.probes();
  }

  guestTime(t: number): Nanos {
    return ns(t);
  }

  pointTime(i: number): Nanos {
    return ns(this.#store.points.t[i]!);
  }

  layerOf(kind: number): Layer | undefined {
    return this.#strands.layerOf(kind);
  }

  /** Takes what came since the last call. */
  update(): void {
    this.#points.update();
    this.#strands.update();
    this.#opsByEnd.update();
    this.#linksByTime.update();
  }
}

/** Nothing of a lane is known beyond this, and nothing more will come if it ended. */
export function completeUpTo(lane: Pick<LaneIndex, 'watermark' | 'ended'>): Nanos {
  return lane.ended ? ns(Number.POSITIVE_INFINITY) : lane.watermark;
}
