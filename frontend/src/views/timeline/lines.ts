// SPDX-License-Identifier: GPL-2.0-or-later
/** The lines of a lane from top to bottom: rows with what is nested in them, tracks, points. Heights give way to room. */

import { t as tr } from '../../base/lang/t.ts';
import type { LaneIndex, Row, RunIndex, Strand } from '../../derive/types.ts';
import { bandsOf } from './bands.ts';
import { cpuStrands } from './cpus.ts';
import type { Score } from './score.ts';
import { seriesOf } from './series.ts';

export interface Line {
  /** `row`: states of a thread, or what runs on a CPU. `function`: one depth of calls below its row. */
  readonly what: 'row' | 'function' | 'track' | 'point' | 'counter' | 'extra';
  /** Row of the lane; the CPU where rows are CPUs; -1 for points. */
  readonly row: number;
  readonly role: Row['role'];
  /** Of a function: 0 is the outermost. */
  readonly depth: number;
  /** Points that are drawn on it, by name; of a counter or an extra its name. */
  readonly points: readonly string[];
  readonly label: string;
  /** A second line under the label. */
  readonly aside: string;
  /** The label stands above the row at its left, or on it, for want of a margin. */
  readonly labelAbove: boolean;
  readonly labelOn: boolean;
  readonly top: number;
  readonly height: number;
  /** Spans of one depth, or of one CPU; null: the lane's own strands of this row. */
  readonly strand: Strand | null;
}

/** How much room what stands below the rows gets. */
export interface Room {
  /** Second lines under labels. */
  readonly asides: boolean;
  /** Names above their lines, for want of a margin. */
  readonly above: boolean;
  /** Names on their lines, for want of height as well; and what is not the lesson is left out. */
  readonly on?: boolean;
  /** Height of one depth of functions, px at 13 px; 0: none are drawn. */
  readonly band: number;
  /** A line for each kind of point, or one for all. */
  readonly points: 'each' | 'one';
  /** Height of a counter, px at 13 px; 0: none are drawn. */
  readonly chart: number;
}

/** From generous to cramped. */
export function rooms(score: Score, above: boolean): readonly Room[] {
  if (score.look.functions === 'brackets') {
    return [
      { asides: true, above, band: 0, points: 'each', chart: 0 },
      { asides: false, above, band: 0, points: 'each', chart: 0 },
      { asides: false, above, on: true, band: 0, points: 'each', chart: 0 },
    ];
  }
  return [
    { asides: true, above, band: 17, points: 'each', chart: 44 },
    { asides: true, above, band: 10, points: 'each', chart: 36 },
    { asides: false, above, band: 6, points: 'one', chart: 28 },
    { asides: false, above, band: 4, points: 'one', chart: 0 },
    { asides: false, above, band: 0, points: 'one', chart: 0 },
  ];
}

/** Between two lanes, px. */
export function laneGap(room: Room): number {
  return room.on ? 14 : 26;
}

const stripHeight = 16;
const stripPitch = 20;
const asideHeight = 9;
const stripGap = 8;
const labelLine = 17;
const bandGap = 3;
/** Letters of a label in the margin. */
const mostLabel = 20;
const chartGap = 10;

/** Height that a name takes above its line, px at 13 px. */
function nameLine(room: Room): number {
  return room.above && !room.on ? labelLine : 0;
}

/** Rows that are drawn large: the workload's threads, then others that do something; or the CPUs. */
export function rowsOf(index: RunIndex, lane: LaneIndex, score: Score): readonly Row[] {
  if (score.rows === 'cpus') {
    return cpuStrands(index.kinds, lane).map(({ row }) => {
      return { row, tid: -1, name: tr('CPU {row}', { row }), role: 'thread' };
    });
  }
  const order = { thread: 0, other: 1, track: 2 } as const;
  return lane.rows
    .filter((row) => row.role !== 'track')
    .sort((a, b) => order[a.role] - order[b.role] || a.row - b.row);
}

function nestedIn(lane: LaneIndex, score: Score, room: Room, row: number): readonly Strand[] {
  const nested = room.band > 0 && score.parts.has('functions');
  return nested && score.rows === 'threads' ? bandsOf(lane, row) : [];
}

function bandPx(score: Score, room: Room): number {
  return Math.round((room.band * score.fontSize) / 13);
}

/** Height of all nested functions of a lane, px. */
export function nestedHeight(index: RunIndex, lane: LaneIndex, score: Score, room: Room): number {
  return rowsOf(index, lane, score).reduce((sum, { row }) => {
    const n = nestedIn(lane, score, room, row).length;
    return sum + (n === 0 ? 0 : n * bandPx(score, room) + bandGap);
  }, 0);
}

interface Place {
  readonly top: number;
  readonly pitch: number;
  /** Height of a row's states, px. */
  readonly bar: number;
  readonly room: Room;
}

interface Lines {
  readonly lines: readonly Line[];
  readonly bottom: number;
}

const plain = {
  depth: 0,
  points: [],
  aside: '',
  labelAbove: false,
  labelOn: false,
  strand: null,
} as const;

/** Rows of threads or CPUs, each with its functions below. */
export function threadLines(index: RunIndex, lane: LaneIndex, score: Score, at: Place): Lines {
  const { top, pitch, bar, room } = at;
  const band = bandPx(score, room);
  const cpus = score.rows === 'cpus' ? cpuStrands(index.kinds, lane) : [];
  const lines: Line[] = [];
  let y = top;
  const rows = rowsOf(index, lane, score);
  for (const [i, { row, role, name }] of rows.entries()) {
    const states = y + Math.round((pitch - bar) / 2);
    const strand = cpus[i] ?? null;
    lines.push({ ...plain, what: 'row', row, role, label: name, top: states, height: bar, strand });
    const nested = nestedIn(lane, score, room, row);
    for (const [depth, calls] of nested.entries()) {
      const at = states + bar + bandGap + depth * band;
      const height = band - (band > 8 ? 2 : 1);
      const what = 'function';
      lines.push({ ...plain, what, row, role, depth, label: '', top: at, height, strand: calls });
    }
    y += pitch + (nested.length === 0 ? 0 : nested.length * band + bandGap);
  }
  return { lines, bottom: rows.length === 0 ? top + pitch : y };
}

/** "expedited RCU (not the lesson)" -> the name, and what it is said to be aside. */
function labelOfTrack(score: Score, row: Row): { label: string; aside: string } {
  const track = score.tracks.find((t) => t.name === row.name || t.title === row.name);
  const label = (track?.title ?? row.name).split(' (')[0]!;
  return { label, aside: track?.lesson === false ? tr('not the lesson') : '' };
}

type Below = Pick<Line, 'what' | 'row' | 'role' | 'points' | 'label' | 'aside' | 'height'> & {
  readonly pitch: number;
};

function tracksOf(lane: LaneIndex, score: Score, room: Room): Below[] {
  if (!score.parts.has('tracks')) return [];
  const em = score.fontSize / 13;
  return lane.rows
    .filter((row) => row.role === 'track')
    .filter((row) => !room.on || labelOfTrack(score, row).aside === '')
    .map((row) => {
      const { label, aside } = labelOfTrack(score, row);
      const height = Math.round((aside === '' ? stripHeight : asideHeight) * em);
      const second = aside !== '' && room.asides && !room.above ? 12 : 0;
      const pitch = Math.round((stripPitch + second + nameLine(room)) * em);
      const said = room.asides || room.above ? aside : '';
      return {
        what: 'track',
        row: row.row,
        role: 'track',
        points: [],
        label,
        aside: said,
        height,
        pitch,
      };
    });
}

/** A title that has no room in the margin gives way to the name; the tip has it all. */
function labelOfPoint(name: string, title: string): string {
  const short = title.split(/[:;]/)[0]!.trim();
  return short.length <= mostLabel ? short : name.replace(/[_-]/g, ' ');
}

/** Lines of points that some lane of the run has: an empty one tells that there is none. */
function pointsOf(index: RunIndex, score: Score, room: Room): Below[] {
  if (!score.parts.has('points')) return [];
  const found = score.points.filter(({ name }) =>
    index.lanes.some((lane) => lane.pointsOf(name).length > 0),
  );
  if (found.length === 0) return [];
  const em = score.fontSize / 13;
  const height = Math.round(12 * em);
  const pitch = Math.round((18 + nameLine(room)) * em);
  const line = (label: string, points: readonly string[]): Below => {
    return { what: 'point', row: -1, role: 'other', points, label, aside: '', height, pitch };
  };
  if (room.points === 'one' && found.length > 1) {
    return [
      line(
        tr('{found} kinds of points', { found: found.length }),
        found.map(({ name }) => name),
      ),
    ];
  }
  return found.map(({ name, title }) => line(labelOfPoint(name, title), [name]));
}

/** A chart for each series; the value at the moment stands under its name. */
function countersOf(index: RunIndex, score: Score, room: Room): Below[] {
  if (!score.parts.has('counters') || room.chart === 0) return [];
  const em = score.fontSize / 13;
  const height = Math.round(room.chart * em);
  const pitch = height + Math.round((chartGap + (room.above ? labelLine : 0)) * em);
  return seriesOf(index.kinds, score).map(({ name, title: label }) => {
    const of = { what: 'counter', row: -1, role: 'other', points: [name] } as const;
    return { ...of, label, aside: '', height, pitch };
  });
}

function extrasOf(index: RunIndex, lane: LaneIndex, score: Score, room: Room): Below[] {
  const em = score.fontSize / 13;
  const of = { what: 'extra', row: -1, role: 'other', aside: '' } as const;
  return score.extras
    .filter(({ on }) => on(index, lane))
    .map(({ part, label, height }) => {
      // Without a margin it has to speak for itself.
      const said = room.above ? '' : label;
      const pitch = Math.round((height + 3) * em);
      return { ...of, points: [part], label: said, height: Math.round(height * em), pitch };
    });
}

function belowGroups(index: RunIndex, lane: LaneIndex, score: Score, room: Room): Below[][] {
  return [
    [...extrasOf(index, lane, score, room), ...tracksOf(lane, score, room)],
    pointsOf(index, score, room),
    countersOf(index, score, room),
  ].filter((group) => group.length > 0);
}

/** Height of what stands below the rows of a lane, px. */
export function belowHeight(index: RunIndex, lane: LaneIndex, score: Score, room: Room): number {
  return belowGroups(index, lane, score, room).reduce(
    (sum, group) => group.reduce((s, { pitch }) => s + pitch, sum + stripGap),
    0,
  );
}

/** Tracks and points, from `top` downwards. */
export function below(
  index: RunIndex,
  lane: LaneIndex,
  score: Score,
  room: Room,
  top: number,
): Lines {
  const lines: Line[] = [];
  const above = Math.round((nameLine(room) * score.fontSize) / 13);
  let y = top;
  for (const group of belowGroups(index, lane, score, room)) {
    y += stripGap;
    for (const { pitch, ...line } of group) {
      const lower = line.label === '' ? 0 : above;
      lines.push({
        ...plain,
        ...line,
        labelAbove: room.above && !room.on,
        labelOn: room.above && room.on === true,
        top: y + lower,
      });
      y += pitch;
    }
  }
  return { lines, bottom: lines.length > 0 ? y : top };
}
