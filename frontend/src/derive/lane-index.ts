// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The index of one lane. Each update adds only data that arrived since the previous update, so a growing run never
 * causes a rebuild.
 */

import { firstAbove, firstAtLeast, growColumn } from '../base/columns.ts';
import { type Nanos, ns } from '../base/units.ts';
import type { LaneStore } from '../store/lane.ts';
import type {
  LinkColumns,
  OpColumns,
  PointColumns,
  PointTable,
  SpanColumns,
} from '../store/tables.ts';
import type {
  KindFacts,
  LaneIndex,
  LaneSample,
  Layer,
  LodLevel,
  Order,
  SpanTable,
  Strand,
} from './types.ts';

// Spans of one row and layer in order of their start, with the time per kind in each bucket.
// Spans arrive in the order in which they END.
// An outer function therefore arrives after the functions that it called, and is inserted before them.

/** Sizes of buckets, ns: 1.05 ms, 8.4 ms, 67 ms, 0.54 s. Narrower windows draw every span instead of buckets. */
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
      this.ns = growColumn(this.ns, this.buckets * this.kinds, (last + 1) * this.kinds);
      this.buckets = last + 1;
    }
    if (first === last) {
      // Fast path, because nearly all spans lie within one bucket.
      const at = first * this.kinds + local;
      this.ns[at] = this.ns[at]! + Math.max(t1 - from, 1);
      return;
    }
    for (let bucket = first; bucket <= last; bucket++) {
      const begin = Math.max(from, bucket * this.bucketNs);
      const end = Math.min(t1, (bucket + 1) * this.bucketNs);
      // An instant counts as 1 ns, so that the time of its kind is not 0.
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
  /** Column of each kind in the levels; -1 if the kind belongs to another layer. */
  readonly #local: Int16Array;

  /** @param kindOf the lesson's kinds that belong to this layer */
  constructor(row: number, layer: Layer, kindOf: Uint8Array) {
    this.row = row;
    this.layer = layer;
    this.levels = bucketSizes.map((size) => new Level(size, kindOf));
    this.#local = new Int16Array(256).fill(-1);
    for (const [local, kind] of kindOf.entries()) this.#local[kind] = local;
  }

  /** Insert span `index` of the table into `order`, which remains sorted by t0. */
  add(spans: SpanTable, index: number): void {
    const t0 = spans.t0[index]!;
    const t1 = spans.t1[index]!;
    if (this.length === this.order.length)
      this.order = growColumn(this.order, this.length, this.length + 1);
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

  /** Adjust the indices after an eviction, in which the table removed its `dropped` oldest entries. */
  shift(dropped: number): void {
    let live = 0;
    for (let i = 0; i < this.length; i++) {
      const index = this.order[i]!;
      if (index >= dropped) this.order[live++] = index - dropped;
    }
    this.length = live;
  }
}

// The strands of a lane, which are its spans by row and layer. They are updated when spans arrive or are evicted.

const layers: readonly Layer[] = ['state', 'function', 'track'];

class Strands {
  readonly #spans: SpanColumns;
  readonly #layerOf: readonly Layer[];
  readonly #waits: readonly boolean[];
  readonly #kindsOf: ReadonlyMap<Layer, Uint8Array>;
  readonly #strands = new Map<number, StrandBuilder>();
  #sorted: readonly StrandBuilder[] = [];
  #seen = 0;
  #evicted: number;
  #epoch: number;
  #longestWait = 0;

  constructor(spans: SpanColumns, kinds: readonly KindFacts[]) {
    this.#spans = spans;
    this.#layerOf = kinds.map((k) => k.layer);
    this.#waits = kinds.map((k) => k.layer === 'state' && k.colour === 'wait' && k.lesson);
    this.#kindsOf = new Map(
      layers.map((layer) => [
        layer,
        Uint8Array.from(kinds.flatMap((k, i) => (k.layer === layer ? [i] : []))),
      ]),
    );
    this.#evicted = spans.evicted;
    this.#epoch = spans.epoch;
  }

  /** The strands, sorted by row and then by layer. */
  get sorted(): readonly StrandBuilder[] {
    return this.#sorted;
  }

  /** Duration of the longest of the lesson's waits, ns. */
  get longestWait(): number {
    return this.#longestWait;
  }

  layerOf(kind: number): Layer | undefined {
    return this.#layerOf[kind];
  }

  of(row: number, layer: Layer): StrandBuilder | null {
    return this.#strands.get(keyOf(row, layer)) ?? null;
  }

  /** Add the spans that arrived since the previous call. */
  update(): void {
    this.#followMoves();
    const spans = this.#spans;
    const strandsBefore = this.#strands.size;
    for (; this.#seen < spans.length; this.#seen++) {
      const i = this.#seen;
      const kind = spans.kind[i]!;
      const layer = this.#layerOf[kind];
      if (layer === undefined) continue;
      this.#strandOf(spans.row[i]!, layer).add(spans, i);
      if (this.#waits[kind]) {
        this.#longestWait = Math.max(this.#longestWait, spans.t1[i]! - spans.t0[i]!);
      }
    }
    if (this.#strands.size !== strandsBefore) {
      this.#sorted = [...this.#strands.entries()].sort((a, b) => a[0] - b[0]).map(([, s]) => s);
    }
  }

  #strandOf(row: number, layer: Layer): StrandBuilder {
    const key = keyOf(row, layer);
    let strand = this.#strands.get(key);
    if (strand === undefined) {
      strand = new StrandBuilder(row, layer, this.#kindsOf.get(layer)!);
      this.#strands.set(key, strand);
    }
    return strand;
  }

  /** Adjust the strands if the table evicted spans or was reset. */
  #followMoves(): void {
    const { epoch, evicted } = this.#spans;
    if (epoch === this.#epoch) return;
    const dropped = evicted - this.#evicted;
    if (dropped > 0 && dropped <= this.#seen) {
      for (const strand of this.#strands.values()) strand.shift(dropped);
      this.#seen -= dropped;
    } else {
      this.#strands.clear();
      this.#sorted = [];
      this.#seen = 0;
      this.#longestWait = 0;
    }
    this.#evicted = evicted;
    this.#epoch = epoch;
  }
}

function keyOf(row: number, layer: Layer): number {
  return row * layers.length + layers.indexOf(layer);
}

// Sorted orders of a growing table, each by one of the table's columns.

/** The indices of a growing table's rows, sorted by one column. Rows arrive nearly in this order. */
class SortedOrder implements Order {
  order = new Uint32Array(0);
  length = 0;

  add(key: Float64Array, index: number): void {
    if (this.length === this.order.length)
      this.order = growColumn(this.order, this.length, this.length + 1);
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

interface Table {
  readonly length: number;
  /** A number that changes whenever rows were evicted or the table was reset. */
  readonly epoch: number;
}

/** Adds a table's new rows to a sorted order. If rows were evicted or the table was reset, the order is rebuilt. */
class TableOrder<T extends Table> {
  readonly #table: T;
  readonly #key: (table: T) => Float64Array;
  #sorted = new SortedOrder();
  #seen = 0;
  #epoch: number;

  constructor(table: T, key: (table: T) => Float64Array) {
    this.#table = table;
    this.#key = key;
    this.#epoch = table.epoch;
  }

  get order(): Order {
    return this.#sorted;
  }

  /** Add the rows that arrived since the previous call. */
  update(): void {
    const { epoch, length } = this.#table;
    if (epoch !== this.#epoch) {
      this.#sorted = new SortedOrder();
      this.#seen = 0;
      this.#epoch = epoch;
    }
    for (; this.#seen < length; this.#seen++) this.#sorted.add(this.#key(this.#table), this.#seen);
  }
}

// Table indices of the points with each name, in order of time.
// These indices grow with the table of points, and are rebuilt when the table's rows move.

class Places implements Order {
  order = new Uint32Array(0);
  length = 0;

  add(index: number): void {
    if (this.length === this.order.length)
      this.order = growColumn(this.order, this.length, this.length + 1);
    this.order[this.length] = index;
    this.length += 1;
  }
}

const none: Order = { order: new Uint32Array(0), length: 0 };

export class PointIndex {
  readonly #table: PointColumns;
  readonly #names: readonly string[];
  #kinds: Places[] = [];
  #seen = 0;
  #epoch = -1;

  constructor(table: PointColumns, names: readonly string[]) {
    this.#table = table;
    this.#names = names;
  }

  update(): void {
    const { kind, length, epoch } = this.#table;
    if (epoch !== this.#epoch) {
      this.#epoch = epoch;
      this.#seen = 0;
      this.#kinds = this.#names.map(() => new Places());
    }
    for (; this.#seen < length; this.#seen++) this.#kinds[kind[this.#seen]!]?.add(this.#seen);
  }

  of(name: string): Order {
    return this.#kinds[this.#names.indexOf(name)] ?? none;
  }
}

/** The positions [from, to) in the order of the points whose times lie in [a, b). */
export function pointRange(
  points: PointTable,
  of: Order,
  a: number,
  b: number,
): { readonly from: number; readonly to: number } {
  const at = (i: number) => points.t[of.order[i]!]!;
  return { from: firstAtLeast(of.length, at, a), to: firstAtLeast(of.length, at, b) };
}

/** The number of points in the order whose time is at most t. */
export function pointsUpTo(points: PointTable, of: Order, t: number): number {
  return firstAbove(of.length, (i) => points.t[of.order[i]!]!, t);
}

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

  /** Add the data that arrived since the previous call. */
  update(): void {
    this.#points.update();
    this.#strands.update();
    this.#opsByEnd.update();
    this.#linksByTime.update();
  }
}

/** The time up to which a lane's data have arrived; infinity if the lane has ended. */
export function completeUpTo(lane: Pick<LaneIndex, 'watermark' | 'ended'>): Nanos {
  return lane.ended ? ns(Number.POSITIVE_INFINITY) : lane.watermark;
}
