// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * State of a file's entries after each event, with one box for each block that ever had its own entry. The state
 * depends only on the first n points of a lane, from which it is replayed.
 */

import { firstAbove, firstAtLeast } from '@page/base/columns.ts';
import { t as tr } from '@page/base/lang/t.ts';
import { heldOp, laneTime } from '@page/derive/align.ts';
import { stepNs } from '@page/derive/retime.ts';
import type { Frame, LaneIndex, PointTable, RunIndex } from '@page/derive/types.ts';

export const letters = ['', 'D', 'W', 'H', 'U'] as const;
export type Letter = 0 | 1 | 2 | 3 | 4;
export const fates = ['kept', 'referenced', 'freed'] as const;
export const kept = 0;
export const spared = 1;
export const freed = 2;

/** Decode EXTENT_STATUS_* of fs/ext4/extents_status.h, as ext4_es_status() returns it, with one bit per status. */
export function letterOf(status: number): Letter {
  if (status & 4) return 1;
  if (status & 1) return 2;
  if (status & 8) return 3;
  return status & 2 ? 4 : 0;
}

/** State of every box after some number of points. */
export interface Boxes {
  /** The letter of the entry; 0 if no event has named this block yet. */
  readonly letter: Uint8Array;
  /** Whether there is an entry (1) or not (0). */
  readonly there: Uint8Array;
  /** Number of the last visit to the entry, counted from 1; 0 if there was none. */
  readonly visit: Int32Array;
  readonly fate: Uint8Array;
  /** Number of visits made before the entry last answered a reader, plus 1; 0 if the entry never answered a reader. */
  readonly asked: Int32Array;
  /** Index of the point that made the entry, plus 1; 0 if the entry existed before. It gives the order of the list. */
  readonly made: Int32Array;
  /** Number of visits made before a lookup put the freed entry back, plus 1; 0 if no lookup did. */
  readonly back: Int32Array;
  /** Index of the last point that names the block, plus 1; 0 if no point names it. */
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

/** Inode number in a visit of a kernel that does not report the file (7.3). */
const unreportedFile = 0;

/**
 * Tell whether a point is about the drawn file. A visit that does not report its file counts, because the workload
 * `one-file` leaves entries that may be freed in no other file.
 */
export function isAbout(file: number, { a }: PointTable, i: number): boolean {
  return a[i] === file || a[i] === unreportedFile;
}

/** Return the inode that most points of a lane are about. Points about other inodes are not drawn. */
export function fileOf(lane: LaneIndex): number {
  const seen = new Map<number, number>();
  for (const name of telling) {
    const { order, length } = lane.pointsOf(name);
    for (let p = 0; p < length; p++) {
      const ino = lane.points.a[order[p]!]!;
      if (ino !== unreportedFile) seen.set(ino, (seen.get(ino) ?? 0) + 1);
    }
  }
  return [...seen].sort((a, b) => b[1] - a[1])[0]?.[0] ?? -1;
}

const blocksByIndex = new WeakMap<RunIndex, Float64Array>();

/**
 * Return the first block of every entry that any lane reports, in ascending order. Each such block has a box, which is
 * at the same place in every lane.
 */
export function blocksOf(index: RunIndex): Float64Array {
  const known = blocksByIndex.get(index);
  if (known !== undefined) return known;
  const all = new Set<number>();
  for (const lane of index.lanes) {
    const file = fileOf(lane);
    for (const name of telling) {
      const { order, length } = lane.pointsOf(name);
      for (let p = 0; p < length; p++) {
        if (isAbout(file, lane.points, order[p]!)) all.add(lane.points.b[order[p]!]!);
      }
    }
  }
  const blocks = Float64Array.from(all).sort();
  blocksByIndex.set(index, blocks);
  return blocks;
}

const everyPoints = 4096;

/** Replays the points of one lane up to any point. */
export class BlockReplay {
  readonly #lane: LaneIndex;
  readonly #blocks: Float64Array;
  readonly #file: number;
  /** What each kind of point reports, by the number of the kind. */
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

  /** Return the boxes after all points up to this moment of the axis. */
  at(t: number): Boxes {
    const { points } = this.#lane;
    return this.after(firstAbove(points.length, (i) => points.t[i]!, t));
  }

  /** Return the boxes after the first `upTo` points. The caller must not change them. */
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
    const { points } = this.#lane;
    const { kind, b, c, d, e } = points;
    const blocks = this.#blocks;
    let visits = visitsBefore;
    for (let i = from; i < to; i++) {
      const does = this.#does.get(kind[i]!);
      if (does === undefined) continue;
      if (does === 'visit') visits += 1;
      if (!isAbout(this.#file, points, i)) continue;
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

/** Return the number of visits that have ended at a moment of the axis. */
function visitsAt(lane: LaneIndex, t: number): number {
  const { length } = lane.pointsOf('visit');
  return Math.max(0, Math.min(length, Math.floor(t / stepNs + 1e-6)));
}

// Scans, the fate of the entries that they looked at, and what their budget was charged for, according to events.

/** One scan. Its visits have the numbers from + 1 to `to`, counted from 1. */
export interface Scan {
  /** Counted from 1. */
  readonly number: number;
  readonly from: number;
  readonly to: number;
  /** Whether the scan has not returned yet, as far as is known. */
  readonly open: boolean;
}

/** What the budget is charged for: each look at an entry, or each entry freed. */
export type Charge = 'looks' | 'gains';

export interface Sums {
  readonly visited: number;
  readonly kept: number;
  readonly spared: number;
  readonly freed: number;
}

/** Facts of a lane that do not depend on the moment. */
export interface Facts {
  readonly scans: readonly Scan[];
  /** For each fate, an array. Its element n is the number of visits with this fate among the first n visits. */
  readonly upTo: readonly [Int32Array, Int32Array, Int32Array];
  readonly visits: number;
  readonly charge: Charge | null;
  /** Budget of one scan; 0 if it is not known. */
  readonly budget: number;
  /** Number of visits that scans counted but that no event reported one by one. */
  readonly untold: number;
  /** Number of the first scan that freed an entry, counted from 1; 0 if no scan did. */
  readonly firstGain: number;
}

const facts = new WeakMap<LaneIndex, Facts>();

export function factsOf(lane: LaneIndex): Facts {
  let known = facts.get(lane);
  if (known === undefined) {
    known = make(lane);
    facts.set(lane, known);
  }
  return known;
}

function make(lane: LaneIndex): Facts {
  const visit = lane.pointsOf('visit');
  const visits = visit.length;
  const upTo = [0, 1, 2].map(() => new Int32Array(visits + 1)) as unknown as Facts['upTo'];
  for (let v = 0; v < visits; v++) {
    const fate = lane.points.e[visit.order[v]!]!;
    for (let f = 0; f < 3; f++) upTo[f]![v + 1] = upTo[f]![v]! + (f === fate ? 1 : 0);
  }
  const scans = scansOf(lane, visits);
  const gain = scans.find((scan) => upTo[freed][scan.to]! > upTo[freed][scan.from]!);
  const scanned = lane.pointsOf('scanned');
  let counted = 0;
  for (let p = 0; p < scanned.length; p++) counted += lane.points.b[scanned.order[p]!]!;
  // A kernel without the event of a scan (7.3) has the budget in the event of the request.
  const asked = scanned.length > 0 ? scanned : lane.pointsOf('requested');
  const budget = asked.length > 0 ? lane.points.a[asked.order[0]!]! : 0;
  return {
    scans,
    upTo,
    visits,
    charge: chargeOf(lane) ?? chargeOfScans(scans, upTo, budget),
    budget,
    untold: Math.max(0, counted - visits),
    firstGain: gain?.number ?? 0,
  };
}

/** Say why a lane shows nothing: its visits were not traced one by one, or there was no visit yet. */
export function absence(lane: LaneIndex): string {
  if (lane.pointsOf('scanned').length > 0)
    return tr(
      'With so many entries, visits are counted but not reported one by one. Set fewer delayed entries to get the picture back.',
    );
  // 7.3 does not count visits either.
  return lane.pointsOf('returned').length > 0
    ? tr(
        'With so many entries, visits are not reported. Set fewer delayed entries to get the picture back.',
      )
    : tr('No entry has been seen yet.');
}

function scansOf(lane: LaneIndex, visits: number): Scan[] {
  const { order, length } = lane.opsByEnd;
  const scans: Scan[] = [];
  for (let p = 0; p < length; p++) {
    const i = order[p]!;
    const from = Math.round(lane.ops.t0[i]! / stepNs);
    const to = Math.round(lane.ops.t1[i]! / stepNs);
    scans.push({ number: lane.opsEvicted + p + 1, from, to, open: false });
  }
  const last = scans.at(-1);
  const from = last?.to ?? 0;
  if (from < visits) {
    scans.push({ number: (last?.number ?? lane.opsEvicted) + 1, from, to: visits, open: true });
  }
  return scans;
}

/** A walk reports the budget before and after it. The difference shows what the budget was charged for. */
function chargeOf(lane: LaneIndex): Charge | null {
  const { order, length } = lane.pointsOf('walk');
  const { a, d, e, f } = lane.points;
  for (let p = 0; p < length; p++) {
    const i = order[p]!;
    const spent = e[i]! - f[i]!;
    if (a[i] === d[i] || (spent !== a[i] && spent !== d[i])) continue;
    return spent === a[i] ? 'looks' : 'gains';
  }
  // If every look freed an entry, the two charges are equal.
  return length > 0 ? 'looks' : null;
}

/** On a kernel that reports no walk (7.3), compare the looks and the gains of an ended scan with its budget. */
function chargeOfScans(scans: readonly Scan[], upTo: Facts['upTo'], budget: number): Charge | null {
  for (const { from, to, open } of scans) {
    const [looks, gains] = [to - from, upTo[freed][to]! - upTo[freed][from]!];
    if (open || looks === gains) continue;
    if (looks === budget) return 'looks';
    if (gains === budget) return 'gains';
  }
  return null;
}

/** Return the number of visits with each fate, from visit from + 1 to visit `to`. */
export function sumsOf({ upTo }: Facts, from: number, to: number): Sums {
  const of = (fate: 0 | 1 | 2) => upTo[fate][to]! - upTo[fate][from]!;
  return { visited: to - from, kept: of(kept), spared: of(spared), freed: of(freed) };
}

/** The state of a lane's scans at the moment of a frame. */
export interface Now {
  /** Number of visits that have ended. */
  readonly visits: number;
  /** The current scan. Before the first visit, this is the first scan. Null if there is none. */
  readonly scan: Scan | null;
  /** Sums over the scan's visits so far. */
  readonly sums: Sums;
  /** Whether the scan has returned. */
  readonly over: boolean;
  /** Whether the lane still runs and the moment is after its last known event. */
  readonly beyond: boolean;
  /** The moment on the lane's axis up to which points are replayed. */
  readonly t: number;
}

/**
 * `hold` overrides the frame's own `hold`. A sentence about one scan sets `hold`, because the sentence uses only that
 * scan.
 */
export function nowOf(lane: LaneIndex, frame: Frame, hold = frame.hold === true): Now {
  const known = factsOf(lane);
  const wanted = laneTime(frame.offset, lane.arm, frame.moment);
  const held = hold ? (known.scans[heldOp(lane, frame)] ?? known.scans.at(-1) ?? null) : null;
  const least = held === null ? 0 : held.from;
  const most = held === null || held.open ? known.visits : held.to;
  const visits = Math.max(least, Math.min(most, visitsAt(lane, wanted)));
  const stopped = held !== null && wanted >= (most + 1) * stepNs;
  const { scans } = known;
  const scan = held ?? scans[firstAtLeast(scans.length, (s) => scans[s]!.to, visits)] ?? null;
  const sums = sumsOf(known, scan === null ? visits : Math.min(visits, scan.from), visits);
  return {
    visits,
    scan,
    sums,
    over: scan !== null && !scan.open && visits >= scan.to,
    beyond: !lane.ended && wanted > lane.watermark,
    t: stopped ? most * stepNs : Math.max(wanted, least * stepNs),
  };
}

// Entries that were freed and then put back. The workload looks the blocks up again when there is no entry left to
// free.

/** An entry that was put back, with the index of its point and the number of earlier visits. */
interface Back {
  readonly place: number;
  readonly visits: number;
  readonly block: number;
}

const known = new WeakMap<LaneIndex, readonly Back[]>();

/** Return the entries of the drawn file that were put back, in order of time. */
function backsOf(lane: LaneIndex): readonly Back[] {
  const found = known.get(lane);
  if (found !== undefined) return found;
  const { kind, b, e, length } = lane.points;
  const kindOf = (name: string) => {
    const of = lane.pointsOf(name);
    return of.length > 0 ? kind[of.order[0]!] : undefined;
  };
  const [visit, insert, file] = [kindOf('visit'), kindOf('insert'), fileOf(lane)];
  const gone = new Set<number>();
  const backs: Back[] = [];
  let visits = 0;
  for (let i = 0; i < length; i++) {
    if (kind[i] === visit) visits += 1;
    if (!isAbout(file, lane.points, i)) continue;
    const block = b[i]!;
    if (kind[i] === visit && e[i] === freed) gone.add(block);
    if (kind[i] === insert && gone.delete(block)) backs.push({ place: i, visits, block });
  }
  known.set(lane, backs);
  return backs;
}

/** Return the number of entries that were put back within the first `upTo` points of a lane. */
export function backSoFar(lane: LaneIndex, upTo: number): number {
  const all = backsOf(lane);
  return firstAtLeast(all.length, (p) => all[p]!.place, upTo);
}

/** Return how often the entry of one block was put back, up to the time `upTo`. */
export function backsOfBlock(lane: LaneIndex, block: number, upTo: number): number {
  return backsOf(lane).filter((one) => one.block === block && lane.points.t[one.place]! <= upTo)
    .length;
}

/** Return the visits after which entries were put back, up to a given visit. Each visit is listed once. */
export function refillsOf(lane: LaneIndex, upTo: number): readonly number[] {
  const at = new Set(backsOf(lane).map(({ visits }) => visits));
  return [...at].filter((visits) => visits <= upTo);
}

/** An entry is shown as just put back during this number of visits, which is one scan with the usual budget. */
const shownFor = 32;

/** Return how recently an entry was put back, from 1 (just now) down to 0 (long ago, or never). */
export function newness(
  { back, there }: Boxes,
  box: number,
  { visits }: Pick<Now, 'visits'>,
): number {
  const at = back[box]! - 1;
  if (at < 0 || there[box] === 0) return 0;
  return Math.max(0, 1 - (visits - at) / shownFor);
}

// The list of entries that may be freed: which lanes have a list, as seen from their visits, and the list's order.

const delayed = 1;
const lists = new WeakMap<LaneIndex, boolean>();

/**
 * Tell whether this kernel follows a list. If so, its first visit is to the newest entry, because the list grows at its
 * head. A walk through the tree begins at the left end instead.
 */
export function hasList(lane: LaneIndex): boolean {
  let known = lists.get(lane);
  if (known === undefined) {
    known = startsAtNewest(lane);
    lists.set(lane, known);
  }
  return known;
}

function startsAtNewest(lane: LaneIndex): boolean {
  const { points } = lane;
  const visit = lane.pointsOf('visit');
  const insert = lane.pointsOf('insert');
  const first = visit.order[0];
  if (visit.length === 0 || first === undefined) return false;
  let made = 0;
  let newest = -1;
  for (let p = 0; p < insert.length && insert.order[p]! < first; p++) {
    const i = insert.order[p]!;
    if (points.a[i] !== points.a[first] || letterOf(points.d[i]!) === delayed) continue;
    made += 1;
    newest = points.b[i]!;
  }
  return made > 1 && points.b[first] === newest;
}

/** Return the boxes on the list, from its head, so the newest entry is first. */
export function threadOf(boxes: Boxes): number[] {
  const on: number[] = [];
  for (let box = 0; box < boxes.there.length; box++) {
    if (boxes.there[box] === 1 && boxes.letter[box]! > delayed && boxes.made[box]! > 0)
      on.push(box);
  }
  return on.sort((x, y) => boxes.made[y]! - boxes.made[x]!);
}

/**
 * Return how often an entry was added to or removed from the list within the first `upTo` points; null if there is no
 * list.
 */
export function listSteps(lane: LaneIndex, upTo: number): number | null {
  if (!hasList(lane)) return null;
  const { points } = lane;
  const counted = (name: string, counts: (i: number) => boolean) => {
    const { order, length } = lane.pointsOf(name);
    let n = 0;
    for (let p = 0; p < length && order[p]! < upTo; p++) n += counts(order[p]!) ? 1 : 0;
    return n;
  };
  const on = counted('insert', (i) => letterOf(points.d[i]!) > delayed);
  return on + counted('visit', (i) => points.e[i] === 2);
}

// What drawings and sentences need to know about a lane at a moment.

export interface LaneNow {
  readonly lane: LaneIndex;
  readonly facts: Facts;
  readonly now: Now;
  /** First block of each box. */
  readonly blocks: Float64Array;
  readonly boxes: Boxes;
  /** Number of the lane's points up to the moment. */
  readonly points: number;
}

/** Return the state of a lane. With `hold`, the state is limited to the operation at which the frame stops. */
export function laneNow(
  { index, frame }: { readonly index: RunIndex; readonly frame: Frame },
  lane: LaneIndex,
  hold?: boolean,
): LaneNow {
  const blocks = blocksOf(index);
  const now = nowOf(lane, frame, hold);
  const points = firstAbove(lane.points.length, (i) => lane.points.t[i]!, now.t);
  const boxes = replayOf(lane, blocks).after(points);
  return { lane, facts: factsOf(lane), now, blocks, boxes, points };
}
