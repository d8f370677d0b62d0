// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Spans of one lane as rectangles, gathered by kind so that a kind is drawn in one colour at one go.
 *
 * A strand with more spans than the window has pixels is drawn as stacked shares: each column of 3 px shows how the time
 * in it was divided, from the level-of-detail pyramid when the window is wide. A share is never thinner than a
 * pixel, so a short wait is never lost.
 */

import { firstAtLeast } from '../../base/search.ts';
import { isStale, touching } from '../../derive/query.ts';
import type { LaneIndex, LodLevel, Mark, RunIndex, Strand } from '../../derive/types.ts';
import type { LaneBox, Layout, RowBox } from './layout.ts';
import { type MarkStyle, stylesFor } from './styles.ts';

/** Rectangles of one kind on one lane: [x, y, w, h] each. */
export class RectList {
  readonly style: MarkStyle;
  n = 0;
  at = new Float32Array(64);

  constructor(style: MarkStyle) {
    this.style = style;
  }

  push(x: number, y: number, w: number, h: number): void {
    const end = this.n * 4;
    if (end === this.at.length) {
      const larger = new Float32Array(end * 2);
      larger.set(this.at);
      this.at = larger;
    }
    this.at[end] = x;
    this.at[end + 1] = y;
    this.at[end + 2] = w;
    this.at[end + 3] = h;
    this.n += 1;
  }
}

/** One wake: from its strip to the hog it frees. */
export interface LinkLine {
  readonly x: number;
  readonly fromY: number;
  readonly toY: number;
  /** Frame time, for the afterglow. */
  readonly t: number;
  readonly id: number;
}

export interface LaneMarks {
  /** Wide and narrow marks, by rank of their kind. */
  readonly rects: readonly RectList[];
  /** Shares of columns where marks would be narrower than a pixel. */
  readonly shares: readonly RectList[];
  readonly links: readonly LinkLine[];
  /** There are more links than can be told apart; none are drawn. */
  readonly linksHidden: number;
}

const columnPx = 3;
const mostLinks = 1200;

/** All marks of a lane in the window. */
export function marksOf(
  index: RunIndex,
  layout: Layout,
  box: LaneBox,
  withLinks: boolean,
): LaneMarks {
  const styles = stylesFor(index.kinds);
  const rects = styles.map((style) => new RectList(style));
  const shares = styles.map((style) => new RectList(style));
  const rowsOf = new Map<number, RowBox>([...box.hogs, ...box.strips].map((r) => [r.row, r]));
  for (const strand of box.lane.strands) {
    const row = rowsOf.get(strand.row);
    if (row === undefined || strand.length === 0) continue;
    if (strand.layer === 'function') addFunctions(index, layout, box, strand, row, rects);
    else addStrand(layout, box, strand, row, styles, rects, shares);
  }
  addOpen(layout, box, rowsOf, styles, rects);
  const byRank = (a: RectList, b: RectList) => a.style.rank - b.style.rank;
  const { links, linksHidden } = withLinks
    ? linksOf(layout, box, rowsOf)
    : { links: [], linksHidden: 0 };
  return {
    rects: rects.filter((r) => r.n > 0).sort(byRank),
    shares: shares.filter((r) => r.n > 0).sort(byRank),
    links,
    linksHidden,
  };
}

function addStrand(
  layout: Layout,
  box: LaneBox,
  strand: Strand,
  row: RowBox,
  styles: readonly MarkStyle[],
  rects: readonly RectList[],
  shares: readonly RectList[],
): void {
  const { lane } = box;
  const width = layout.right - layout.left;
  const columnNs = layout.nsPerPx * columnPx;
  const coarse = strand.levels.findLast((level) => level.bucketNs <= columnNs);
  if (coarse !== undefined) {
    addShares(layout, row, shares, fromLevel(layout, box, coarse, columnNs));
    return;
  }
  const { from, to } = touching(lane.spans, strand, box.t0, box.t0 + width * layout.nsPerPx);
  if (to - from > width) {
    addShares(
      layout,
      row,
      shares,
      fromSpans(layout, box, strand, from, to, styles.length, columnNs),
    );
    return;
  }
  const { t0, t1, kind } = lane.spans;
  for (let p = from; p < to; p++) {
    const i = strand.order[p]!;
    const k = kind[i]!;
    const style = styles[k];
    if (style !== undefined) addRect(layout, box, row, style, rects[k]!, t0[i]!, t1[i]!);
  }
}

/** One rectangle, clipped to the window; at least as wide as its style asks. */
function addRect(
  layout: Layout,
  box: LaneBox,
  row: RowBox,
  style: MarkStyle,
  list: RectList,
  t0: number,
  t1: number,
): void {
  let x0 = layout.left + (t0 - box.t0) / layout.nsPerPx;
  let x1 = layout.left + (t1 - box.t0) / layout.nsPerPx;
  if (x1 < layout.left || x0 > layout.right || (x1 === layout.left && t1 > t0)) return;
  if (x1 - x0 < style.leastPx) x1 = x0 + style.leastPx;
  // A clipped mark runs on under the edge, so that its round end does not look like its end.
  x0 = Math.max(x0, layout.left - 8);
  x1 = Math.min(x1, layout.right + 8);
  list.push(x0, row.top - style.tall, x1 - x0, row.height + 2 * style.tall);
}

function addFunctions(
  index: RunIndex,
  layout: Layout,
  box: LaneBox,
  strand: Strand,
  row: RowBox,
  rects: readonly RectList[],
): void {
  const { lane } = box;
  const span = (layout.right - layout.left) * layout.nsPerPx;
  const { from, to } = touching(lane.spans, strand, box.t0, box.t0 + span);
  const styles = stylesFor(index.kinds);
  const crowded = to - from > (layout.right - layout.left) / 3;
  for (let p = from; p < to; p++) {
    const i = strand.order[p]!;
    const k = lane.spans.kind[i]!;
    const style = styles[k];
    if (style === undefined || (crowded && style.texture === 'bracket')) continue;
    addRect(layout, box, row, style, rects[k]!, lane.spans.t0[i]!, lane.spans.t1[i]!);
  }
}

function addOpen(
  layout: Layout,
  box: LaneBox,
  rowsOf: ReadonlyMap<number, RowBox>,
  styles: readonly MarkStyle[],
  rects: readonly RectList[],
): void {
  const { lane } = box;
  for (let i = 0; i < lane.open.length; i++) {
    const row = rowsOf.get(lane.open.row[i]!);
    const k = lane.open.kind[i]!;
    const style = styles[k];
    const layer = lane.layerOf(k);
    if (row === undefined || style === undefined || layer === undefined) continue;
    if (isStale(lane, layer, i)) continue;
    const t1 = Math.max(lane.open.t1[i]!, lane.ended ? 0 : lane.watermark);
    addRect(layout, box, row, style, rects[k]!, lane.open.t0[i]!, t1);
  }
}

/** Nanoseconds per column and kind. */
interface Columns {
  readonly n: number;
  readonly kinds: number;
  readonly ns: Float32Array;
  readonly kindOf: Uint8Array | null;
  readonly columnNs: number;
}

function fromLevel(layout: Layout, box: LaneBox, level: LodLevel, columnNs: number): Columns {
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
  return { n, kinds, ns, kindOf: level.kindOf, columnNs };
}

function fromSpans(
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
  for (let p = from; p < to; p++) {
    const i = strand.order[p]!;
    const a = Math.max(0, t0[i]! - box.t0);
    const b = Math.min(end, Math.max(t1[i]! - box.t0, a));
    if (a >= end || t1[i]! < box.t0) continue;
    const k = kind[i]!;
    const last = Math.min(n - 1, Math.floor(b / columnNs));
    for (let column = Math.floor(a / columnNs); column <= last; column++) {
      const part = Math.min(b, (column + 1) * columnNs) - Math.max(a, column * columnNs);
      const at = column * kinds + k;
      ns[at] = ns[at]! + Math.max(part, 1);
    }
  }
  return { n, kinds, ns, kindOf: null, columnNs };
}

/** Work stands on the line, waits hang from the top, the rest lies between; equal neighbours become one mark. */
function addShares(
  layout: Layout,
  row: RowBox,
  shares: readonly RectList[],
  columns: Columns,
): void {
  const { n, kinds, ns, kindOf, columnNs } = columns;
  const kindAt = (k: number) => (kindOf === null ? k : kindOf[k]!);
  const heights = new Uint8Array(kinds);
  const before = new Uint8Array(kinds);
  let runFrom = 0;
  const flush = (to: number) => {
    if (to <= runFrom) return;
    let low = row.top + row.height;
    let high = row.top;
    const x = layout.left + runFrom * columnPx;
    const w = Math.min(layout.right - x, (to - runFrom) * columnPx);
    for (let k = 0; k < kinds; k++) {
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
    shareHeights(heights, ns, column * kinds, columnNs, row.height);
    let same = column > 0;
    for (let k = 0; k < kinds && same; k++) same = heights[k] === before[k];
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
  ns: Float32Array,
  at: number,
  columnNs: number,
  height: number,
): void {
  let used = 0;
  let largest = 0;
  for (let k = 0; k < out.length; k++) {
    const time = ns[at + k]!;
    const h = time > 0 ? Math.max(1, Math.round((time / columnNs) * height)) : 0;
    out[k] = h;
    used += h;
    if (h > out[largest]!) largest = k;
  }
  if (used > height) out[largest] = Math.max(1, out[largest]! - (used - height));
}

function linksOf(layout: Layout, box: LaneBox, rowsOf: ReadonlyMap<number, RowBox>) {
  const { lane } = box;
  const { order, length } = lane.linksByTime;
  const end = box.t0 + (layout.right - layout.left) * layout.nsPerPx;
  const links: LinkLine[] = [];
  let n = 0;
  const first = firstAtLeast(length, (p) => lane.links.t[order[p]!]!, box.t0);
  for (let p = first; p < length; p++) {
    const i = order[p]!;
    const t = lane.links.t[i]!;
    if (t > end) break;
    n += 1;
    if (n > mostLinks) continue;
    const from = rowsOf.get(lane.links.from[i]!);
    const to = rowsOf.get(lane.links.to[i]!);
    if (to === undefined) continue;
    links.push({
      x: layout.left + (t - box.t0) / layout.nsPerPx,
      fromY: from === undefined ? box.bottom : from.top,
      toY: to.top + to.height / 2,
      t,
      id: lane.links.id[i]!,
    });
  }
  return n > mostLinks ? { links: [], linksHidden: n } : { links, linksHidden: 0 };
}

/** What is under a point: short and important things first, within 4 px. */
export function hitTest(index: RunIndex, layout: Layout, x: number, y: number): Mark | null {
  if (x < layout.left || x > layout.right) return null;
  const styles = stylesFor(index.kinds);
  const reach = 4 * layout.nsPerPx;
  for (const box of layout.lanes) {
    const row = [...box.strips, ...box.hogs].find(
      (r) => y >= r.top - 3 && y <= r.top + r.height + 3,
    );
    if (row === undefined) continue;
    const t = box.t0 + (x - layout.left) * layout.nsPerPx;
    return hitRow(box.lane, row, t, reach, styles);
  }
  return null;
}

function hitRow(
  lane: LaneIndex,
  row: RowBox,
  t: number,
  reach: number,
  styles: readonly MarkStyle[],
): Mark | null {
  let best: { mark: Mark; score: number } | null = null;
  const consider = (table: LaneIndex['spans'], i: number, open: boolean) => {
    const t0 = table.t0[i]!;
    const t1 = table.t1[i]!;
    const style = styles[table.kind[i]!];
    if (style === undefined || style.texture === 'bracket') return;
    const off = Math.max(0, t0 - t, t - t1);
    if (off > reach) return;
    // A rank outweighs a near miss; a miss outweighs equal rank.
    const score = style.rank * 2 - (off / reach) * 3 - (off > 0 && style.leastPx === 1 ? 4 : 0);
    if (best !== null && best.score >= score) return;
    const mark = {
      arm: lane.arm,
      table: 'spans' as const,
      id: table.id[i]!,
      row: table.row[i]!,
      kind: table.kind[i]!,
      t0: t0 as Mark['t0'],
      t1: t1 as Mark['t1'],
      ...(open ? { open } : {}),
    };
    best = { mark, score };
  };
  for (const strand of lane.strands) {
    if (strand.row !== row.row) continue;
    const { from, to } = touching(lane.spans, strand, t - reach, t + reach);
    for (let p = from; p < to; p++) consider(lane.spans, strand.order[p]!, false);
  }
  for (let i = 0; i < lane.open.length; i++) {
    if (lane.open.row[i] === row.row) consider(lane.open, i, true);
  }
  return (best as { mark: Mark } | null)?.mark ?? null;
}
