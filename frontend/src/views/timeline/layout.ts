// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Computes all positions in CSS pixels. Lanes are stacked on one time axis like staves. lines.ts decides which lines a
 * lane has, and marks.ts computes the marks on these lines. Pure.
 */

import { scaleLinear } from 'd3-scale';
import { firstAtLeast } from '../../base/columns.ts';
import { t as tr } from '../../base/lang/t.ts';
import { formatCount, formatMoment } from '../../base/units.ts';
import { laneTime } from '../../derive/align.ts';
import { frozenText } from '../../derive/figures.ts';
import { isStale, opsUpTo } from '../../derive/query.ts';
import { momentWords, stepNs } from '../../derive/retime.ts';
import type {
  Frame,
  KindFacts,
  LaneIndex,
  Mark,
  RunIndex,
  Size,
  Strand,
} from '../../derive/types.ts';
import { type AxisTick, msTicks, wholeTicks } from '../axis.ts';
import type { Box } from '../contract.ts';
import type { Grid } from '../tick-marks.ts';
import {
  below,
  belowHeight,
  type Line,
  laneGap,
  nestedHeight,
  operations,
  type Room,
  rooms,
  rowsOf,
  threadLines,
} from './lines.ts';
import type { Score } from './score.ts';

export interface LaneBox {
  readonly lane: LaneIndex;
  readonly arm: string;
  readonly title: string;
  readonly subtitle: string;
  readonly count: string;
  readonly countUnit: string;
  /** The y of the header's top, px. */
  readonly top: number;
  readonly headerHeight: number;
  readonly bodyTop: number;
  readonly bottom: number;
  /** Whether operation names are drawn above the rows. */
  readonly annotated: boolean;
  /** The lane's rows, one per thread or CPU. */
  readonly rows: readonly Line[];
  /** The lines that show tracks. */
  readonly strips: readonly Line[];
  /** All lines with marks, from top to bottom. */
  readonly lines: readonly Line[];
  /** The x of each of the lane's own scheduler ticks; empty if their phase is unknown. */
  readonly ticks: readonly number[];
  /**
   * The horizontal part [from, to) whose data have not arrived yet, px; null if all data of the window have arrived.
   */
  readonly unknown: readonly [number, number] | null;
  /** The x at which the lane's run ends, px. */
  readonly endX: number | null;
  readonly losses: readonly {
    readonly x0: number;
    readonly x1: number;
    readonly events: number | null;
  }[];
  /** The x at which the evicted history ends, px. */
  readonly evictedTo: number | null;
  /** Lane time at the left edge, ns. */
  readonly t0: number;
}

export interface Layout {
  readonly width: number;
  readonly height: number;
  readonly fontSize: number;
  /** Whether row names are in a margin; otherwise each name is above its row. */
  readonly margin: boolean;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly nsPerPx: number;
  readonly lanes: readonly LaneBox[];
  readonly axisY: number;
  readonly ticks: readonly AxisTick[];
  /** The unit that the axis counts, such as "ms". */
  readonly unit: string;
  readonly playheadX: number | null;
  readonly readout: string;
  /** Marks to the right of this x are faint, because they are after the moment. */
  readonly revealX: number;
}

const wideFrom = 760;
const axisHeight = 44;
const readoutHeight = 30;
const mostPitch = 66;
/** Maximum height of a row if the stage has only this row, px. */
const alonePitch = 150;
/** Factor by which rows can grow if the stage is higher than the preferred height. */
const stretch = 1.6;
/** Minimum distance between rows at which operation names fit above the row, and function names below the row, px. */
const annotatedPitch = 58;
const leastPitch = 6;
const comfortablePitch = 9;
/** Minimum distance between rows at which each row shows its name, px at 13 px text. */
export const namedPitch = 14;

/** Comfortable height of the picture, px. */
export function preferredHeight(index: RunIndex, score: Score): number {
  const count = (lane: LaneIndex) => Math.max(1, rowsOf(index, lane, score).length);
  const rows = index.lanes.reduce((sum, lane) => sum + count(lane), 0);
  // If there are few rows, each row can be high, so that even a single thread fills part of the stage.
  const pitch = Math.max(17, Math.min(mostOf(rows), 190 / rows));
  const em = score.fontSize / 13;
  const [room] = rooms(score, false);
  let height = (readoutHeight + axisHeight) * em;
  for (const lane of index.lanes) {
    height += score.headerHeight + count(lane) * pitch * em + laneGap(room!);
    height += nestedHeight(index, lane, score, room!) + belowHeight(index, lane, score, room!);
  }
  return height;
}

function mostOf(rows: number): number {
  return rows === 1 ? alonePitch : mostPitch;
}

/** Whether row names are in a margin. */
export function hasMargin({ width }: Pick<Size, 'width'>, { fontSize }: Pick<Score, 'fontSize'>) {
  return width >= (wideFrom * fontSize) / 13;
}

/** Compute all positions of a picture. */
export function layoutScore(index: RunIndex, frame: Frame, size: Size, score: Score): Layout {
  const em = score.fontSize / 13;
  const margin = hasMargin(size, score);
  const left = Math.round((margin ? score.look.margin : 34) * em);
  const right = size.width - 14;
  const nsPerPx = frame.span / Math.max(1, right - left);
  const { room, free } = roomFor(index, size, score, !margin);
  const rows = rowCount(index, score);
  const pitch = Math.max(leastPitch, Math.min(mostOf(rows) * em * stretch, Math.floor(free)));
  const playheadX = xOf(frame.moment, frame, left, nsPerPx);
  const top = Math.round(readoutHeight * em);
  let y = top;
  const lanes = index.lanes.map((lane, i) => {
    const box = laneBox(index, lane, frame, score, { y, pitch, left, right, nsPerPx, room });
    y = box.bottom + (i === index.lanes.length - 1 ? 0 : laneGap(room));
    return box;
  });
  return {
    width: size.width,
    height: size.height,
    fontSize: score.fontSize,
    margin,
    left,
    right,
    top,
    nsPerPx,
    lanes,
    axisY: y + 10,
    ...axisOf(index, { start: frame.start, span: frame.span, left, right }, 76 * em),
    playheadX: playheadX >= left - 0.5 && playheadX <= right + 0.5 ? playheadX : null,
    readout:
      index.axis === null
        ? formatMoment(frame.moment, frame.span / 3)
        : momentWords(index.axis, frame.moment),
    revealX: frame.reveal === 'window' ? right : Math.max(left, Math.min(right, playheadX)),
  };
}

/** Ticks in milliseconds, or in the unit that the run's axis counts. */
function axisOf(
  index: RunIndex,
  window: { start: number; span: number; left: number; right: number },
  leastPx: number,
): { readonly ticks: readonly AxisTick[]; readonly unit: string } {
  if (index.axis === null) return { ticks: msTicks(window, leastPx, index.tickNs), unit: 'ms' };
  const { start, span, left, right } = window;
  const scale = scaleLinear([start / stepNs, (start + span) / stepNs], [left, right]);
  const ticks = wholeTicks(scale, leastPx).map((n) => ({ x: scale(n), label: formatCount(n) }));
  return { ticks, unit: index.axis.plural };
}

/**
 * Choose the most generous layout (Room) that leaves enough height for the rows. Return the layout and the height per
 * row.
 */
function roomFor(index: RunIndex, size: Size, score: Score, above: boolean) {
  const em = score.fontSize / 13;
  // Showing row names is more important than showing second lines of labels.
  const named = score.look.functions === 'brackets' ? namedPitch : comfortablePitch;
  const tried = rooms(score, above).map((room) => ({
    room,
    free: pitchFor(index, size, score, room),
  }));
  for (const least of [named, comfortablePitch]) {
    const found = tried.find(({ free }) => free >= least * em);
    if (found !== undefined) return found;
  }
  return tried.at(-1)!;
}

/** Minimum height of the picture, px; on a lower canvas the lowest lane would be cut off. */
export function leastHeight(index: RunIndex, score: Score, above: boolean): number {
  const least = rooms(score, above).at(-1)!;
  return fixedHeight(index, score, least) + leastPitch * rowCount(index, score);
}

function rowCount(index: RunIndex, score: Score): number {
  return index.lanes.reduce((n, lane) => n + Math.max(1, rowsOf(index, lane, score).length), 0);
}

/** Height of everything except the thread rows, px. */
function fixedHeight(index: RunIndex, score: Score, room: Room): number {
  const em = score.fontSize / 13;
  const gaps = Math.max(0, index.lanes.length - 1) * laneGap(room);
  const ofLane = (lane: LaneIndex) =>
    score.headerHeight +
    nestedHeight(index, lane, score, room) +
    belowHeight(index, lane, score, room);
  const lanes = index.lanes.reduce((sum, lane) => sum + ofLane(lane), 0);
  return (readoutHeight + axisHeight) * em + gaps + lanes;
}

/** Height that remains for each thread row, px. */
function pitchFor(index: RunIndex, size: Size, score: Score, room: Room): number {
  const free = size.height - fixedHeight(index, score, room);
  return free / Math.max(1, rowCount(index, score));
}

function xOf(t: number, frame: Frame, left: number, nsPerPx: number): number {
  return left + (t - frame.start) / nsPerPx;
}

interface Place {
  readonly y: number;
  readonly pitch: number;
  readonly left: number;
  readonly right: number;
  readonly nsPerPx: number;
  readonly room: Room;
}

function laneBox(index: RunIndex, lane: LaneIndex, frame: Frame, score: Score, at: Place): LaneBox {
  const { y, pitch, left, right, nsPerPx } = at;
  const arm = score.arms.find((a) => a.name === lane.arm);
  const t0 = laneTime(frame.offset, lane.arm, frame.start);
  const x = (t: number) => left + (t - t0) / nsPerPx;
  const bodyTop = y + score.headerHeight;
  const annotated = pitch >= annotatedPitch * (score.fontSize / 13);
  const bar = Math.max(5, Math.round(pitch * (annotated ? 0.42 : pitch > 36 ? 0.58 : 0.66)));
  const threads = threadLines(index, lane, score, { top: bodyTop, pitch, bar, room: at.room });
  const low = below(index, lane, score, at.room, threads.bottom);
  const ops = opsUpTo(lane, laneTime(frame.offset, lane.arm, frame.moment));
  return {
    lane,
    arm: lane.arm,
    title: arm?.title ?? lane.arm,
    subtitle: arm === undefined ? '' : `${arm.role} · ${arm.summary}`,
    count: frozenText(`operations of ${lane.arm}`, formatCount(ops)),
    countUnit: tr('{ops} so far', {
      ops: ops === 1 ? score.operation.name : score.operation.plural,
    }),
    top: y,
    headerHeight: score.headerHeight,
    bodyTop,
    bottom: low.bottom,
    annotated,
    rows: threads.lines.filter((line) => line.what === 'row'),
    strips: low.lines.filter((line) => line.what === 'track'),
    lines: [...threads.lines, ...low.lines],
    ticks: laneTicks(score.look.ticks(index, lane), t0, frame.span, x),
    ...zonesOf(lane, x, left, right),
    t0,
  };
}

/** Zones in which the lane is unknown, has ended, or lost events. */
function zonesOf(lane: LaneIndex, x: (t: number) => number, left: number, right: number) {
  const unknownFrom = lane.ended ? Number.POSITIVE_INFINITY : x(lane.watermark);
  const endX = lane.ended ? x(lane.watermark) : null;
  return {
    unknown: unknownFrom < right ? ([Math.max(left, unknownFrom), right] as const) : null,
    endX: endX !== null && endX > left && endX < right ? endX : null,
    losses: lane.losses
      .map((loss) => ({
        x0: x(loss.t0),
        x1: Math.max(x(loss.t1), x(loss.t0) + 3),
        events: loss.events,
      }))
      .filter((loss) => loss.x1 > left && loss.x0 < right)
      .map((loss) => ({ ...loss, x0: Math.max(left, loss.x0), x1: Math.min(right, loss.x1) })),
    evictedTo:
      x(lane.historyFrom) > left && lane.historyFrom > 0
        ? Math.min(right, x(lane.historyFrom))
        : null,
  };
}

/** The lane's ticks in the window; empty if they are unknown or closer than 12 px. */
function laneTicks(grid: Grid | null, t0: number, span: number, x: (t: number) => number) {
  if (grid === null || x(t0 + grid.every) - x(t0) < 12) return [];
  const ticks: number[] = [];
  const first = Math.ceil((t0 - grid.at) / grid.every) * grid.every + grid.at;
  for (let t = first; t < t0 + span; t += grid.every) ticks.push(x(t));
  return ticks;
}

// Finds the line of a mark, and the mark's position on this line.

/** Open spans on a line, as indices in `lane.open`. */
export function openOn(lane: LaneIndex, line: Line, score: Score): number[] {
  if (score.rows === 'cpus' && line.what === 'row') return [];
  const { open } = lane;
  const found: number[] = [];
  for (let i = 0; i < open.length; i++) {
    const layer = lane.layerOf(open.kind[i]!);
    if (open.row[i] !== line.row || layer === undefined || layer === 'mark') continue;
    if (onLine(layer, line, score) && !isStale(lane, layer, i)) found.push(i);
  }
  if (line.what !== 'function') return found;
  found.sort((a, b) => open.t0[a]! - open.t0[b]!);
  return found.slice(line.depth, line.depth + 1);
}

function onLine(layer: KindFacts['layer'], line: Line, score: Score): boolean {
  if (line.what === 'track') return layer === 'track';
  if (line.what === 'function') return layer === 'function';
  return layer === 'state' || (layer === 'function' && score.look.functions === 'brackets');
}

/** The line of a mark; null if the line is not shown. */
function lineOf(box: LaneBox, mark: Mark, score: Score): Line | null {
  if (mark.table === 'points') {
    const name = score.points[mark.kind]?.name ?? '';
    const counter = score.counters.find(({ point }) => point === name)?.name;
    return (
      box.lines.find((l) => l.what === 'point' && l.points.includes(name)) ??
      box.lines.find((l) => l.what === 'counter' && l.points[0] === counter) ??
      null
    );
  }
  if (mark.table === 'ops' || mark.table === 'samples') {
    const name = mark.table === 'ops' ? operations : score.counters[mark.kind]?.name;
    return (
      box.lines.find((l) => l.what === 'counter' && l.points[0] === name) ??
      box.rows.find(
        (l) => mark.table === 'ops' && score.rows === 'threads' && l.row === mark.row,
      ) ??
      null
    );
  }
  const layer = box.lane.layerOf(mark.kind);
  if (layer === undefined) return null;
  const row = score.rows === 'cpus' && layer === 'state' ? cpuOf(box.lane, mark) : mark.row;
  const of = box.lines.filter((l) => l.row === row && onLine(layer, l, score));
  if (of[0]?.what !== 'function') return of[0] ?? null;
  return of.find((l) => holds(box.lane, l, mark, score)) ?? null;
}

/** Boxes of a mark in the window; empty if the mark is outside the view. */
export function boxesOf(layout: Layout, score: Score, mark: Mark): readonly Box[] {
  const box = layout.lanes.find(({ arm }) => arm === mark.arm);
  const line = box && lineOf(box, mark, score);
  if (!box || !line) return [];
  const x = (t: number) => layout.left + (t - box.t0) / layout.nsPerPx;
  const [x0, x1] = [Math.max(layout.left - 3, x(mark.t0)), Math.min(layout.right + 3, x(mark.t1))];
  return x1 < x0 ? [] : [{ x: x0, y: line.top, w: x1 - x0, h: line.height }];
}

function cpuOf(lane: LaneIndex, mark: Mark): number {
  const strand = lane.strand(mark.row, 'state');
  const p = strand === null ? -1 : placeIn(lane, strand, mark);
  return p < 0 ? -1 : lane.spans.cpu[strand!.order[p]!]!;
}

function holds(lane: LaneIndex, line: Line, mark: Mark, score: Score): boolean {
  if (mark.open) return openOn(lane, line, score).some((i) => lane.open.id[i] === mark.id);
  return line.strand !== null && placeIn(lane, line.strand, mark) >= 0;
}

/** Position of a mark in a strand; -1 if the strand does not contain the mark. */
function placeIn(lane: LaneIndex, strand: Strand, mark: Mark): number {
  const at = (p: number) => lane.spans.t0[strand.order[p]!]!;
  for (let p = firstAtLeast(strand.length, at, mark.t0); p < strand.length; p++) {
    if (at(p) > mark.t0) return -1;
    if (lane.spans.id[strand.order[p]!] === mark.id) return p;
  }
  return -1;
}
