// SPDX-License-Identifier: GPL-2.0-or-later
/** The whole run on one strip: per lane, how much of the threads' time was work and how much was waiting. Pure. */

import { t as tr } from '../../base/lang/t.ts';
import { axisFlag } from '../../derive/align.ts';
import { isWait, threadRows } from '../../derive/query.ts';
import { stepNs } from '../../derive/retime.ts';
import type { Frame, LaneIndex, RunIndex, Size } from '../../derive/types.ts';
import { type AxisTick, countTicks, runTicks } from '../axis.ts';

export interface Bar {
  readonly x: number;
  readonly w: number;
  /** Shares of the threads' time, 0 to 1. */
  readonly work: number;
  readonly wait: number;
}

export interface Band {
  readonly arm: string;
  readonly title: string;
  readonly top: number;
  readonly height: number;
  readonly bars: readonly Bar[];
  readonly lossXs: readonly number[];
}

export interface OverviewLayout {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
  readonly end: number;
  readonly nsPerPx: number;
  readonly bands: readonly Band[];
  readonly window: readonly [number, number];
  readonly momentX: number;
  readonly axisY: number;
  /** A strip that is too low for its lanes has no axis, and one that is lower yet no titles. */
  readonly axis: boolean;
  readonly titles: boolean;
  /** By what the lanes are aligned, short. */
  readonly aligned: string;
  /** Where; null: each lane has its own time. */
  readonly flagX: number | null;
  readonly ticks: readonly AxisTick[];
}

/** Room for the longest title of a lane, 13 px; the strip itself keeps the most. */
function labelWidth(index: RunIndex, titleOf: (arm: string) => string): number {
  const longest = Math.max(0, ...index.lanes.map((lane) => titleOf(lane.arm).length));
  return Math.max(112, Math.min(176, 24 + longest * 6.6));
}

const axisHeight = 20;
/** Of a lane, with an axis below; and where its title can still be read, px. */
const comfortable = 14;
const least = 12;
/** Room for the words of a tick. */
const tickPx = 64;

/** A live run grows into round lengths, so that the strip does not shrink at every frame. */
export function lengthOf(index: RunIndex, offset?: Frame['offset']): number {
  const shift = (lane: LaneIndex) => offset?.get(lane.arm) ?? 0;
  const end = Math.max(1e6, ...index.lanes.map((lane) => lane.watermark + shift(lane)));
  if (!index.live) return end;
  const step = 2 ** Math.ceil(Math.log2(end / 1e9 + 0.25)) * 1e9;
  return Math.max(end, step);
}

/** An arrow key moves by this: of a window that is narrow in the run by all of it, so that nothing is left out. */
export function keyStep(length: number, { span }: Pick<Frame, 'span'>): number {
  return Math.min(length / 200, span);
}

export function layoutOverview(
  index: RunIndex,
  frame: Frame,
  size: Size,
  titleOf: (arm: string) => string,
  operation = 'operation',
): OverviewLayout {
  const lanes = Math.max(1, index.lanes.length);
  const axis = size.height - axisHeight - 4 >= lanes * comfortable;
  const height = size.height - (axis ? axisHeight : 0) - 4;
  const pitch = height / lanes;
  const titles = size.width > 420 && pitch >= least;
  const left = titles ? labelWidth(index, titleOf) : 4;
  const right = size.width - 4;
  const end = lengthOf(index, frame.offset);
  const nsPerPx = end / Math.max(1, right - left);
  const x = (t: number) => left + t / nsPerPx;
  const shiftOf = (lane: LaneIndex) => frame.offset.get(lane.arm) ?? 0;
  const flag = axisFlag(index, frame, operation);
  const bands = index.lanes.map((lane, i) => ({
    arm: lane.arm,
    title: titleOf(lane.arm),
    top: 2 + i * pitch,
    height: Math.max(6, pitch - 4),
    bars: barsOf(index, lane, x(shiftOf(lane)), nsPerPx),
    lossXs: lane.losses.map((loss) => x((loss.t0 + loss.t1) / 2 + shiftOf(lane))),
  }));
  const limit = (px: number) => Math.max(left, Math.min(right, px));
  return {
    left,
    right,
    top: 2,
    bottom: 2 + height,
    end,
    nsPerPx,
    bands,
    window: [limit(x(frame.start)), limit(x(frame.start + frame.span))],
    momentX: limit(x(frame.moment)),
    axisY: axis ? size.height - axisHeight : size.height,
    axis,
    titles,
    aligned: tr('by {words}', { words: flag?.words ?? index.axis?.plural ?? tr('time') }),
    flagX: flag === null ? null : limit(x(flag.t)),
    ticks:
      index.axis === null
        ? runTicks(end, left, right, tickPx)
        : countTicks(end / stepNs, left, right, tickPx),
  };
}

/** Columns of at least 3 px out of the pyramid of every thread. */
function barsOf(index: RunIndex, lane: LaneIndex, left: number, nsPerPx: number): Bar[] {
  const strands = threadRows(lane).flatMap((row) => lane.strand(row.row, 'state') ?? []);
  const sample = strands[0];
  // Where the axis counts there is no time in state, but there are operations.
  if (sample === undefined || sample.levels.length === 0) return opBars(lane, left, nsPerPx);
  const level =
    sample.levels.findIndex((l) => l.bucketNs >= 3 * nsPerPx) >= 0
      ? sample.levels.findIndex((l) => l.bucketNs >= 3 * nsPerPx)
      : sample.levels.length - 1;
  const finer = Math.max(0, level - 1);
  const { bucketNs, kindOf, kinds } = sample.levels[finer]!;
  const perBar = Math.max(1, Math.ceil((3 * nsPerPx) / bucketNs));
  const buckets = Math.ceil(lane.watermark / bucketNs);
  const isWork = [...kindOf].map((k) => index.kinds[k]?.colour === 'work');
  const waits = [...kindOf].map((k) => isWait(index.kinds[k]));
  const bars: Bar[] = [];
  for (let first = 0; first < buckets; first += perBar) {
    let work = 0;
    let wait = 0;
    for (const strand of strands) {
      const { ns, buckets: known } = strand.levels[finer]!;
      for (let b = first; b < Math.min(first + perBar, known); b++) {
        for (let k = 0; k < kinds; k++) {
          if (isWork[k]) work += ns[b * kinds + k]!;
          else if (waits[k]) wait += ns[b * kinds + k]!;
        }
      }
    }
    const to = Math.min(lane.watermark, (first + perBar) * bucketNs);
    const whole = strands.length * (to - first * bucketNs);
    if (whole <= 0) continue;
    const x = left + (first * bucketNs) / nsPerPx;
    bars.push({ x, w: (to - first * bucketNs) / nsPerPx, work: work / whole, wait: wait / whole });
  }
  return bars;
}

/** One bar an operation, in its own length; those that would be narrower than 3 px share one. */
function opBars(lane: LaneIndex, left: number, nsPerPx: number): Bar[] {
  const { order, length } = lane.opsByEnd;
  const bars: Bar[] = [];
  let from = Number.NaN;
  for (let p = 0; p < length; p++) {
    const i = order[p]!;
    if (Number.isNaN(from)) from = lane.ops.t0[i]!;
    const w = (lane.ops.t1[i]! - from) / nsPerPx;
    if (w < 3 && p < length - 1) continue;
    bars.push({ x: left + from / nsPerPx, w: Math.max(2, w - 1), work: 0.7, wait: 0 });
    from = Number.NaN;
  }
  return bars;
}
