// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Everything that one lane shows in the window, as geometry. Spans are gathered by kind; where a line has more of them
 * than the window has pixels they become shares of columns (shares.ts), from the level-of-detail pyramid when the
 * window is wide.
 */

import { isStale, touching } from '../../derive/query.ts';
import type { LaneIndex, RunIndex, Strand } from '../../derive/types.ts';
import type { Chart } from './counters.ts';
import type { LaneBox, Layout } from './layout.ts';
import type { Line } from './lines.ts';
import { type LinkLine, linksOf } from './links.ts';
import type { PointMarks } from './points.ts';
import { RectList } from './rects.ts';
import type { Score } from './score.ts';
import { addShares, columnPx, fromLevel, fromSpans } from './shares.ts';
import { type MarkStyle, shades, stylesFor } from './styles.ts';

export interface LaneMarks {
  /** Wide and narrow marks, by rank of their kind. */
  readonly rects: readonly RectList[];
  /** Shares of columns where marks would be narrower than a pixel. */
  readonly shares: readonly RectList[];
  readonly links: readonly LinkLine[];
  /** There are more links than can be distinguished; none are drawn. */
  readonly linksHidden: number;
  readonly points: readonly PointMarks[];
  readonly charts: readonly Chart[];
}

/** Lists of one lane while they are filled. */
interface Gathering {
  readonly layout: Layout;
  readonly box: LaneBox;
  readonly styles: readonly MarkStyle[];
  readonly rects: readonly RectList[];
  readonly shares: readonly RectList[];
  /** Where rows are CPUs, neighbours tell threads apart by their shade. */
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

/** One rectangle, clipped to the window; at least as wide as its style asks. */
function addRect({ layout, box }: Gathering, line: Line, list: RectList, t0: number, t1: number) {
  const { style } = list;
  let x0 = layout.left + (t0 - box.t0) / layout.nsPerPx;
  let x1 = layout.left + (t1 - box.t0) / layout.nsPerPx;
  if (x1 < layout.left || x0 > layout.right || (x1 === layout.left && t1 > t0)) return;
  if (x1 - x0 < style.leastPx) x1 = x0 + style.leastPx;
  // A clipped mark runs on under the edge, so that its round end does not look like its end.
  x0 = Math.max(x0, layout.left - 8);
  x1 = Math.min(x1, layout.right + 8);
  list.push(x0, line.top - style.tall, x1 - x0, line.height + 2 * style.tall);
}

/** Functions under the row of their thread; none of them in a crowd. */
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

/** Spans that have not ended yet reach up to what is known. */
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

/** The line on which an open span stands; null: it is stale, or not shown. */
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

/** How many open calls of a row began before t. */
function openBefore(lane: LaneIndex, row: number, t: number): number {
  let n = 0;
  for (let i = 0; i < lane.open.length; i++) {
    if (lane.open.row[i] !== row || lane.layerOf(lane.open.kind[i]!) !== 'function') continue;
    if (lane.open.t0[i]! < t && !isStale(lane, 'function', i)) n += 1;
  }
  return n;
}
