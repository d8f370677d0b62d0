// SPDX-License-Identifier: GPL-2.0-or-later
/** The events of a wall: which points it replays, and what each does. */

import { grown } from '../../base/columns.ts';
import type { LaneIndex, PointTable } from '../../derive/types.ts';
import { Bit, type Cells, Count } from './cells.ts';
import { Grid } from './grid.ts';
import { expandMaps, setBit } from './shrinker-map.ts';
import { beginCall, clear, outcome, type Reported, visit, walk } from './slab-call.ts';

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

/** How the points of a lane change cells. Grows with the lane. */
export class EventReplay implements Reported {
  readonly lane: LaneIndex;
  /** The map decides who is visited; else all are. */
  readonly readsMap: boolean;
  readonly grid = new Grid();
  length = 0;
  /** Visits are reported one by one; else walk by walk. */
  visitsReplayed = false;
  clearsReplayed = false;
  /** Row of each point's memcg, so that replaying looks nothing up. */
  rows = new Int32Array(0);
  readonly #roleOf = new Map<number, Role>();
  /** Which ids have a shrinker, as visits tell; empty while none were reported. */
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

  /** Takes rows and columns of new points; true: cells that were kept do not fit any more. */
  grow(): boolean {
    const { points } = this.lane;
    const [visits, clears] = [this.visitsReplayed, this.clearsReplayed];
    this.rows = grown(this.rows, this.length, points.length);
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
        this.grid.widen(id);
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

  /** Takes one more point into the cells. */
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
