// SPDX-License-Identifier: GPL-2.0-or-later
/** The strands of a lane: its spans by row and layer, followed as they come and as the oldest go. */

import type { SpanColumns } from '../store/tables.ts';
import { StrandBuilder } from './strand.ts';
import type { KindFacts, Layer } from './types.ts';

const layers: readonly Layer[] = ['state', 'function', 'track'];

export class Strands {
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

  /** By row, then by layer. */
  get sorted(): readonly StrandBuilder[] {
    return this.#sorted;
  }

  /** Of the kinds that the lesson marks as waits, ns. */
  get longestWait(): number {
    return this.#longestWait;
  }

  layerOf(kind: number): Layer | undefined {
    return this.#layerOf[kind];
  }

  of(row: number, layer: Layer): StrandBuilder | null {
    return this.#strands.get(keyOf(row, layer)) ?? null;
  }

  /** Takes the spans that came since the last call. */
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

  /** Spans moved: they were evicted, or the table began anew. */
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
