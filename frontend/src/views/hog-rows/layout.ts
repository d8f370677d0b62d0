// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Where everything stands: lanes stacked on one time axis like the staves of a score. Pure; pixels are CSS pixels.
 * The marks themselves are in marks.ts.
 */

import { formatCount, formatMoment } from '../../base/units.ts';
import { laneTime } from '../../derive/align.ts';
import { opsUpTo } from '../../derive/query.ts';
import type { Frame, LaneIndex, Row, RunIndex, Size } from '../../derive/types.ts';
import { type AxisTick, msTicks } from '../axis.ts';
import { tickPhase } from './ticks.ts';

/** What the lesson and the scene say about the picture. */
export interface Score {
  readonly arms: readonly {
    readonly name: string;
    readonly title: string;
    readonly role: string;
    readonly summary: string;
  }[];
  readonly tracks: readonly {
    readonly name: string;
    readonly title: string;
    readonly lesson: boolean;
  }[];
  readonly operation: { readonly name: string; readonly plural: string };
  readonly showTracks: boolean;
  readonly showLinks: boolean;
  /** Titles are drawn here, or left free for the page. */
  readonly ownHeaders: boolean;
  readonly headerHeight: number;
  /** Of all text, px. Heights that hold text grow with it. */
  readonly fontSize: number;
}

export interface RowBox {
  readonly row: number;
  readonly role: Row['role'];
  readonly label: string;
  /** A second line under the label. */
  readonly aside: string;
  /** The label stands above the row at its left, for want of a margin. */
  readonly labelAbove: boolean;
  readonly top: number;
  readonly height: number;
}

export interface LaneBox {
  readonly lane: LaneIndex;
  readonly arm: string;
  readonly title: string;
  readonly subtitle: string;
  readonly count: string;
  readonly countUnit: string;
  /** Top of the header. */
  readonly top: number;
  readonly headerHeight: number;
  readonly bodyTop: number;
  readonly bottom: number;
  /** Operations and functions are named on the rows. */
  readonly annotated: boolean;
  readonly hogs: readonly RowBox[];
  readonly strips: readonly RowBox[];
  /** x of the lane's own ticks; empty when their phase is not known. */
  readonly ticks: readonly number[];
  /** [from, to) where nothing is known yet, px; null: all of the window is known. */
  readonly unknown: readonly [number, number] | null;
  /** Where the lane's run ended, px. */
  readonly endX: number | null;
  readonly losses: readonly {
    readonly x0: number;
    readonly x1: number;
    readonly events: number | null;
  }[];
  /** History that was evicted, up to here, px. */
  readonly evictedTo: number | null;
  /** Lane time at x = left, and ns per px. */
  readonly t0: number;
}

export interface Layout {
  readonly width: number;
  readonly height: number;
  readonly fontSize: number;
  /** Names of rows stand in a margin; else above their rows. */
  readonly margin: boolean;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly nsPerPx: number;
  readonly lanes: readonly LaneBox[];
  readonly axisY: number;
  readonly ticks: readonly AxisTick[];
  readonly playheadX: number | null;
  readonly readout: string;
  /** Marks right of this are faint: they have not happened yet at the moment. */
  readonly revealX: number;
}

const wideFrom = 760;
const axisHeight = 44;
const readoutHeight = 30;
const mostPitch = 66;
/** From here a row has room for the names of its operations above and its functions below. */
const annotatedPitch = 58;
const leastPitch = 8;
const comfortablePitch = 9;
const stripHeight = 16;
const stripPitch = 20;
const asideHeight = 9;
const stripGap = 8;
const laneGap = 26;
const labelLine = 17;

/** "expedited RCU (not the lesson)" -> the name, and what it is said to be aside. */
function labelOfTrack(score: Score, row: Row): { label: string; aside: string } {
  const track = score.tracks.find((t) => t.name === row.name || t.title === row.name);
  const label = (track?.title ?? row.name).split(' (')[0]!;
  return { label, aside: track?.lesson === false ? 'not the lesson' : '' };
}

/** How much room strips get: all, no second lines, or no names above. */
interface Room {
  readonly asides: boolean;
  readonly above: boolean;
}

interface Strip {
  readonly row: Row;
  readonly label: string;
  readonly aside: string;
  readonly pitch: number;
  readonly height: number;
}

function stripsOf(lane: LaneIndex, score: Score, room: Room): Strip[] {
  if (!score.showTracks) return [];
  return lane.rows
    .filter((row) => row.role === 'track')
    .map((row) => {
      const { label, aside } = labelOfTrack(score, row);
      const em = score.fontSize / 13;
      const height = Math.round((aside === '' ? stripHeight : asideHeight) * em);
      const second = aside !== '' && room.asides && !room.above ? 12 : 0;
      return {
        row,
        label,
        aside,
        height,
        pitch: Math.round((stripPitch + second + (room.above ? labelLine : 0)) * em),
      };
    });
}

function stripsHeight(strips: readonly Strip[]): number {
  return strips.length === 0 ? 0 : strips.reduce((sum, s) => sum + s.pitch, stripGap);
}

/** Rows that are drawn as hogs: the hogs, then readers and others that do something. */
function threads(lane: LaneIndex): readonly Row[] {
  const order = { thread: 0, other: 1, track: 2 } as const;
  return lane.rows
    .filter((row) => row.role !== 'track')
    .sort((a, b) => order[a.role] - order[b.role] || a.row - b.row);
}

/** The height at which rows stand comfortably, px. */
export function preferredHeight(index: RunIndex, score: Score): number {
  const rows = index.lanes.reduce((sum, lane) => sum + Math.max(1, threads(lane).length), 0);
  // Few rows may be large: one hog alone fills some of the stage.
  const pitch = Math.max(17, Math.min(mostPitch, 190 / rows));
  const em = score.fontSize / 13;
  let height = (readoutHeight + axisHeight) * em;
  for (const lane of index.lanes) {
    height += score.headerHeight + Math.max(1, threads(lane).length) * pitch * em + laneGap;
    height += stripsHeight(stripsOf(lane, score, { asides: true, above: false }));
  }
  return height;
}

/** All of the picture's fixed points. */
export function layoutScore(index: RunIndex, frame: Frame, size: Size, score: Score): Layout {
  const em = score.fontSize / 13;
  const margin = size.width >= wideFrom * em;
  const left = Math.round((margin ? 140 : 34) * em);
  const right = size.width - 14;
  const nsPerPx = frame.span / Math.max(1, right - left);
  const above = !margin;
  const roomy = pitchFor(index, size, score, { asides: true, above });
  const room = { asides: roomy >= comfortablePitch * em, above };
  const free = room.asides ? roomy : pitchFor(index, size, score, room);
  const pitch = Math.max(leastPitch, Math.min(mostPitch * em, Math.floor(free)));
  const playheadX = xOf(frame.moment, frame, left, nsPerPx);
  const top = Math.round(readoutHeight * em);
  let y = top;
  const lanes = index.lanes.map((lane, i) => {
    const box = laneBox(index, lane, frame, score, { y, pitch, left, right, nsPerPx, room });
    y = box.bottom + (i === index.lanes.length - 1 ? 0 : laneGap);
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
    ticks: msTicks({ start: frame.start, span: frame.span, left, right }, 76 * em, index.tickNs),
    playheadX: playheadX >= left - 0.5 && playheadX <= right + 0.5 ? playheadX : null,
    readout: formatMoment(frame.moment, frame.span / 3),
    revealX: frame.reveal === 'window' ? right : Math.max(left, Math.min(right, playheadX)),
  };
}

/** Height left for each row of a thread, px. */
function pitchFor(index: RunIndex, size: Size, score: Score, room: Room): number {
  const em = score.fontSize / 13;
  let fixed = (readoutHeight + axisHeight) * em + Math.max(0, index.lanes.length - 1) * laneGap;
  let rows = 0;
  for (const lane of index.lanes) {
    fixed += score.headerHeight + stripsHeight(stripsOf(lane, score, room));
    rows += Math.max(1, threads(lane).length);
  }
  return (size.height - fixed) / Math.max(1, rows);
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
  const hogs = threads(lane).map((row, i) => ({
    row: row.row,
    role: row.role,
    label: row.name,
    aside: '',
    labelAbove: false,
    top: bodyTop + i * pitch + Math.round((pitch - bar) / 2),
    height: bar,
  }));
  const hogsBottom = bodyTop + Math.max(1, hogs.length) * pitch;
  let stripY = hogsBottom + stripGap;
  const strips = stripsOf(lane, score, at.room).map((strip): RowBox => {
    const { label, aside, height, row } = strip;
    const top = stripY + (at.room.above ? Math.round((labelLine * score.fontSize) / 13) : 0);
    stripY += strip.pitch;
    return {
      row: row.row,
      role: row.role,
      label,
      aside: at.room.asides || at.room.above ? aside : '',
      labelAbove: at.room.above,
      top,
      height,
    };
  });
  const bottom = strips.length > 0 ? stripY : hogsBottom;
  const unknownFrom = lane.ended ? Number.POSITIVE_INFINITY : x(lane.watermark);
  const endX = lane.ended ? x(lane.watermark) : null;
  const ops = opsUpTo(lane, laneTime(frame.offset, lane.arm, frame.moment));
  return {
    lane,
    arm: lane.arm,
    title: arm?.title ?? lane.arm,
    subtitle: arm === undefined ? '' : `${arm.role} · ${arm.summary}`,
    count: formatCount(ops),
    countUnit: `${ops === 1 ? score.operation.name : score.operation.plural} so far`,
    top: y,
    headerHeight: score.headerHeight,
    bodyTop,
    bottom,
    annotated,
    hogs,
    strips,
    ticks: laneTicks(index, lane, t0, frame.span, x),
    unknown: unknownFrom < right ? [Math.max(left, unknownFrom), right] : null,
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
    t0,
  };
}

/** Where the lane's ticks lie in the window; none when they would stand closer than 12 px or are not known. */
function laneTicks(
  index: RunIndex,
  lane: LaneIndex,
  t0: number,
  span: number,
  x: (t: number) => number,
): number[] {
  if (x(t0 + index.tickNs) - x(t0) < 12) return [];
  const phase = tickPhase(index, lane);
  if (phase === null) return [];
  const ticks: number[] = [];
  const first = Math.ceil((t0 - phase) / index.tickNs) * index.tickNs + phase;
  for (let t = first; t < t0 + span; t += index.tickNs) ticks.push(x(t));
  return ticks;
}
