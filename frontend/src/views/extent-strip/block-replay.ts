// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * What is known of a file's entries after each event: boxes, one for each block that ever had an entry of its own,
 * and their states, replayed from the points of a lane. A pure function of (points, how many of them).
 */

import { firstAbove, firstAtLeast } from '../../base/columns.ts';
import { stepNs } from '../../derive/retime.ts';
import type { LaneIndex, RunIndex } from '../../derive/types.ts';

export const letters = ['', 'D', 'W', 'H', 'U'] as const;
export type Letter = 0 | 1 | 2 | 3 | 4;
export const fates = ['kept', 'referenced', 'freed'] as const;
export const kept = 0;
export const spared = 1;
export const freed = 2;

/** EXTENT_STATUS_* of fs/ext4/extents_status.h, as ext4_es_status() tells it: one bit each. */
export function letterOf(status: number): Letter {
  if (status & 4) return 1;
  if (status & 1) return 2;
  if (status & 8) return 3;
  return status & 2 ? 4 : 0;
}

/** State of every box after so many points. */
export interface Boxes {
  /** 0: no event has named this block yet. */
  readonly letter: Uint8Array;
  /** 1: there is an entry. */
  readonly there: Uint8Array;
  /** Number of the visit (from 1) that came by last; 0: none. */
  readonly visit: Int32Array;
  readonly fate: Uint8Array;
  /** Visits that had been made when a reader last asked for the entry, plus 1; 0: never. */
  readonly asked: Int32Array;
  /** Place of the point (plus 1) that made the entry, which orders the list; 0: was there before. */
  readonly made: Int32Array;
  /** Visits that had been made when a lookup brought the freed entry back, plus 1; 0: none has. */
  readonly back: Int32Array;
  /** Place of the point (plus 1) that named it last. */
  readonly point: Int32Array;
}

const columns = ['letter', 'there', 'visit', 'fate', 'asked', 'made', 'back', 'point'] as const;

function emptyBoxes(n: number): Boxes {
  return {
    letter: new Uint8Array(n),
    there: new Uint8Array(n),
    visit: new Int32Array(n),
    fate: new Uint8Array(n),
    asked: new Int32Array(n),
    made: new Int32Array(n),
    back: new Int32Array(n),
    point: new Int32Array(n),
  };
}

function copy(from: Boxes, to: Boxes): Boxes {
  for (const name of columns) to[name].set(from[name]);
  return to;
}

export const telling = ['visit', 'insert', 'found'] as const;

/** The inode that most points of a lane speak of; points of others are not drawn. */
export function fileOf(lane: LaneIndex): number {
  const seen = new Map<number, number>();
  for (const name of telling) {
    const { order, length } = lane.pointsOf(name);
    for (let p = 0; p < length; p++) {
      const ino = lane.points.a[order[p]!]!;
      seen.set(ino, (seen.get(ino) ?? 0) + 1);
    }
  }
  return [...seen].sort((a, b) => b[1] - a[1])[0]?.[0] ?? -1;
}

const blocksByIndex = new WeakMap<RunIndex, Float64Array>();

/** First blocks of all entries that any lane ever tells of, rising: the boxes, at the same place in every lane. */
export function blocksOf(index: RunIndex): Float64Array {
  const known = blocksByIndex.get(index);
  if (known !== undefined) return known;
  const all = new Set<number>();
  for (const lane of index.lanes) {
    const file = fileOf(lane);
    for (const name of telling) {
      const { order, length } = lane.pointsOf(name);
      for (let p = 0; p < length; p++) {
        if (lane.points.a[order[p]!] === file) all.add(lane.points.b[order[p]!]!);
      }
    }
  }
  const blocks = Float64Array.from(all).sort();
  blocksByIndex.set(index, blocks);
  return blocks;
}

const everyPoints = 4096;

/** The points of one lane, ready to be replayed to any place. */
export class BlockReplay {
  readonly #lane: LaneIndex;
  readonly #blocks: Float64Array;
  readonly #file: number;
  /** What a kind of point tells; by its number. */
  readonly #does = new Map<number, (typeof telling)[number]>();
  readonly #frames: { readonly boxes: Boxes; readonly visits: number }[] = [];
  #last: { readonly upTo: number; readonly boxes: Boxes } | null = null;

  constructor(lane: LaneIndex, blocks: Float64Array) {
    this.#lane = lane;
    this.#blocks = blocks;
    this.#file = fileOf(lane);
    for (const name of telling) {
      const { order, length } = lane.pointsOf(name);
      if (length > 0) this.#does.set(lane.points.kind[order[0]!]!, name);
    }
  }

  /** The boxes when every point up to this moment of the axis has happened. */
  at(t: number): Boxes {
    const { points } = this.#lane;
    return this.after(firstAbove(points.length, (i) => points.t[i]!, t));
  }

  /** The boxes after the first `upTo` points. Do not write to them. */
  after(upTo: number): Boxes {
    if (this.#last?.upTo === upTo) return this.#last.boxes;
    const wanted = Math.floor(upTo / everyPoints);
    while (this.#frames.length <= wanted) this.#frame();
    const frame = this.#frames[wanted]!;
    const boxes = copy(frame.boxes, emptyBoxes(this.#blocks.length));
    this.#play(boxes, wanted * everyPoints, upTo, frame.visits);
    this.#last = { upTo, boxes };
    return boxes;
  }

  #frame(): void {
    const n = this.#frames.length;
    const before = this.#frames[n - 1];
    const boxes = emptyBoxes(this.#blocks.length);
    if (before === undefined) {
      this.#frames.push({ boxes, visits: 0 });
      return;
    }
    copy(before.boxes, boxes);
    const visits = this.#play(boxes, (n - 1) * everyPoints, n * everyPoints, before.visits);
    this.#frames.push({ boxes, visits });
  }

  #play(boxes: Boxes, from: number, to: number, visitsBefore: number): number {
    const { kind, a, b, c, d, e } = this.#lane.points;
    const blocks = this.#blocks;
    let visits = visitsBefore;
    for (let i = from; i < to; i++) {
      const does = this.#does.get(kind[i]!);
      if (does === undefined) continue;
      if (does === 'visit') visits += 1;
      if (a[i] !== this.#file) continue;
      const end = b[i]! + Math.max(1, c[i]!);
      let box = firstAtLeast(blocks.length, (x) => blocks[x]!, b[i]!);
      for (; box < blocks.length && blocks[box]! < end; box++) {
        const gone = boxes.there[box] === 0 && boxes.visit[box]! > 0;
        boxes.point[box] = i + 1;
        boxes.letter[box] = letterOf(d[i]!);
        boxes.there[box] = 1;
        if (does === 'insert') {
          boxes.made[box] = i + 1;
          boxes.back[box] = gone ? visits + 1 : 0;
        } else if (does === 'found') boxes.asked[box] = visits + 1;
        else {
          boxes.visit[box] = visits;
          boxes.fate[box] = e[i]!;
          if (e[i] === freed) boxes.there[box] = 0;
        }
      }
    }
    return visits;
  }
}

const replays = new WeakMap<
  LaneIndex,
  { readonly blocks: Float64Array; readonly replay: BlockReplay }
>();

export function replayOf(lane: LaneIndex, blocks: Float64Array): BlockReplay {
  const known = replays.get(lane);
  if (known?.blocks === blocks) return known.replay;
  const replay = new BlockReplay(lane, blocks);
  replays.set(lane, { blocks, replay });
  return replay;
}

/** Visits that are over at a moment of the axis. */
export function visitsAt(lane: LaneIndex, t: number): number {
  const { length } = lane.pointsOf('visit');
  return Math.max(0, Math.min(length, Math.floor(t / stepNs + 1e-6)));
}
