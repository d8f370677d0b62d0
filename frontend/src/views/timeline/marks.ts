// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Geometry of one lane's marks in the window, grouped by kind. If a line has more spans than pixels, its marks are
 * shares of columns instead of spans (addShares). In wide windows these shares come from the level-of-detail pyramid.
 */

import { scaleLinear } from 'd3-scale';
import { firstAbove, firstAtLeast } from '../../base/columns.ts';
import { pointRange } from '../../derive/lane-index.ts';
import { isStale, touching } from '../../derive/query.ts';
import type { KindFacts, LaneIndex, LodLevel, RunIndex, Strand } from '../../derive/types.ts';
import type { LaneBox, Layout } from './layout.ts';
import { type Line, pointColour, type Series, seriesOf, stepsOf } from './lines.ts';
import { type MarkStyle, RectList, type Score, shades, stylesFor } from './score.ts';

// Draws a line with more spans than pixels as stacked shares: each column of 3 px shows how its time was divided.
// A share is at least one pixel high, so a short wait stays visible.

const columnPx = 3;

/** Time per column and kind, ns. */
interface Columns {
  readonly n: number;
  readonly kinds: number;
  readonly ns: Float32Array;
  readonly kindOf: Uint8Array | null;
  readonly columnNs: number;
  /** Kinds that occur in the columns. */
  readonly present: readonly number[];
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
  const present = Array.from({ length: kinds }, (_, k) => k);
  return { n, kinds, ns, kindOf: level.kindOf, columnNs, present };
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
      // Fast path, because nearly all spans lie within one column.
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

/**
 * Draw work at the bottom, waits at the top, and other kinds in between. Neighbouring columns with identical shares
 * become one mark.
 */
function addShares(
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

/**
 * Convert the time per kind to whole pixels of the row's height. Each kind gets at least 1 px, which is taken from the
 * largest kind.
 */
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

// Links, such as wake-ups. A link is a line from one row to another row at one moment.

/** One link, from the row that caused it to its target row. */
interface LinkLine {
  readonly x: number;
  readonly fromY: number;
  readonly toY: number;
  /** The link's moment in frame time; the afterglow depends on it. */
  readonly t: number;
  readonly id: number;
}

/** Maximum number of links that are drawn, because more links cannot be distinguished. */
const mostLinks = 1200;

export interface Links {
  readonly links: readonly LinkLine[];
  /** Number of links that are not drawn, because too many links cannot be distinguished. */
  readonly linksHidden: number;
}

/** The links in the window. */
function linksOf(layout: Layout, box: LaneBox, rowsOf: ReadonlyMap<number, Line>): Links {
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
      fromY: edgeTowards(from, to, box),
      toY: to.top + to.height / 2,
      t,
      id: lane.links.id[i]!,
    });
  }
  return n > mostLinks ? { links: [], linksHidden: n } : { links, linksHidden: 0 };
}

/** The edge of the link's source row that is nearer to its target row. */
function edgeTowards(from: Line | undefined, to: Line, box: LaneBox): number {
  if (from === undefined) return box.bottom;
  return from.top >= to.top ? from.top : from.top + from.height;
}

// Points on their lines. Points are drawn singly if they can be distinguished, otherwise as counts per column.

export interface PointMarks {
  readonly line: Line;
  /** Colour of the lesson's kind whose name equals the points' name; 'work' if there is none. */
  readonly colour: KindFacts['colour'];
  readonly kind: string;
  /** The x of each point; empty if the points are too dense. */
  readonly xs: Float32Array;
  /**
   * If the points are too dense: the number of points in each column. The fullest column on any lane has `most` points.
   */
  readonly columns: Uint32Array | null;
  readonly most: number;
  readonly n: number;
}

export const densityPx = 3;
/** Distance below which two points cannot be distinguished, px. */
const apartPx = 2;
/**
 * If more than this share of a line's points are too close to their neighbours, all points of the line are drawn as
 * columns.
 */
const crowdedShare = 0.25;

interface Found {
  readonly box: LaneBox;
  readonly line: Line;
  readonly name: string;
  readonly xs: Float32Array;
}

/** Points in the window, listed by arm and line. If one lane needs columns, all lanes use columns of the same scale. */
export function pointMarksOf(
  index: RunIndex,
  layout: Layout,
): ReadonlyMap<string, readonly PointMarks[]> {
  const found = layout.lanes.flatMap((box) =>
    box.lines
      .filter((line) => line.what === 'point')
      .flatMap((line) => line.points.map((name) => ({ box, line, name })))
      .map((one): Found => ({ ...one, xs: xsOf(layout, one.box, one.name) })),
  );
  const crowded = new Set(found.filter(({ xs }) => isCrowded(xs)).map(({ name }) => name));
  const most = new Map<string, number>();
  const counted = found.map((one) => {
    const columns = crowded.has(one.name) ? pointColumns(layout, one.xs) : null;
    const peak = columns?.reduce((max, n) => Math.max(max, n), 0) ?? 1;
    most.set(one.name, Math.max(most.get(one.name) ?? 1, peak));
    return { ...one, columns };
  });
  const marks = new Map<string, PointMarks[]>(layout.lanes.map(({ arm }) => [arm, []]));
  for (const { box, line, name, xs, columns } of counted) {
    const colour = pointColour(index.kinds, name);
    const of = { line, colour, kind: name, columns, most: most.get(name)!, n: xs.length };
    marks.get(box.arm)!.push({ ...of, xs: columns === null ? xs : new Float32Array(0) });
  }
  return marks;
}

function xsOf(layout: Layout, { lane, t0 }: LaneBox, name: string): Float32Array {
  const of = lane.pointsOf(name);
  const end = t0 + (layout.right - layout.left) * layout.nsPerPx;
  const { from, to } = pointRange(lane.points, of, t0, end);
  const xs = new Float32Array(to - from);
  for (let p = from; p < to; p++) {
    xs[p - from] = layout.left + (lane.points.t[of.order[p]!]! - t0) / layout.nsPerPx;
  }
  return xs;
}

function isCrowded(xs: Float32Array): boolean {
  let close = 0;
  for (let i = 1; i < xs.length; i++) if (xs[i]! - xs[i - 1]! < apartPx) close += 1;
  return xs.length > 8 && close > xs.length * crowdedShare;
}

function pointColumns(layout: Layout, xs: Float32Array): Uint32Array {
  const columns = new Uint32Array(Math.ceil((layout.right - layout.left) / densityPx));
  for (const x of xs) {
    const column = Math.min(columns.length - 1, Math.floor((x - layout.left) / densityPx));
    columns[column] = columns[column]! + 1;
  }
  return columns;
}

// Series as columns that are one pixel wide. All lanes have the same scale.

export interface Chart {
  readonly line: Line;
  readonly series: Series;
  /** Minimum and maximum value in each pixel column; NaN where the value is unknown. */
  readonly low: Float64Array;
  readonly high: Float64Array;
  /** Top of the scale, which is the same on all lanes. */
  readonly top: number;
}

/** The charts of every lane, by arm. */
export function chartsOf(
  index: RunIndex,
  layout: Layout,
  score: Score,
): ReadonlyMap<string, readonly Chart[]> {
  const series = new Map(seriesOf(index.kinds, score).map((one) => [one.name, one]));
  const drawn = layout.lanes.flatMap((box) =>
    box.lines
      .filter((line) => line.what === 'counter')
      .map((line) => ({ box, line, series: series.get(line.points[0]!)! }))
      .map((one) => ({ ...one, ...chartColumns(layout, one.box, one.series) })),
  );
  const tops = new Map<Series, number>();
  for (const one of drawn) {
    const most = one.high.reduce((max, v) => (v > max ? v : max), 0);
    tops.set(one.series, Math.max(tops.get(one.series) ?? 0, most));
  }
  const charts = new Map<string, Chart[]>(layout.lanes.map((box) => [box.arm, []]));
  for (const { box, line, series: of, low, high } of drawn) {
    const [, top] = scaleLinear([0, Math.max(1, tops.get(of)!)], [0, 1])
      .nice(3)
      .domain();
    charts.get(box.arm)!.push({ line, series: of, low, high, top: top! });
  }
  return charts;
}

/** Fill the columns in a single pass over the events in the window. */
function chartColumns(layout: Layout, box: LaneBox, series: Series) {
  const width = Math.max(1, Math.floor(layout.right - layout.left));
  const low = new Float64Array(width).fill(Number.NaN);
  const high = new Float64Array(width).fill(Number.NaN);
  const steps = stepsOf(box.lane, series);
  const end = Math.min(box.lane.watermark, box.t0 + width * layout.nsPerPx);
  const after = series.adds ? firstAbove : firstAtLeast;
  let p = after(steps.n, steps.t, box.t0);
  let value = series.adds ? 0 : p === 0 ? Number.NaN : steps.value(p - 1);
  const known = Math.min(width, Math.ceil((end - box.t0) / layout.nsPerPx));
  for (let x = Math.max(0, Math.floor(-box.t0 / layout.nsPerPx)); x < known; x++) {
    const until = Math.min(end, box.t0 + (x + 1) * layout.nsPerPx);
    let [least, most] = [value, value];
    for (; p < steps.n && steps.t(p) <= until; p++) {
      value = series.adds ? value + steps.value(p) : steps.value(p);
      least = Number.isNaN(least) ? value : Math.min(least, value);
      most = Number.isNaN(most) ? value : Math.max(most, value);
    }
    low[x] = least;
    high[x] = most;
  }
  return { low, high };
}

export interface LaneMarks {
  /** Wide and narrow marks, in order of their kind's rank. */
  readonly rects: readonly RectList[];
  /** Shares of columns, which are drawn where spans would be narrower than a pixel. */
  readonly shares: readonly RectList[];
  readonly links: readonly LinkLine[];
  /** Number of links that are not drawn, because too many links cannot be distinguished. */
  readonly linksHidden: number;
  readonly points: readonly PointMarks[];
  readonly charts: readonly Chart[];
}

/** The lists for one lane while they are being filled. */
interface Gathering {
  readonly layout: Layout;
  readonly box: LaneBox;
  readonly styles: readonly MarkStyle[];
  readonly rects: readonly RectList[];
  readonly shares: readonly RectList[];
  /** If rows are CPUs, shades distinguish neighbouring threads. */
  readonly shaded: readonly RectList[];
}

/** All marks of a lane in the window. */
export function marksOf(
  index: RunIndex,
  layout: Layout,
  box: LaneBox,
  score: Score,
  charts: readonly Chart[],
  points: readonly PointMarks[],
): LaneMarks {
  const styles = stylesFor(index.kinds, score.look.functions);
  const rects = styles.map((style) => new RectList(style));
  const shares = styles.map((style) => new RectList(style));
  const shaded = score.rows === 'cpus' ? shades(index.kinds).map((s) => new RectList(s)) : [];
  const to: Gathering = { layout, box, styles, rects, shares, shaded };
  for (const line of box.lines) addLine(to, line, score);
  addOpen(to, score);
  const byRank = (a: RectList, b: RectList) => a.style.rank - b.style.rank;
  const ofRow = new Map(
    box.lines.filter((l) => l.what === 'row' || l.what === 'track').map((l) => [l.row, l]),
  );
  const linked = score.parts.has('links') && score.rows === 'threads';
  const { links, linksHidden } = linked
    ? linksOf(layout, box, ofRow)
    : { links: [], linksHidden: 0 };
  return {
    rects: [...rects, ...shaded].filter((r) => r.n > 0).sort(byRank),
    shares: shares.filter((r) => r.n > 0).sort(byRank),
    links,
    linksHidden,
    points,
    charts,
  };
}

function addLine(to: Gathering, line: Line, score: Score): void {
  const { lane } = to.box;
  if (line.row < 0) return;
  if (line.strand !== null) return addStrand(to, line.strand, line);
  const own = lane.strand(line.row, line.what === 'track' ? 'track' : 'state');
  if (own !== null) addStrand(to, own, line);
  if (line.what !== 'row' || score.look.functions !== 'brackets') return;
  const functions = lane.strand(line.row, 'function');
  if (functions !== null) addBrackets(to, functions, line);
}

function addStrand(to: Gathering, strand: Strand, line: Line): void {
  if (strand.length === 0) return;
  const { layout, box, styles, rects, shares, shaded } = to;
  const { lane } = box;
  const width = layout.right - layout.left;
  const columnNs = layout.nsPerPx * columnPx;
  const coarse = strand.levels.findLast((level) => level.bucketNs <= columnNs);
  if (coarse !== undefined) {
    addShares(layout, line, shares, fromLevel(layout, box, coarse, columnNs));
    return;
  }
  const { from, to: end } = touching(lane.spans, strand, box.t0, box.t0 + width * layout.nsPerPx);
  if (end - from > width) {
    const columns = fromSpans(layout, box, strand, from, end, styles.length, columnNs);
    addShares(layout, line, shares, columns);
    return;
  }
  const { t0, t1, kind, row } = lane.spans;
  for (let p = from; p < end; p++) {
    const i = strand.order[p]!;
    const shade = line.what === 'row' ? shaded[row[i]! % shaded.length] : undefined;
    const list = shade ?? rects[kind[i]!];
    if (list !== undefined) addRect(to, line, list, t0[i]!, t1[i]!);
  }
}

/** Add one rectangle, clipped to the window and widened to its style's minimum width. */
function addRect({ layout, box }: Gathering, line: Line, list: RectList, t0: number, t1: number) {
  const { style } = list;
  let x0 = layout.left + (t0 - box.t0) / layout.nsPerPx;
  let x1 = layout.left + (t1 - box.t0) / layout.nsPerPx;
  if (x1 < layout.left || x0 > layout.right || (x1 === layout.left && t1 > t0)) return;
  if (x1 - x0 < style.leastPx) x1 = x0 + style.leastPx;
  // A clipped mark extends past the edge, so that its rounded end does not look like its real end.
  x0 = Math.max(x0, layout.left - 8);
  x1 = Math.min(x1, layout.right + 8);
  list.push(x0, line.top - style.tall, x1 - x0, line.height + 2 * style.tall);
}

/** Add the functions below their thread's row. Brackets are omitted if the calls are too dense. */
function addBrackets(to: Gathering, strand: Strand, line: Line): void {
  const { layout, box, styles, rects } = to;
  const { spans } = box.lane;
  const span = (layout.right - layout.left) * layout.nsPerPx;
  const { from, to: end } = touching(spans, strand, box.t0, box.t0 + span);
  const crowded = end - from > (layout.right - layout.left) / 3;
  for (let p = from; p < end; p++) {
    const i = strand.order[p]!;
    const k = spans.kind[i]!;
    const style = styles[k];
    if (style === undefined || (crowded && style.texture === 'bracket')) continue;
    addRect(to, line, rects[k]!, spans.t0[i]!, spans.t1[i]!);
  }
}

/** Add spans that are still open. They extend to the watermark. */
function addOpen(to: Gathering, score: Score): void {
  const { box, rects } = to;
  const { open } = box.lane;
  for (let i = 0; i < open.length; i++) {
    const line = lineOfOpen(box, i, score);
    const list = rects[open.kind[i]!];
    if (line === null || list === undefined) continue;
    addRect(to, line, list, open.t0[i]!, openEnd(box.lane, i));
  }
}

export function openEnd(lane: LaneIndex, i: number): number {
  return Math.max(lane.open.t1[i]!, lane.ended ? 0 : lane.watermark);
}

/** The line of an open span; null if the span is stale or its line is not shown. */
function lineOfOpen(box: LaneBox, i: number, score: Score): Line | null {
  const { lane } = box;
  const row = lane.open.row[i]!;
  const layer = lane.layerOf(lane.open.kind[i]!);
  if (layer === undefined || layer === 'mark' || isStale(lane, layer, i)) return null;
  const nested = layer === 'function' && score.look.functions === 'nested';
  if (score.rows === 'cpus' && layer !== 'track') return null;
  if (!nested) {
    const what = layer === 'track' ? 'track' : 'row';
    return box.lines.find((l) => l.what === what && l.row === row) ?? null;
  }
  const lines = box.lines.filter((l) => l.what === 'function' && l.row === row);
  const outer = openBefore(lane, row, lane.open.t0[i]!);
  return lines[Math.min(outer, lines.length - 1)] ?? null;
}

/** Number of a row's open calls that began before t. */
function openBefore(lane: LaneIndex, row: number, t: number): number {
  let n = 0;
  for (let i = 0; i < lane.open.length; i++) {
    if (lane.open.row[i] !== row || lane.layerOf(lane.open.kind[i]!) !== 'function') continue;
    if (lane.open.t0[i]! < t && !isStale(lane, 'function', i)) n += 1;
  }
  return n;
}
