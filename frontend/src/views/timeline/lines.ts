// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The lines of a lane, from top to bottom: rows with their nested functions, tracks, points, and counters. Lines are
 * lower if there is less room.
 */

import { firstAbove } from '../../base/columns.ts';
import { t as tr } from '../../base/lang/t.ts';
import { StrandBuilder } from '../../derive/lane-index.ts';
import { isStale, opsUpTo } from '../../derive/query.ts';
import type { KindFacts, LaneIndex, Row, RunIndex, SpanTable, Strand } from '../../derive/types.ts';
import type { Score } from './score.ts';

// Groups the function spans of a thread by nesting depth.
// Spans of one depth never overlap, so each depth is drawn and searched like a row of states.

/** Maximum nesting depth that is drawn. Calls that are nested more deeply are drawn at this depth. */
export const mostDepth = 8;

const none: readonly Strand[] = [];
const bandCache = new WeakMap<
  Strand,
  { readonly key: string; readonly bands: readonly Strand[] }
>();

/** The open function spans of a row as indices in `lane.open`, outermost first. */
export function openFunctions(lane: LaneIndex, row: number): number[] {
  const { open } = lane;
  const found: number[] = [];
  for (let i = 0; i < open.length; i++) {
    if (open.row[i] !== row || lane.layerOf(open.kind[i]!) !== 'function') continue;
    if (!isStale(lane, 'function', i)) found.push(i);
  }
  return found.sort((a, b) => open.t0[a]! - open.t0[b]!);
}

/** One strand per nesting depth, outermost first. */
function bandsOf(lane: LaneIndex, row: number): readonly Strand[] {
  const strand = lane.strand(row, 'function');
  const open = openFunctions(lane, row).map((i) => lane.open.t0[i]!);
  if (strand === null) return open.map(() => emptyBand(row));
  const newest = strand.length === 0 ? -1 : lane.spans.id[strand.order[strand.length - 1]!]!;
  const key = `${strand.length} ${newest} ${open.join()}`;
  const known = bandCache.get(strand);
  if (known?.key === key) return known.bands;
  const bands = split(lane.spans, strand, open);
  bandCache.set(strand, { key, bands });
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
  // Spans of one depth do not overlap, so these strands are marked as strands of states, which are searched faster.
  return orders.map((order) => {
    return { row: strand.row, layer: 'state', order, length: order.length, longest: 0, levels: [] };
  });
}

// Thread states by CPU, which show what each CPU ran. Each call adds the spans that arrived since the previous call.

/** Name of the state of a thread that runs on a CPU. Every lesson with states declares this state. */
const onCpu = 'running';

interface Found {
  seen: number;
  /** Id of the first span that was read. It changes if the table was reset or has evicted its oldest spans. */
  first: number;
  readonly byCpu: Map<number, StrandBuilder>;
}

const cpuCache = new WeakMap<SpanTable, Found>();

/** One strand for each CPU that ran a thread. A strand's `row` is the CPU's number. */
function cpuStrands(kinds: readonly KindFacts[], lane: LaneIndex): readonly Strand[] {
  const running = kinds.findIndex((kind) => kind.name === onCpu && kind.layer === 'state');
  const { spans } = lane;
  if (running < 0) return [];
  let found = cpuCache.get(spans);
  const first = spans.length > 0 ? spans.id[0]! : -1;
  if (found === undefined || found.seen > spans.length || found.first !== first) {
    found = { seen: 0, first, byCpu: new Map() };
    cpuCache.set(spans, found);
  }
  for (; found.seen < spans.length; found.seen++) {
    const i = found.seen;
    const cpu = spans.cpu[i]!;
    if (spans.kind[i] !== running || cpu < 0) continue;
    let strand = found.byCpu.get(cpu);
    if (strand === undefined) {
      strand = new StrandBuilder(cpu, 'state', Uint8Array.of(running));
      found.byCpu.set(cpu, strand);
    }
    strand.add(spans, i);
  }
  return [...found.byCpu.values()].sort((a, b) => a.row - b.row);
}

// Numbers over time: operations, points, field values, and x-ray facts.
// Counts and sums start from 0 at the left edge of the window. Values stay until the next value.

/** Name of the series that counts operations. It is empty because no series of a lesson has an empty name. */
export const operations = '';

/** One series of a lesson. */
export interface Series {
  readonly name: string;
  /** Index in the lesson's counters; -1 for operations. */
  readonly at: number;
  readonly title: string;
  readonly colour: KindFacts['colour'];
  readonly point: string | null;
  readonly xray: string | null;
  /** Field of the point, or fact of the x-ray; null if the series counts events. */
  readonly field: string | null;
  /** Whether values are added up from the left edge of the window. */
  readonly adds: boolean;
}

const columns = ['a', 'b', 'c', 'd', 'e', 'f'] as const;

/** The series of a lesson: operations, if events report them, then the declared counters. */
export function seriesOf(kinds: readonly KindFacts[], score: Score): readonly Series[] {
  const { plural, open } = score.operation;
  const ops: Series = {
    ...{ name: operations, at: -1, title: plural, colour: 'work', adds: true },
    ...{ point: null, xray: null, field: null },
  };
  const own = score.counters.map((counter, at): Series => {
    const { name, title, point, xray, field } = counter;
    const facts = score.points.find((one) => one.name === point);
    const column = columns[facts?.fields.indexOf(field ?? '') ?? -1] ?? null;
    return {
      ...{ name, at, title, point, xray, field: xray === null ? column : field },
      colour: point === null ? 'mechanism' : pointColour(kinds, point),
      adds: counter.sum || (point !== null && field === null),
    };
  });
  return open === null ? own : [ops, ...own];
}

/** The events that change a series, in order of time. Each event has the new value or the increment. */
export interface Steps {
  readonly n: number;
  readonly t: (p: number) => number;
  readonly value: (p: number) => number;
}

export function stepsOf(lane: LaneIndex, series: Series): Steps {
  const { name, field } = series;
  if (name === operations) {
    const { order, length } = lane.opsByEnd;
    return { n: length, t: (p) => lane.ops.t1[order[p]!]!, value: () => 1 };
  }
  if (series.xray !== null) {
    const samples = lane.samples(series.xray).filter(({ facts }) => facts[field!] !== undefined);
    return { n: samples.length, t: (p) => samples[p]!.t, value: (p) => samples[p]!.facts[field!]! };
  }
  const { order, length } = lane.pointsOf(series.point!);
  const column = field === null ? null : lane.points[field as (typeof columns)[number]];
  return {
    n: length,
    t: (p) => lane.points.t[order[p]!]!,
    value: (p) => (column === null ? 1 : column[order[p]!]!),
  };
}

/** Value of a series at `t`, in a window that begins at `a`; null if the value is unknown. */
export function valueAt(lane: LaneIndex, series: Series, a: number, t: number): number | null {
  if (series.name === operations) return Math.max(0, opsUpTo(lane, t) - opsUpTo(lane, a));
  const steps = stepsOf(lane, series);
  const to = firstAbove(steps.n, steps.t, t);
  if (!series.adds) return to === 0 ? null : steps.value(to - 1);
  const from = firstAbove(steps.n, steps.t, a);
  if (series.field === null) return Math.max(0, to - from);
  let sum = 0;
  for (let p = from; p < to; p++) sum += steps.value(p);
  return sum;
}

/** Colour of the lesson's `mark` kind that has the same name as the points. */
export function pointColour(kinds: readonly KindFacts[], name: string): KindFacts['colour'] {
  return kinds.find((k) => k.layer === 'mark' && k.name === name)?.colour ?? 'work';
}

export interface Line {
  /**
   * `row`: states of a thread, or threads that run on a CPU. `function`: calls of one nesting depth, below the row of
   * their thread.
   */
  readonly what: 'row' | 'function' | 'track' | 'point' | 'counter' | 'extra';
  /** Row of the lane, or number of the CPU if rows are CPUs; -1 for points. */
  readonly row: number;
  readonly role: Row['role'];
  /** Nesting depth of a function line; 0 is outermost. */
  readonly depth: number;
  /** Names of the points that are drawn on this line. For a counter or an extra line, this is the line's own name. */
  readonly points: readonly string[];
  readonly label: string;
  /** A second line of text below the label. */
  readonly aside: string;
  /** Without a margin, the label is at the left, either above the row (`labelAbove`) or on the row (`labelOn`). */
  readonly labelAbove: boolean;
  readonly labelOn: boolean;
  readonly top: number;
  readonly height: number;
  /** Spans of one nesting depth or of one CPU; null if the line shows the lane's own strands for this row. */
  readonly strand: Strand | null;
}

/** How generously the lines below the rows are laid out. */
export interface Room {
  /** Whether labels have second lines. */
  readonly asides: boolean;
  /** Whether names are above their lines. This is the case without a margin. */
  readonly above: boolean;
  /**
   * Whether names are on their lines, because the height is too small as well. Kinds outside the lesson are then
   * omitted.
   */
  readonly on?: boolean;
  /** Height of one nesting depth of functions, px at 13 px text; if 0, functions are not drawn. */
  readonly band: number;
  /** `each`: each point name has its own line. `one`: all points share one line. */
  readonly points: 'each' | 'one';
  /** Height of a counter, px at 13 px text; if 0, counters are not drawn. */
  readonly chart: number;
}

/** Return the layouts to try, from generous to cramped. */
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

/** Gap between two lanes, px. */
export function laneGap(room: Room): number {
  return room.on ? 14 : 26;
}

const stripHeight = 16;
const stripPitch = 20;
const asideHeight = 9;
const stripGap = 8;
const labelLine = 17;
const bandGap = 3;
/** Maximum number of letters in a label in the margin. */
const mostLabel = 20;
const chartGap = 10;

/** Height of a name above its line, px at 13 px text. */
function nameLine(room: Room): number {
  return room.above && !room.on ? labelLine : 0;
}

/** Return the lane's large rows: first the workload's threads, then other active threads; or one row per CPU. */
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

/** Total height of a lane's nested functions, px. */
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

/** Rows of threads or CPUs, each with the lines of its functions below. */
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

/**
 * Split "expedited RCU (not the lesson)" into a label and a second line. The part in parentheses becomes the second
 * line.
 */
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

/**
 * Shorten a title for the margin. If it still does not fit, return the point's name; the tooltip shows the full title.
 */
function labelOfPoint(name: string, title: string): string {
  const short = title.split(/[:;]/)[0]!.trim();
  return short.length <= mostLabel ? short : name.replace(/[_-]/g, ' ');
}

/**
 * Lines for the points that occur on any lane of the run. On a lane without these points, the line is empty. A point whose
 * field a counter draws over time has no line: only its values matter.
 */
function pointsOf(index: RunIndex, score: Score, room: Room): Below[] {
  if (!score.parts.has('points')) return [];
  const values = new Set(
    score.counters.filter(({ field, sum }) => field !== null && !sum).map(({ point }) => point),
  );
  const found = score.points.filter(
    ({ name }) => !values.has(name) && index.lanes.some((lane) => lane.pointsOf(name).length > 0),
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
        tr('{found} kinds of events', { found: found.length }),
        found.map(({ name }) => name),
      ),
    ];
  }
  return found.map(({ name, title }) => line(labelOfPoint(name, title), [name]));
}

/**
 * One chart per series, with the series' name and its value at the moment. A lane that has no value of a series, because
 * its kernel lacks the event, has no chart of it; a count of events may be 0.
 */
function countersOf(index: RunIndex, lane: LaneIndex, score: Score, room: Room): Below[] {
  if (!score.parts.has('counters') || room.chart === 0) return [];
  const em = score.fontSize / 13;
  const height = Math.round(room.chart * em);
  const pitch = height + Math.round((chartGap + (room.above ? labelLine : 0)) * em);
  const there = (series: Series) => series.adds || stepsOf(lane, series).n > 0;
  const shown = seriesOf(index.kinds, score).filter(there);
  return shown.map(({ name, title: label }) => {
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
      // Without a margin, the label of an extra line is not drawn here.
      const said = room.above ? '' : label;
      const pitch = Math.round((height + 3) * em);
      return { ...of, points: [part], label: said, height: Math.round(height * em), pitch };
    });
}

function belowGroups(index: RunIndex, lane: LaneIndex, score: Score, room: Room): Below[][] {
  return [
    [...extrasOf(index, lane, score, room), ...tracksOf(lane, score, room)],
    pointsOf(index, score, room),
    countersOf(index, lane, score, room),
  ].filter((group) => group.length > 0);
}

/** Height of all lines below a lane's rows, px. */
export function belowHeight(index: RunIndex, lane: LaneIndex, score: Score, room: Room): number {
  return belowGroups(index, lane, score, room).reduce(
    (sum, group) => group.reduce((s, { pitch }) => s + pitch, sum + stripGap),
    0,
  );
}

/** Place the lines below the rows, starting at `top`. */
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
