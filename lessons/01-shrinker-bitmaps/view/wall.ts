// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The cells of a lane at any moment. Points are replayed from the nearest keyframe: moving forward replays only the new
 * points, and a jump replays at most the points between two keyframes.
 */

import { firstAbove, growColumn } from '@page/base/columns.ts';
import { t as tr } from '@page/base/lang/t.ts';
import type { LaneIndex, Nanos, PointTable, RunIndex } from '@page/derive/types.ts';
import type { Lesson } from '@page/protocol/lesson.ts';
import { madeFrom } from '@page/store/changes.ts';
import { sampleAt } from '@page/store/lane.ts';

// The cells of a wall at one moment. Rows are memcgs, with the root first; columns are shrinker ids.

export const rootRow = 0;

/** Outcome of a cell in the current call. */
export const Seen = {
  none: 0,
  vain: 1,
  busy: 2,
  freed: 3,
  /** The cell was found empty, its bit was cleared, and it was visited again. */
  again: 4,
  /** The cell's bit was cleared, in a lane without events for single visits. */
  cleared: 5,
} as const;

/** Why a bit is set. */
export const Bit = { clear: 0, expansion: 1, object: 2 } as const;

/** Counts of the wall. The counts before `sets` restart at 0 with each call. */
export const Count = {
  call: 0,
  pass: 1,
  inRoot: 2,
  began: 3,
  ended: 4,
  visits: 5,
  vain: 6,
  freed: 7,
  again: 8,
  cleared: 9,
  rootVisits: 10,
  /** Row, column and time of the newest visit or walk. The row and the column are -1 if there was none. */
  row: 11,
  col: 12,
  at: 13,
  walkVisited: 14,
  walkSet: 15,
  sets: 16,
  /** Number of bits that are set now, and how many of them were set for an object. The root's bits are not counted. */
  bits: 17,
  objects: 18,
  expanded: 19,
  shrinkers: 20,
  size: 21,
} as const;

/** The cells at one moment. The arrays of cells are indexed by row * stride + column. */
export interface Cells {
  /** Number of points replayed. */
  at: number;
  readonly bit: Uint8Array;
  readonly seen: Uint8Array;
  /** Pass of the call in which a cell was last visited. */
  readonly pass: Uint8Array;
  /** Which memcgs exist. */
  readonly born: Uint8Array;
  /** Number of points replayed when a row last changed. While this number stays the same, the row has not changed. */
  readonly touched: Uint32Array;
  readonly n: Float64Array;
}

// The grid of a wall: the row of each memcg, the columns of the shrinker ids, and the size of the cells' arrays.

/** Inode of the root cgroup's directory. */
const rootIno = 1;

/** The grid, which grows with the lane. */
class Grid {
  /** Inode of each row. */
  readonly memcgs: number[] = [rootIno];
  /** Depth of each row's memcg: 0 for the root, 1 for the containers' parent, -1 if it was created before the run. */
  readonly level: number[] = [0];
  readonly #rowOf = new Map<number, number>([[rootIno, rootRow]]);
  cols = 0;
  /** Number of columns and rows that the arrays have room for. */
  stride = 64;
  #capacity = 64;

  /** Return the row of a memcg. A new memcg gets a new row. */
  row(memcg: number): number {
    let row = this.#rowOf.get(memcg);
    if (row === undefined) {
      row = this.memcgs.push(memcg) - 1;
      this.level.push(-1);
      this.#rowOf.set(memcg, row);
    }
    return row;
  }

  /** Extend the grid to at least this many columns. */
  widen(cols: number): void {
    this.cols = Math.max(this.cols, cols);
  }

  /** Make room for all rows and columns. Return true if arrays of the old size no longer fit. */
  fit(): boolean {
    const [stride, capacity] = [this.stride, this.#capacity];
    while (this.cols > this.stride) this.stride *= 2;
    while (this.memcgs.length > this.#capacity) this.#capacity *= 2;
    return this.stride !== stride || this.#capacity !== capacity;
  }

  /** Return the cells before the first event. */
  blank(): Cells {
    const size = this.stride * this.#capacity;
    const n = new Float64Array(Count.size);
    n[Count.row] = n[Count.col] = -1;
    const born = new Uint8Array(this.#capacity);
    born[rootRow] = 1;
    return {
      at: 0,
      bit: new Uint8Array(size),
      seen: new Uint8Array(size),
      pass: new Uint8Array(size),
      born,
      touched: new Uint32Array(this.#capacity),
      n,
    };
  }
}

// The memcgs' shrinker maps: which bits are set, and why.

function setBit(cells: Cells, grid: Grid, row: number, id: number, why: number): void {
  const cell = row * grid.stride + id;
  const before = cells.bit[cell]!;
  if (before >= why) return;
  cells.bit[cell] = why;
  if (row === rootRow) return;
  if (before === Bit.clear) cells.n[Count.bits]! += 1;
  if (why === Bit.object) cells.n[Count.objects]! += 1;
}

function clearBit(cells: Cells, grid: Grid, row: number, id: number): void {
  const cell = row * grid.stride + id;
  const { n } = cells;
  n[Count.cleared]! += 1;
  if (row !== rootRow && cells.bit[cell] !== Bit.clear) {
    n[Count.bits]! -= 1;
    if (cells.bit[cell] === Bit.object) n[Count.objects]! -= 1;
  }
  cells.bit[cell] = Bit.clear;
}

/** Extend all maps by a word, and set every old bit of every memcg. */
function expandMaps(cells: Cells, grid: Grid, bits: number): void {
  cells.n[Count.expanded]! += 1;
  cells.touched.fill(cells.at);
  for (let row = 0; row < grid.memcgs.length; row++) {
    if (cells.born[row] === 0) continue;
    for (let c = 0; c < bits; c++) setBit(cells, grid, row, c, Bit.expansion);
  }
}

/** Count the bits of a row that were set for an object. */
function objectBits(cells: Cells, grid: Grid, row: number): number {
  const from = row * grid.stride;
  let objects = 0;
  for (let c = 0; c < grid.cols; c++) if (cells.bit[from + c] === Bit.object) objects += 1;
  return objects;
}

// Applies a call of drop_caches to the cells: each visit, or only each walk if visits have no events.

/** Return value of do_shrink_slab() if it found no object: SHRINK_EMPTY. */
const empty = -2;

/** What a lane's events reveal about its calls. */
interface Reported {
  readonly grid: Grid;
  /** Whether a walk visits only set bits. If false, it visits every shrinker. */
  readonly readsMap: boolean;
  /** Whether visits have events. If false, only walks have events. */
  readonly visitsReplayed: boolean;
  readonly clearsReplayed: boolean;
  /** For each visit, whether it is a second check. */
  readonly secondChecks: Uint8Array;
}

function beginCall(cells: Cells, t: number): void {
  const { n } = cells;
  const call = n[Count.call]! + 1;
  n.fill(0, 0, Count.sets);
  n[Count.call] = call;
  n[Count.began] = t;
  n[Count.row] = n[Count.col] = -1;
  cells.touched.fill(cells.at);
  cells.seen.fill(Seen.none);
  cells.pass.fill(0);
}

/** Each pass over the memcgs begins with the root. */
function enterRoot(n: Float64Array): void {
  if (n[Count.inRoot] === 0) n[Count.pass]! += 1;
  n[Count.inRoot] = 1;
}

function visit(lane: Reported, cells: Cells, points: PointTable, i: number, row: number): void {
  const { n } = cells;
  const [id, ret, again] = [points.b[i]!, points.c[i]!, lane.secondChecks[i] === 1];
  if (row === rootRow) {
    enterRoot(n);
    n[Count.rootVisits]! += 1;
  } else {
    n[Count.inRoot] = 0;
    n[Count.visits]! += 1;
    if (ret === empty) n[Count.vain]! += 1;
    if (ret > 0) n[Count.freed]! += ret;
    if (again) n[Count.again]! += 1;
  }
  n[Count.row] = row;
  n[Count.col] = id;
  n[Count.at] = points.t[i]!;
  if (id < 0) return;
  const cell = row * lane.grid.stride + id;
  const found = ret > 0 ? Seen.freed : Seen.busy;
  // A cell that freed something keeps its mark, even if a later pass finds nothing more.
  const gone = cells.seen[cell] === Seen.freed && ret <= 0;
  if (!gone) cells.seen[cell] = ret !== empty ? found : again ? Seen.again : Seen.vain;
  cells.pass[cell] = n[Count.pass]!;
  const clears = row !== rootRow && ret === empty && !again;
  if (clears && secondUnreported(points, i)) clearBit(cells, lane.grid, row, id);
}

/**
 * Tell whether a visit's event does not say if the visit is a second check (`again` is -1). A kernel with such events
 * has no event for a clear either: its walk clears the bit after each first check that finds no object.
 */
function secondUnreported(points: PointTable, i: number): boolean {
  return points.d[i]! < 0;
}

/** A walk's event is written at its end, and the point `outcome` follows it. */
function walk(lane: Reported, cells: Cells, points: PointTable, i: number, row: number): void {
  const { n } = cells;
  if (row !== rootRow) n[Count.shrinkers] = points.e[i]!;
  if (lane.visitsReplayed) return;
  if (row === rootRow) {
    enterRoot(n);
    n[Count.inRoot] = 0;
    n[Count.rootVisits]! += points.b[i]!;
  } else n[Count.visits]! += points.b[i]!;
  n[Count.walkVisited] = points.b[i]!;
  n[Count.walkSet] = points.c[i]!;
  n[Count.row] = row;
  n[Count.col] = -1;
  n[Count.at] = points.t[i]!;
}

function outcome(lane: Reported, cells: Cells, points: PointTable, i: number, row: number): void {
  if (lane.visitsReplayed) return;
  const { n } = cells;
  const [vain, again, cleared, freed] = [points.b[i]!, points.c[i]!, points.d[i]!, points.e[i]!];
  if (row === rootRow) return fillRow(lane, cells, row, 0, 0);
  n[Count.vain]! += vain;
  n[Count.again]! += again;
  n[Count.freed]! += freed;
  if (!lane.clearsReplayed && cleared > 0) clearCounted(lane, cells, row, cleared);
  fillRow(lane, cells, row, n[Count.walkVisited]! - vain, freed);
}

/**
 * Mark the cells of a row as visited. If the walk reads the map, mark only cells whose bit is set. The event reports
 * how many cells had objects, but not which cells. If objects set exactly that many bits, mark the cells of these bits
 * as cells with objects.
 */
function fillRow(lane: Reported, cells: Cells, row: number, found: number, freed: number): void {
  const from = row * lane.grid.stride;
  const same = objectBits(cells, lane.grid, row) === found;
  for (let c = 0; c < lane.grid.cols; c++) {
    const cell = from + c;
    const all = row === rootRow || !lane.readsMap;
    if (!all && cells.bit[cell] === Bit.clear) continue;
    const something = row !== rootRow && same && cells.bit[cell] === Bit.object;
    cells.seen[cell] = something ? (freed > 0 ? Seen.freed : Seen.busy) : Seen.vain;
    cells.pass[cell] = cells.n[Count.pass]!;
  }
}

/**
 * Clear bits according to an event that reports only how many bits were cleared. If the number of bits that remain is
 * the number of bits that objects had set, clear all other bits. Otherwise only add to the count.
 */
function clearCounted(lane: Reported, cells: Cells, row: number, cleared: number): void {
  const from = row * lane.grid.stride;
  const left = cells.n[Count.walkSet]! - cleared;
  if (objectBits(cells, lane.grid, row) !== left) {
    cells.n[Count.cleared]! += cleared;
    return;
  }
  for (let c = 0; c < lane.grid.cols; c++) {
    if (cells.bit[from + c] === Bit.expansion) clear(lane, cells, row, c);
  }
}

function clear(lane: Reported, cells: Cells, row: number, id: number): void {
  clearBit(cells, lane.grid, row, id);
  if (lane.visitsReplayed) return;
  const cell = row * lane.grid.stride + id;
  const { n } = cells;
  cells.seen[cell] = Seen.cleared;
  cells.pass[cell] = n[Count.pass]!;
  n[Count.row] = row;
  n[Count.col] = id;
}

// Replays the points of a lane: each point changes the cells.

/** Names of the points that the lesson must declare. */
export const roles = [
  'call',
  'call_end',
  'visit',
  'walk',
  'outcome',
  'set',
  'cleared',
  'expanded',
  'born',
] as const;

type Role = (typeof roles)[number];

/** Applies the points of a lane to cells, and grows with the lane. */
export class EventReplay implements Reported {
  readonly lane: LaneIndex;
  /** Whether a walk visits only set bits. If false, it visits every shrinker. */
  readonly readsMap: boolean;
  readonly grid = new Grid();
  length = 0;
  /** Whether visits have events. If false, only walks have events. */
  visitsReplayed = false;
  clearsReplayed = false;
  /** Row of each point's memcg, to save look-ups in the replay. */
  rows = new Int32Array(0);
  secondChecks = new Uint8Array(0);
  /** Whether second checks and clears are inferred from visits, because no event reports them. */
  inferred = false;
  /** Newest visit of each thread, if second checks are inferred. */
  readonly #newestVisit = new Map<number, number>();
  readonly #roleOf = new Map<number, Role>();
  /** Which ids have a shrinker, according to the visits; empty before the first visit. */
  readonly ids = new Set<number>();

  constructor(lane: LaneIndex, names: readonly string[], readsMap: boolean) {
    this.lane = lane;
    this.readsMap = readsMap;
    names.forEach((name, kind) => {
      const role = roles.find((r) => r === name);
      if (role !== undefined) this.#roleOf.set(kind, role);
    });
  }

  role(kind: number): Role | undefined {
    return this.#roleOf.get(kind);
  }

  /** Add rows and columns for new points. Return true if stored cells no longer fit. */
  grow(): boolean {
    const { points } = this.lane;
    const [visits, clears] = [this.visitsReplayed, this.clearsReplayed];
    this.rows = growColumn(this.rows, this.length, points.length);
    this.secondChecks = growColumn(this.secondChecks, this.length, points.length);
    for (let i = this.length; i < points.length; i++) this.rows[i] = this.#take(points, i);
    this.length = points.length;
    const resized = this.grid.fit();
    return resized || visits !== this.visitsReplayed || clears !== this.clearsReplayed;
  }

  #take(points: PointTable, i: number): number {
    const a = points.a[i]!;
    const id = points.b[i]!;
    switch (this.#roleOf.get(points.kind[i]!)) {
      case 'visit':
        this.visitsReplayed = true;
        this.secondChecks[i] = Number(this.#isSecond(points, i));
        if (id >= 0) this.ids.add(id);
        this.grid.widen(id + 1);
        return this.grid.row(a);
      case 'cleared':
        this.clearsReplayed = true;
        this.grid.widen(id + 1);
        return this.grid.row(a);
      case 'set':
        this.grid.widen(id + 1);
        return this.grid.row(a);
      case 'walk':
        this.grid.widen(points.d[i]!);
        return this.grid.row(a);
      case 'outcome':
        return this.grid.row(a);
      case 'expanded':
        // Where maps grow without setting bits, the new size counts the map's bits, not the shrinkers.
        if (points.d[i]! > 0) this.grid.widen(id);
        return -1;
      case 'born': {
        const row = this.grid.row(a);
        this.grid.level[row] = id;
        return row;
      }
      default:
        return -1;
    }
  }

  /**
   * Tell whether a visit is a second check. If the event does not say this, the visit counts as a second check if the
   * thread's previous visit was a first check of the same cell and found no object.
   */
  #isSecond(points: PointTable, i: number): boolean {
    if (!secondUnreported(points, i)) return points.d[i]! > 0;
    this.inferred = true;
    const tid = points.tid[i]!;
    const before = this.#newestVisit.get(tid);
    this.#newestVisit.set(tid, i);
    if (before === undefined) return false;
    const sameCell = points.a[before] === points.a[i] && points.b[before] === points.b[i];
    return sameCell && points.c[before] === empty && this.secondChecks[before] === 0;
  }

  /** Apply the next point to the cells. */
  apply(cells: Cells): void {
    const i = cells.at;
    const { points } = this.lane;
    const row = this.rows[i]!;
    cells.at = i + 1;
    if (row >= 0) cells.touched[row] = i + 1;
    switch (this.#roleOf.get(points.kind[i]!)) {
      case 'call':
        return beginCall(cells, points.t[i]!);
      case 'call_end':
        cells.n[Count.ended] = points.t[i]!;
        return;
      case 'visit':
        cells.born[row] = 1;
        return visit(this, cells, points, i, row);
      case 'walk':
        cells.born[row] = 1;
        return walk(this, cells, points, i, row);
      case 'outcome':
        return outcome(this, cells, points, i, row);
      case 'set':
        cells.born[row] = 1;
        cells.n[Count.sets]! += 1;
        return setBit(cells, this.grid, row, points.b[i]!, Bit.object);
      case 'cleared':
        return clear(this, cells, row, points.b[i]!);
      case 'expanded':
        return expandMaps(cells, this.grid, points.d[i]!);
      case 'born':
        cells.born[row] = 1;
        return;
    }
  }
}

/** Number of points between two keyframes. */
const stretch = 16_384;

/** A finished or running call of drop_caches. */
export interface Call {
  readonly number: number;
  readonly began: number;
  /** Time of the end; 0 if the call has not ended. */
  readonly ended: number;
  readonly passes: number;
  readonly visits: number;
  readonly vain: number;
  readonly freed: number;
  readonly again: number;
  readonly cleared: number;
  readonly rootVisits: number;
  /** Number of bits that were set when the call began. */
  readonly bitsBefore: number;
  readonly shrinkers: number;
}

export class Wall {
  readonly #lane: LaneIndex;
  readonly #names: readonly string[];
  readonly #readsMap: boolean;
  replay: EventReplay;
  #keyframes: Cells[] = [];
  #cursors = new Map<string, Cells>();
  #epoch = 0;
  #calls: { readonly length: number; readonly list: readonly Call[] } | null = null;

  constructor(lane: LaneIndex, names: readonly string[], readsMap: boolean) {
    this.#lane = lane;
    this.#names = names;
    this.#readsMap = readsMap;
    this.replay = new EventReplay(lane, names, readsMap);
    this.#epoch = epochOf(lane);
  }

  /** Take new points of the lane into account. Drop stored cells that no longer fit. */
  update(): void {
    const epoch = epochOf(this.#lane);
    const anew = epoch !== this.#epoch;
    if (!anew && this.#lane.points.length === this.replay.length) return;
    if (anew) this.replay = new EventReplay(this.#lane, this.#names, this.#readsMap);
    this.#epoch = epoch;
    this.#calls = null;
    if (!this.replay.grow() && !anew) return;
    this.#keyframes = [];
    this.#cursors.clear();
  }

  /**
   * Return the cells at a moment of the lane. Use the result immediately: the next call with the same `reader` changes
   * it. Each reader has its own position, so readers that need different moments do not force each other to replay.
   */
  at(t: number, reader = 'text'): Cells {
    const { points } = this.replay.lane;
    return this.#replayed(
      firstAbove(points.length, (i) => points.t[i]!, t),
      reader,
    );
  }

  #replayed(until: number, reader: string): Cells {
    let cells = this.#cursors.get(reader);
    const nearest = Math.min(Math.floor(until / stretch), this.#keyframes.length - 1);
    if (cells === undefined || cells.at > until || cells.at < nearest * stretch) {
      cells ??= this.replay.grid.blank();
      copyCells(this.#keyframes[nearest] ?? this.replay.grid.blank(), cells);
      this.#cursors.set(reader, cells);
    }
    while (cells.at < until) {
      if (cells.at === this.#keyframes.length * stretch) {
        const keyframe = this.replay.grid.blank();
        copyCells(cells, keyframe);
        this.#keyframes.push(keyframe);
      }
      this.replay.apply(cells);
    }
    return cells;
  }

  /** Return all calls so far, in order. The last one may still be running. */
  calls(): readonly Call[] {
    const lane = this.#lane;
    const { length } = lane.points;
    if (this.#calls?.length === length) return this.#calls.list;
    const [begins, ends] = [lane.pointsOf('call'), lane.pointsOf('call_end')];
    const list = Array.from({ length: begins.length }, (_, k): Call => {
      const from = begins.order[k]!;
      const next = k + 1 < begins.length ? begins.order[k + 1]! : length;
      const e = firstAbove(ends.length, (j) => ends.order[j]!, from);
      const to = e < ends.length && ends.order[e]! < next ? ends.order[e]! + 1 : next;
      const bitsBefore = this.#replayed(from, 'calls').n[Count.bits]!;
      return callOf(this.#replayed(to, 'calls').n, bitsBefore);
    });
    this.#calls = { length, list };
    return list;
  }
}

/** Return a number that changes when the lane's points are reset. */
function epochOf(lane: LaneIndex): number {
  return (lane.points as { readonly epoch?: number }).epoch ?? 0;
}

function callOf(n: Float64Array, bitsBefore: number): Call {
  return {
    number: n[Count.call]!,
    began: n[Count.began]!,
    ended: n[Count.ended]!,
    passes: n[Count.pass]!,
    visits: n[Count.visits]!,
    vain: n[Count.vain]!,
    freed: n[Count.freed]!,
    again: n[Count.again]!,
    cleared: n[Count.cleared]!,
    rootVisits: n[Count.rootVisits]!,
    bitsBefore,
    shrinkers: n[Count.shrinkers]!,
  };
}

export function copyCells(from: Cells, to: Cells): void {
  to.at = from.at;
  to.bit.set(from.bit);
  to.seen.set(from.seen);
  to.pass.set(from.pass);
  to.born.set(from.born);
  to.touched.set(from.touched);
  to.n.set(from.n);
}

const walls = new WeakMap<LaneIndex, Wall>();

type Facts = Pick<Lesson, 'points' | 'arms'>;

/** Return the wall of a lane, up to date. */
export function wallOf(lane: LaneIndex, lesson: Facts): Wall {
  let wall = walls.get(lane);
  if (wall === undefined) {
    const arm = lesson.arms.find(({ name }) => name === lane.arm);
    // An arm that a viewer has changed reads the map if its original arm reads the map.
    const reads = ((arm && madeFrom(lesson, arm)) ?? arm)?.role !== 'before';
    const names = lesson.points.map((point) => point.name);
    wall = new Wall(lane, names, reads);
    walls.set(lane, wall);
  }
  wall.update();
  return wall;
}

/** Return the numbers of rows and columns of the run's largest wall, so that cells have equal size on all walls. */
export function roomOf(index: RunIndex, lesson: Facts): { rows: number; cols: number } {
  let [rows, cols] = [1, 1];
  for (const lane of index.lanes) {
    const { replay } = wallOf(lane, lesson);
    rows = Math.max(rows, replay.grid.memcgs.length - 1);
    cols = Math.max(cols, replay.grid.cols);
  }
  return { rows, cols };
}

// Names of rows and columns.

/** Name a row: "container 41" (counted from 1, as for *touch*), "the parent of the containers", "the root cgroup". */
export function memcgName(replay: EventReplay, row: number): string {
  if (row === rootRow) return tr('the root cgroup');
  const level = replay.grid.level[row];
  if (level === 1) return tr('the parent of the containers');
  if (level === 2) return tr('container {row}', { row: row - replay.grid.level.indexOf(2) + 1 });
  return tr('memcg {row}', { row: replay.grid.memcgs[row] ?? '?' });
}

/** Name a column: "shrinker 73", with the shrinker's name if the x-ray has read it. */
export function shrinkerName(lane: LaneIndex, id: number, t: Nanos): string {
  const sample = sampleAt(lane.samples('shrinker-list'), t);
  const { id: ids, aware } = sample?.columns ?? {};
  if (sample === null || ids === undefined || aware === undefined)
    return tr('shrinker {id}', { id });
  const at = ids.findIndex((one: number, i: number) => one === id && aware[i] !== 0);
  const name = sample.texts[at];
  return name === undefined
    ? tr('shrinker {id}', { id })
    : tr('shrinker {id} ({name})', { id, name });
}
