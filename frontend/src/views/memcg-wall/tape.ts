// SPDX-License-Identifier: GPL-2.0-or-later
/** The events of a wall: what each point does to the cells. Rows are memcgs, the root first; columns are ids. */

import { grown } from '../../base/growable.ts';
import type { LaneIndex, PointTable } from '../../derive/types.ts';
import { Bit, type Cells, Count, rootRow, Seen } from './cells.ts';

/** do_shrink_slab() found nothing at all: SHRINK_EMPTY. */
const empty = -2;
/** Inode of the root cgroup's directory. */
const rootIno = 1;

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

/** Rows and columns of a lane, and how its points change cells. Grows with the lane. */
export class Tape {
  readonly lane: LaneIndex;
  /** The map decides who is visited; else all are. */
  readonly readsMap: boolean;
  /** Inode of each row. */
  readonly memcgs: number[] = [rootIno];
  /** Depth of each row: 0 the root, 1 the containers' parent; -1: made before the run. */
  readonly level: number[] = [0];
  readonly #rowOf = new Map<number, number>([[rootIno, rootRow]]);
  cols = 0;
  length = 0;
  /** Visits are told one by one; else walk by walk. */
  visitsTold = false;
  clearsTold = false;
  /** Capacity of cells. Another one means all cells begin anew. */
  stride = 64;
  capacity = 64;
  /** Row of each point's memcg, so that replaying looks nothing up. */
  rows = new Int32Array(0);
  readonly #roleOf = new Map<number, Role>();
  /** Which ids have a shrinker, as visits tell; empty while none were told. */
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

  rowOf(memcg: number): number {
    return this.#rowOf.get(memcg) ?? -1;
  }

  /** Takes rows and columns of new points; true: cells that were kept do not fit any more. */
  grow(): boolean {
    const { points } = this.lane;
    const told = `${this.visitsTold} ${this.clearsTold} ${this.stride} ${this.capacity}`;
    this.rows = grown(this.rows, this.length, points.length);
    for (let i = this.length; i < points.length; i++) this.rows[i] = this.#take(points, i);
    this.length = points.length;
    while (this.cols > this.stride) this.stride *= 2;
    while (this.memcgs.length > this.capacity) this.capacity *= 2;
    return told !== `${this.visitsTold} ${this.clearsTold} ${this.stride} ${this.capacity}`;
  }

  #take(points: PointTable, i: number): number {
    const a = points.a[i]!;
    const id = points.b[i]!;
    switch (this.#roleOf.get(points.kind[i]!)) {
      case 'visit':
        this.visitsTold = true;
        if (id >= 0) this.ids.add(id);
        this.cols = Math.max(this.cols, id + 1);
        return this.#row(a);
      case 'cleared':
        this.clearsTold = true;
        this.cols = Math.max(this.cols, id + 1);
        return this.#row(a);
      case 'set':
        this.cols = Math.max(this.cols, id + 1);
        return this.#row(a);
      case 'walk':
        this.cols = Math.max(this.cols, points.d[i]!);
        return this.#row(a);
      case 'outcome':
        return this.#row(a);
      case 'expanded':
        this.cols = Math.max(this.cols, id);
        return -1;
      case 'born': {
        const row = this.#row(a);
        this.level[row] = id;
        return row;
      }
      default:
        return -1;
    }
  }

  #row(memcg: number): number {
    let row = this.#rowOf.get(memcg);
    if (row === undefined) {
      row = this.memcgs.push(memcg) - 1;
      this.level.push(-1);
      this.#rowOf.set(memcg, row);
    }
    return row;
  }

  /** Cells before the first event. */
  blank(): Cells {
    const size = this.stride * this.capacity;
    const n = new Float64Array(Count.size);
    n[Count.row] = n[Count.col] = -1;
    const born = new Uint8Array(this.capacity);
    born[rootRow] = 1;
    return {
      at: 0,
      bit: new Uint8Array(size),
      seen: new Uint8Array(size),
      pass: new Uint8Array(size),
      born,
      touched: new Uint32Array(this.capacity),
      n,
    };
  }

  /** Takes one more point into the cells. */
  apply(cells: Cells): void {
    const i = cells.at;
    const { points } = this.lane;
    const row = this.rows[i]!;
    cells.at = i + 1;
    if (row >= 0) cells.touched[row] = i + 1;
    switch (this.#roleOf.get(points.kind[i]!)) {
      case 'call':
        return this.#begin(cells, points.t[i]!);
      case 'call_end':
        cells.n[Count.ended] = points.t[i]!;
        return;
      case 'visit':
        cells.born[row] = 1;
        return this.#visit(cells, points, i, row);
      case 'walk':
        cells.born[row] = 1;
        return this.#walk(cells, points, i, row);
      case 'outcome':
        return this.#outcome(cells, points, i, row);
      case 'set':
        cells.born[row] = 1;
        cells.n[Count.sets]! += 1;
        return this.#setBit(cells, row, points.b[i]!, Bit.object);
      case 'cleared':
        return this.#clear(cells, row, points.b[i]!);
      case 'expanded':
        return this.#expand(cells, points.d[i]!);
      case 'born':
        cells.born[row] = 1;
        return;
    }
  }

  #begin(cells: Cells, t: number): void {
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

  /** Each pass over the memcgs begins with the root's shrinkers. */
  #enterRoot(n: Float64Array): void {
    if (n[Count.inRoot] === 0) n[Count.pass]! += 1;
    n[Count.inRoot] = 1;
  }

  #visit(cells: Cells, points: PointTable, i: number, row: number): void {
    const { n } = cells;
    const [id, ret, again] = [points.b[i]!, points.c[i]!, points.d[i]! > 0];
    if (row === rootRow) {
      this.#enterRoot(n);
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
    const cell = row * this.stride + id;
    const found = ret > 0 ? Seen.freed : Seen.busy;
    // What was freed in this call stays in sight, though a later pass finds nothing more.
    const gone = cells.seen[cell] === Seen.freed && ret <= 0;
    if (!gone) cells.seen[cell] = ret !== empty ? found : again ? Seen.again : Seen.vain;
    cells.pass[cell] = n[Count.pass]!;
  }

  /** A walk tells at its end; what came of it follows as `outcome`. */
  #walk(cells: Cells, points: PointTable, i: number, row: number): void {
    const { n } = cells;
    if (row !== rootRow) n[Count.shrinkers] = points.e[i]!;
    if (this.visitsTold) return;
    if (row === rootRow) {
      this.#enterRoot(n);
      n[Count.inRoot] = 0;
      n[Count.rootVisits]! += points.b[i]!;
    } else n[Count.visits]! += points.b[i]!;
    n[Count.walkVisited] = points.b[i]!;
    n[Count.walkSet] = points.c[i]!;
    n[Count.row] = row;
    n[Count.col] = -1;
    n[Count.at] = points.t[i]!;
  }

  #outcome(cells: Cells, points: PointTable, i: number, row: number): void {
    if (this.visitsTold) return;
    const { n } = cells;
    const [vain, again, cleared, freed] = [points.b[i]!, points.c[i]!, points.d[i]!, points.e[i]!];
    if (row === rootRow) return this.#fill(cells, row, 0, 0);
    n[Count.vain]! += vain;
    n[Count.again]! += again;
    n[Count.freed]! += freed;
    if (!this.clearsTold && cleared > 0) this.#clearFilled(cells, row, cleared);
    this.#fill(cells, row, n[Count.walkVisited]! - vain, freed);
  }

  /**
   * A whole row was visited, or all its set bits. Which of the cells had something is not told; those whose bit an
   * object set are taken for them if they are as many.
   */
  #fill(cells: Cells, row: number, found: number, freed: number): void {
    const from = row * this.stride;
    let objects = 0;
    for (let c = 0; c < this.cols; c++) if (cells.bit[from + c] === Bit.object) objects += 1;
    const same = objects === found;
    for (let c = 0; c < this.cols; c++) {
      const cell = from + c;
      const all = row === rootRow || !this.readsMap;
      if (!all && cells.bit[cell] === Bit.clear) continue;
      const something = row !== rootRow && same && cells.bit[cell] === Bit.object;
      cells.seen[cell] = something ? (freed > 0 ? Seen.freed : Seen.busy) : Seen.vain;
      cells.pass[cell] = cells.n[Count.pass]!;
    }
  }

  /** Clears are only counted: those bits went that no object had set, if the others are as many as stayed. */
  #clearFilled(cells: Cells, row: number, cleared: number): void {
    const from = row * this.stride;
    const left = cells.n[Count.walkSet]! - cleared;
    let objects = 0;
    for (let c = 0; c < this.cols; c++) if (cells.bit[from + c] === Bit.object) objects += 1;
    if (objects !== left) {
      cells.n[Count.cleared]! += cleared;
      return;
    }
    for (let c = 0; c < this.cols; c++) {
      if (cells.bit[from + c] === Bit.expansion) this.#clear(cells, row, c);
    }
  }

  #setBit(cells: Cells, row: number, id: number, why: number): void {
    const cell = row * this.stride + id;
    const before = cells.bit[cell]!;
    if (before >= why) return;
    cells.bit[cell] = why;
    if (row === rootRow) return;
    if (before === Bit.clear) cells.n[Count.bits]! += 1;
    if (why === Bit.object) cells.n[Count.objects]! += 1;
  }

  #clear(cells: Cells, row: number, id: number): void {
    const cell = row * this.stride + id;
    const { n } = cells;
    n[Count.cleared]! += 1;
    if (row !== rootRow && cells.bit[cell] !== Bit.clear) {
      n[Count.bits]! -= 1;
      if (cells.bit[cell] === Bit.object) n[Count.objects]! -= 1;
    }
    cells.bit[cell] = Bit.clear;
    if (this.visitsTold) return;
    cells.seen[cell] = Seen.cleared;
    cells.pass[cell] = n[Count.pass]!;
    n[Count.row] = row;
    n[Count.col] = id;
  }

  /** All maps get a word more, and every old bit of every memcg is set. */
  #expand(cells: Cells, bits: number): void {
    cells.n[Count.expanded]! += 1;
    cells.touched.fill(cells.at);
    for (let row = 0; row < this.memcgs.length; row++) {
      if (cells.born[row] === 0) continue;
      for (let c = 0; c < bits; c++) this.#setBit(cells, row, c, Bit.expansion);
    }
  }
}
