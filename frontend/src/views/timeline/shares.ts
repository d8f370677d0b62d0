// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * A line with more spans than its window has pixels, as stacked shares: each column of 3 px shows how the time in it
 * was divided. A share is never thinner than a pixel, so a short wait is never lost.
 */

import type { LodLevel, Strand } from '../../derive/types.ts';
import type { LaneBox, Layout } from './layout.ts';
import type { Line } from './lines.ts';
import type { RectList } from './rects.ts';

export const columnPx = 3;

/** Nanoseconds per column and kind. */
interface Columns {
  readonly n: number;
  readonly kinds: number;
  readonly ns: Float32Array;
  readonly kindOf: Uint8Array | null;
  readonly columnNs: number;
  /** Kinds that occur at all. */
  readonly present: readonly number[];
}

export function fromLevel(
  layout: Layout,
  box: LaneBox,
  level: LodLevel,
  columnNs: number,
): Columns {
  const n = Math.ceil((layout.right - layout.left) / columnPx);
  const { kinds, bucketNs, buckets } = level;
  const ns = new Float32Array(n * kinds);
  const first = Math.max(0, Math.floor(box.t0 / bucketNs));
  const last = Math.min(buckets - 1, Math.floor((box.t0 + n * columnNs) / bucketNs));
  for (let bucket = first; bucket <= last; bucket++) {
    const column = Math.floor(((bucket + 0.5) * bucketNs - box.t0) / columnNs);
    if (column < 0 || column >= n) continue;
    for (let k = 0; k < kinds; k++) {
      const at = column * kinds + k;
      ns[at] = ns[at]! + level.ns[bucket * kinds + k]!;
    }
  }
  const present = Array.from({ length: kinds }, (_, k) => k);
  return { n, kinds, ns, kindOf: level.kindOf, columnNs, present };
}

export function fromSpans(
  layout: Layout,
  box: LaneBox,
  strand: Strand,
  from: number,
  to: number,
  kinds: number,
  columnNs: number,
): Columns {
  const n = Math.ceil((layout.right - layout.left) / columnPx);
  const ns = new Float32Array(n * kinds);
  const { t0, t1, kind } = box.lane.spans;
  const end = n * columnNs;
  const { order } = strand;
  const base = box.t0;
  const perNs = 1 / columnNs;
  const seen = new Uint8Array(kinds);
  for (let p = from; p < to; p++) {
    const i = order[p]!;
    const a = Math.max(0, t0[i]! - base);
    const until = t1[i]! - base;
    if (a >= end || until < 0) continue;
    const b = Math.min(end, Math.max(until, a));
    const k = kind[i]!;
    seen[k] = 1;
    const first = (a * perNs) | 0;
    const last = Math.min(n - 1, (b * perNs) | 0);
    if (first === last) {
      // Nearly all spans lie in one column.
      const at = first * kinds + k;
      ns[at] = ns[at]! + Math.max(b - a, 1);
      continue;
    }
    for (let column = first; column <= last; column++) {
      const part = Math.min(b, (column + 1) * columnNs) - Math.max(a, column * columnNs);
      const at = column * kinds + k;
      ns[at] = ns[at]! + Math.max(part, 1);
    }
  }
  const present = Array.from({ length: kinds }, (_, k) => k).filter((k) => seen[k] === 1);
  return { n, kinds, ns, kindOf: null, columnNs, present };
}

/** Work stands on the line, waits hang from the top, the rest lies between; equal neighbours become one mark. */
export function addShares(
  layout: Layout,
  line: Pick<Line, 'top' | 'height'>,
  shares: readonly RectList[],
  columns: Columns,
): void {
  const { n, kinds, ns, kindOf, columnNs, present } = columns;
  const kindAt = (k: number) => (kindOf === null ? k : kindOf[k]!);
  const heights = new Uint8Array(kinds);
  const before = new Uint8Array(kinds);
  let runFrom = 0;
  const flush = (to: number) => {
    if (to <= runFrom) return;
    let low = line.top + line.height;
    let high = line.top;
    const x = layout.left + runFrom * columnPx;
    const w = Math.min(layout.right - x, (to - runFrom) * columnPx);
    for (const k of present) {
      const h = before[k]!;
      const list = shares[kindAt(k)];
      if (h === 0 || list === undefined) continue;
      if (list.style.rank <= 3) {
        low -= h;
        if (list.style.colour !== 'idle') list.push(x, low, w, h);
      } else {
        list.push(x, high, w, h);
        high += h;
      }
    }
  };
  for (let column = 0; column < n; column++) {
    shareHeights(heights, present, ns, column * kinds, columnNs, line.height);
    let same = column > 0;
    for (let j = 0; j < present.length && same; j++) {
      same = heights[present[j]!] === before[present[j]!];
    }
    if (same) continue;
    flush(column);
    before.set(heights);
    runFrom = column;
  }
  flush(n);
}

/** Time per kind -> whole px of the row's height; at least 1 for whatever happened, the largest gives way. */
function shareHeights(
  out: Uint8Array,
  present: readonly number[],
  ns: Float32Array,
  at: number,
  columnNs: number,
  height: number,
): void {
  let used = 0;
  let largest = present[0] ?? 0;
  for (const k of present) {
    const time = ns[at + k]!;
    const h = time > 0 ? Math.max(1, Math.round((time / columnNs) * height)) : 0;
    out[k] = h;
    used += h;
    if (h > out[largest]!) largest = k;
  }
  if (used > height) out[largest] = Math.max(1, out[largest]! - (used - height));
}
