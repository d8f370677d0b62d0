// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Function spans of a thread by how deep they are nested. Spans of one depth follow each other, so each depth is
 * drawn and searched like a row of states.
 */

import { isStale } from '../../derive/query.ts';
import type { LaneIndex, SpanTable, Strand } from '../../derive/types.ts';

/** Deeper calls are drawn at the last depth. */
export const mostDepth = 8;

const none: readonly Strand[] = [];
const cache = new WeakMap<Strand, { readonly key: string; readonly bands: readonly Strand[] }>();

/** Function spans of a row that are still open, outermost first: places in `lane.open`. */
export function openFunctions(lane: LaneIndex, row: number): number[] {
  const { open } = lane;
  const found: number[] = [];
  for (let i = 0; i < open.length; i++) {
    if (open.row[i] !== row || lane.layerOf(open.kind[i]!) !== 'function') continue;
    if (!isStale(lane, 'function', i)) found.push(i);
  }
  return found.sort((a, b) => open.t0[a]! - open.t0[b]!);
}

/** One strand for each depth, the outermost first. */
export function bandsOf(lane: LaneIndex, row: number): readonly Strand[] {
  const strand = lane.strand(row, 'function');
  const open = openFunctions(lane, row).map((i) => lane.open.t0[i]!);
  if (strand === null) return open.map(() => emptyBand(row));
  const newest = strand.length === 0 ? -1 : lane.spans.id[strand.order[strand.length - 1]!]!;
  const key = `${strand.length} ${newest} ${open.join()}`;
  const known = cache.get(strand);
  if (known?.key === key) return known.bands;
  const bands = split(lane.spans, strand, open);
  cache.set(strand, { key, bands });
  return bands;
}

function emptyBand(row: number): Strand {
  return { row, layer: 'state', order: new Uint32Array(0), length: 0, longest: 0, levels: [] };
}

function split(spans: SpanTable, strand: Strand, open: readonly number[]): readonly Strand[] {
  const depths = new Uint8Array(strand.length);
  const counts = new Uint32Array(mostDepth);
  const ends: number[] = [];
  let opened = 0;
  for (let p = 0; p < strand.length; p++) {
    const i = strand.order[p]!;
    const t0 = spans.t0[i]!;
    while (opened < open.length && open[opened]! <= t0) {
      while (ends.length > 0 && ends.at(-1)! <= open[opened]!) ends.pop();
      ends.push(Number.POSITIVE_INFINITY);
      opened += 1;
    }
    while (ends.length > 0 && ends.at(-1)! <= t0) ends.pop();
    const depth = Math.min(ends.length, mostDepth - 1);
    depths[p] = depth;
    counts[depth] = counts[depth]! + 1;
    ends.push(spans.t1[i]!);
  }
  const deepest = Math.max(
    counts.findLastIndex((n) => n > 0) + 1,
    Math.min(open.length, mostDepth),
  );
  if (deepest === 0) return none;
  const orders = Array.from({ length: deepest }, (_, d) => new Uint32Array(counts[d]!));
  const filled = new Uint32Array(deepest);
  for (let p = 0; p < strand.length; p++) {
    const d = depths[p]!;
    orders[d]![filled[d]!] = strand.order[p]!;
    filled[d] = filled[d]! + 1;
  }
  // They do not overlap: for searches they are states.
  return orders.map((order) => {
    return { row: strand.row, layer: 'state', order, length: order.length, longest: 0, levels: [] };
  });
}
