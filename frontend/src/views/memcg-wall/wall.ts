// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The cells of a lane at any moment. Points are replayed from the nearest keyframe, so that moving on costs what
 * happened meanwhile, and a leap costs at most one stretch between keyframes.
 */

import { firstAbove } from '../../base/columns.ts';
import type { LaneIndex, RunIndex } from '../../derive/types.ts';
import type { Lesson } from '../../protocol/lesson.ts';
import { madeFrom } from '../../store/changes.ts';
import { type Cells, Count } from './cells.ts';
import { EventReplay } from './event-replay.ts';

/** Points from one keyframe to the next. */
const stretch = 16_384;

/** A finished or running call of drop_caches. */
export interface Call {
  readonly number: number;
  readonly began: number;
  /** 0: not over yet. */
  readonly ended: number;
  readonly passes: number;
  readonly visits: number;
  readonly vain: number;
  readonly freed: number;
  readonly again: number;
  readonly cleared: number;
  readonly rootVisits: number;
  /** Bits set when it began. */
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

  /** Takes what came since the last look. */
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
   * Cells at a moment of the lane. What comes back is used at once: the next question with the same `reader`
   * changes it. Readers that look at different moments do not wind each other back.
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

  /** All calls so far, in order; the last may still be going on. */
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

/** Changes when the table began anew. */
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

/** The wall of a lane, up to date. */
export function wallOf(lane: LaneIndex, lesson: Facts): Wall {
  let wall = walls.get(lane);
  if (wall === undefined) {
    const arm = lesson.arms.find(({ name }) => name === lane.arm);
    // What a viewer made of an arm reads what that arm reads.
    const reads = ((arm && madeFrom(lesson, arm)) ?? arm)?.role !== 'before';
    const names = lesson.points.map((point) => point.name);
    wall = new Wall(lane, names, reads);
    walls.set(lane, wall);
  }
  wall.update();
  return wall;
}

/** Rows and columns that every wall of the run has room for: cells are equal on all of them. */
export function roomOf(index: RunIndex, lesson: Facts): { rows: number; cols: number } {
  let [rows, cols] = [1, 1];
  for (const lane of index.lanes) {
    const { replay } = wallOf(lane, lesson);
    rows = Math.max(rows, replay.grid.memcgs.length - 1);
    cols = Math.max(cols, replay.grid.cols);
  }
  return { rows, cols };
}
