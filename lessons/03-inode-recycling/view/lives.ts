// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Turns the points of a lane into the lives of its inodes, and the shadow that each life leaves.
 *
 * A life begins when a file gets the inode and ends when the next file gets it. In between, the VFS releases the inode
 * (queued), its grace period passes on kernels with call_rcu (listed), and the worker frees it (inactivated). The
 * shadow runs from the release to the end of the first grace period that began after the release. During the shadow, an
 * RCU reader may still look at the inode.
 */

import { firstAbove, firstAtLeast } from '@page/base/columns.ts';
import { pointRange, pointsUpTo } from '@page/derive/lane-index.ts';
import { spansIn } from '@page/derive/query.ts';
import type { LaneIndex, PointTable } from '@page/derive/types.ts';

export interface Life {
  readonly ino: number;
  /** When a file got the inode; -Infinity if that was before the lane's time began. */
  readonly born: number;
  /**
   * Whether the life began inside the shadow of the previous life, as the kernel reports it (gp_done). If the kernel
   * does not report it, it is computed from the grace periods.
   */
  readonly early: boolean;
  /** Id of the point at which the life began; -1 if there is none. */
  readonly bornId: number;
  /** The previous life of this inode; null if unknown. */
  readonly before: Life | null;
  unlinked: number;
  queued: number;
  queuedId: number;
  /** CPU on which the inode was queued. */
  cpu: number;
  listed: number;
  inactivated: number;
  /** When the next file got the inode. */
  next: number;
  nextId: number;
  nextEarly: boolean;
  /** End of the life's grace period; Infinity if it is not known yet. */
  shadowEnd: number;
  /** When a task that creates a file began to wait for the end of the shadow. */
  waitFrom: number;
  waitTo: number;
}

/** A wait for a grace period, by the worker or by a task that creates a file. */
export interface GraceWait {
  readonly t0: number;
  t1: number;
  readonly ino: number;
  readonly worker: boolean;
  readonly cpu: number;
  readonly id: number;
}

export interface Lives {
  /** Sorted by release; lives without a release come last. */
  readonly all: readonly Life[];
  readonly byIno: ReadonlyMap<number, readonly Life[]>;
  /** Every inode number that was seen, in ascending order. */
  readonly inos: readonly number[];
  readonly waits: readonly GraceWait[];
  readonly graces: Graces;
}

/** Grace periods of a lane, in order of time. */
export interface Graces {
  readonly begins: Float64Array;
  readonly ends: Float64Array;
}

export const never = Number.POSITIVE_INFINITY;

const reaches = new WeakMap<Lives, number>();

/** Return the longest known time from the start of a life to its end or to the end of its shadow, ns. */
function reachOf(lives: Lives): number {
  const known = reaches.get(lives);
  if (known !== undefined) return known;
  let longest = 0;
  for (const { born, next, shadowEnd } of lives.all) {
    const from = Math.max(0, born);
    if (next < never) longest = Math.max(longest, next - from);
    if (shadowEnd < never) longest = Math.max(longest, shadowEnd - from);
  }
  reaches.set(lives, longest);
  return longest;
}

/** Return an inode's lives whose time or shadow overlaps [a, b), in order, and maybe a few earlier lives. */
export function livesIn(lives: Lives, ino: number, a: number, b: number): readonly Life[] {
  const list = lives.byIno.get(ino) ?? [];
  const to = firstAbove(list.length, (i) => list[i]!.born, b);
  let from = firstAbove(list.length, (i) => Math.max(0, list[i]!.born), a - reachOf(lives) - 1);
  // The last shadows and the last life may have no end in the run.
  while (from > 0 && (list[from - 1]!.shadowEnd === never || list[from - 1]!.next === never))
    from -= 1;
  return list.slice(Math.min(from, to), to);
}

/** Return the end of the first grace period that began after t, or Infinity. */
export function graceAfter({ begins, ends }: Graces, t: number): number {
  const at = firstAbove(begins.length, (i) => begins[i]!, t);
  return at < begins.length ? ends[at]! : never;
}

export function gracesOf(lane: LaneIndex, gp: number): Graces {
  const begins: number[] = [];
  const ends: number[] = [];
  for (const span of spansIn(lane, 'track', 0, never)) {
    if (span.kind !== gp) continue;
    begins.push(span.t0);
    // An open grace period has no end yet: its t1 is where the data end.
    ends.push(span.open ? never : span.t1);
  }
  return { begins: Float64Array.from(begins), ends: Float64Array.from(ends) };
}

/** The value of gp_done on a kernel that does not report whether the grace period is over (7.3). */
const notReported = 2;

/** Builds lives and waits from the points of a lane, in order of time. */
class Reader {
  readonly byIno = new Map<number, Life[]>();
  readonly waits: GraceWait[] = [];
  /** Time of the newest unlink by each thread, until the unlinked inode is queued. */
  readonly #unlinks = new Map<number, number>();
  readonly #graces: Graces;

  constructor(graces: Graces) {
    this.#graces = graces;
  }

  #newest(ino: number): Life | undefined {
    return this.byIno.get(ino)?.at(-1);
  }

  /** Tell whether a reuse at t is inside the shadow of the inode's newest life. */
  #insideShadow(ino: number, t: number, gpDone: number): boolean {
    if (gpDone !== notReported) return gpDone === 0;
    const before = this.#newest(ino);
    if (before === undefined || before.queued === never) return false;
    return t < graceAfter(this.#graces, before.queued);
  }

  #begin(ino: number, born: number, bornId: number, early: boolean): Life {
    const before = this.#newest(ino) ?? null;
    const life: Life = {
      ino,
      born,
      bornId,
      early,
      before,
      ...{ unlinked: never, queued: never, queuedId: -1, cpu: 0, listed: never },
      ...{ inactivated: never, next: never, nextId: -1, nextEarly: false },
      ...{ shadowEnd: never, waitFrom: never, waitTo: never },
    };
    const list = this.byIno.get(ino);
    if (list === undefined) this.byIno.set(ino, [life]);
    else list.push(life);
    if (before !== null && before.queued < never) {
      before.next = born;
      before.nextId = bornId;
      before.nextEarly = early;
    }
    return life;
  }

  take(name: string, points: PointTable, i: number): void {
    const t = points.t[i]!;
    const a = points.a[i]!;
    switch (name) {
      case 'fresh':
        this.#begin(a, t, points.id[i]!, false);
        return;
      case 'reuse':
        this.#begin(a, t, points.id[i]!, this.#insideShadow(a, t, points.b[i]!));
        return;
      case 'unlinked':
        this.#unlinks.set(points.tid[i]!, t);
        return;
      case 'queued': {
        const newest = this.#newest(a);
        const alive = newest !== undefined && newest.queued === never;
        const life = alive ? newest : this.#begin(a, Number.NEGATIVE_INFINITY, -1, false);
        life.queued = t;
        life.queuedId = points.id[i]!;
        life.cpu = points.cpu[i]!;
        life.unlinked = this.#unlinks.get(points.tid[i]!) ?? t;
        this.#unlinks.delete(points.tid[i]!);
        return;
      }
      case 'listed':
      case 'inactivated': {
        // Skip inodes that need no worker: they become free without being queued.
        const life = this.#newest(a);
        if (life !== undefined && life.queued < never && life[name] === never) life[name] = t;
        return;
      }
      case 'gp_wait': {
        const wait = { t0: t, t1: never, ino: a, worker: points.b[i] === 0 };
        this.waits.push({ ...wait, cpu: points.cpu[i]!, id: points.id[i]! });
        const life = this.#newest(a);
        if (life !== undefined && !wait.worker) life.waitFrom = t;
        return;
      }
      case 'gp_wait_done': {
        const wait = this.waits.findLast((w) => w.ino === a && w.t1 === never);
        if (wait !== undefined) wait.t1 = t;
        const life = this.#newest(a);
        if (life !== undefined && points.b[i] !== 0) life.waitTo = t;
        return;
      }
    }
  }
}

/** Return the lives and waits of a lane, built from its points. */
export function readLives(points: PointTable, names: readonly string[], graces: Graces): Lives {
  const reader = new Reader(graces);
  for (let i = 0; i < points.length; i++) reader.take(names[points.kind[i]!] ?? '', points, i);
  const all = [...reader.byIno.values()].flat();
  for (const life of all) if (life.queued < never) life.shadowEnd = graceAfter(graces, life.queued);
  all.sort((a, b) => a.queued - b.queued || a.born - b.born);
  const inos = [...reader.byIno.keys()].sort((a, b) => a - b);
  return { all, byIno: reader.byIno, inos, waits: reader.waits, graces };
}

interface CachedLives {
  readonly key: string;
  readonly lives: Lives;
}

const cachedLives = new WeakMap<LaneIndex, CachedLives>();

/** The lives of a lane, cached until new events arrive. */
export function livesOf(
  lane: LaneIndex,
  names: readonly string[],
  gp: number,
  runId: string,
): Lives {
  const { points, spans, open, watermark } = lane;
  const key = [runId, points.length, spans.length, open.length, watermark, lane.historyFrom].join();
  const known = cachedLives.get(lane);
  if (known?.key === key) return known.lives;
  const lives = readLives(points, names, gracesOf(lane, gp));
  cachedLives.set(lane, { key, lives });
  return lives;
}

/** State of a life at a moment; `none` before the life begins and after it ends. */
export type State = 'none' | 'alive' | 'queued' | 'free';

export function stateAt(life: Life, t: number): State {
  if (t < life.born || t >= life.next) return 'none';
  if (t < life.queued) return 'alive';
  return t < life.inactivated ? 'queued' : 'free';
}

/** Return the life of an inode at t; null if unknown. */
export function lifeAt(lives: Lives, ino: number, t: number): Life | null {
  const list = lives.byIno.get(ino) ?? [];
  const at = firstAbove(list.length, (i) => list[i]!.born, t) - 1;
  return at < 0 ? null : list[at]!;
}

/** Tell whether a reader of the previous life may still look at the inode at t, while a new file has it. */
export function endangered(life: Life, t: number): boolean {
  return life.early && t >= life.born && t < dangerEnd(life);
}

/** Return the time until which readers of the previous life may look at the new file. */
export function dangerEnd(life: Life): number {
  return life.before?.shadowEnd ?? life.born;
}

// A lane's queues, one per CPU, as steps in time. Each step counts inodes that wait for RCU (call_rcu only), inodes
// that are listed for the worker, and inodes that the worker has taken but not inactivated. The backlog limit applies
// only to the first two counts.

export interface Step {
  readonly t: number;
  readonly rcu: number;
  readonly list: number;
  readonly hands: number;
}

/** A run of the worker, from when it takes a batch until it finishes the batch. */
export interface Batch {
  readonly t0: number;
  t1: number;
  readonly items: number;
  readonly cpu: number;
  readonly id: number;
}

export interface CpuQueue {
  readonly cpu: number;
  readonly steps: readonly Step[];
}

export interface Queues {
  readonly cpus: readonly CpuQueue[];
  readonly batches: readonly Batch[];
  /** The largest number of inodes that waited on one CPU at the same time. */
  readonly deepest: number;
}

interface Event {
  readonly t: number;
  readonly cpu: number;
  readonly what: 'rcu' | 'queue' | 'list' | 'take' | 'done';
  /** In a `take` event the worker takes all listed inodes, so the event names no inode. */
}

/** Tell whether inodes wait for RCU before they are listed. */
function listsLate(lives: readonly Life[]): boolean {
  return lives.some((life) => life.listed < never);
}

function eventsOf(lives: readonly Life[], batches: readonly Batch[], late: boolean): Event[] {
  const events: Event[] = [];
  for (const life of lives) {
    if (life.queued === never) break;
    const { cpu } = life;
    events.push({ t: life.queued, cpu, what: late ? 'rcu' : 'queue' });
    if (life.listed < never) events.push({ t: life.listed, cpu, what: 'list' });
    if (life.inactivated < never) events.push({ t: life.inactivated, cpu, what: 'done' });
  }
  for (const batch of batches) events.push({ t: batch.t0, cpu: batch.cpu, what: 'take' });
  return events.sort((a, b) => a.t - b.t);
}

/** Return the worker's batches, sorted by their start. */
export function batchesOf(points: PointTable, names: readonly string[]): Batch[] {
  const batches: Batch[] = [];
  const open = new Map<number, Batch>();
  for (let i = 0; i < points.length; i++) {
    const name = names[points.kind[i]!];
    const cpu = points.cpu[i]!;
    if (name === 'batch') {
      const { t, a, id } = points;
      const batch = { t0: t[i]!, t1: never, items: a[i]!, cpu, id: id[i]! };
      open.set(cpu, batch);
      batches.push(batch);
    } else if (name === 'batch_done') {
      const batch = open.get(cpu);
      if (batch !== undefined) batch.t1 = points.t[i]!;
      open.delete(cpu);
    }
  }
  return batches;
}

export function queuesOf(lives: Lives, batches: readonly Batch[], late?: boolean): Queues {
  const cpus = new Map<number, Step[]>();
  let deepest = 0;
  for (const event of eventsOf(lives.all, batches, late ?? listsLate(lives.all))) {
    let steps = cpus.get(event.cpu);
    if (steps === undefined) {
      steps = [];
      cpus.set(event.cpu, steps);
    }
    const step = after(steps.at(-1) ?? empty, event);
    deepest = Math.max(deepest, step.rcu + step.list);
    steps.push(step);
  }
  const sorted = [...cpus].sort((a, b) => a[0] - b[0]);
  return { cpus: sorted.map(([cpu, steps]) => ({ cpu, steps })), batches, deepest };
}

export const empty: Step = { t: Number.NEGATIVE_INFINITY, rcu: 0, list: 0, hands: 0 };

function after(last: Step, { t, what }: Event): Step {
  const { rcu, list, hands } = last;
  switch (what) {
    case 'rcu':
      return { t, rcu: rcu + 1, list, hands };
    case 'queue':
      return { t, rcu, list: list + 1, hands };
    case 'list':
      return { t, rcu: rcu - 1, list: list + 1, hands };
    case 'take':
      return { t, rcu, list: 0, hands: hands + list };
    case 'done':
      return { t, rcu, list, hands: hands - 1 };
  }
}

/** Return the queue of a CPU at t. */
export function stepAt(queue: CpuQueue, t: number): Step {
  const at = firstAbove(queue.steps.length, (i) => queue.steps[i]!.t, t) - 1;
  return at < 0 ? empty : queue.steps[at]!;
}

const cachedQueues = new WeakMap<Lives, Queues>();

/** Return the queues for these lives. They are computed only once. */
export function queuesFor(lives: Lives, points: PointTable, names: readonly string[]): Queues {
  let queues = cachedQueues.get(lives);
  if (queues === undefined) {
    queues = queuesOf(lives, batchesOf(points, names));
    cachedQueues.set(lives, queues);
  }
  return queues;
}

// Intervals sorted by time, so that bisection finds the intervals that overlap a window.

export class Intervals<T> {
  readonly #all: readonly T[];
  readonly #from: Float64Array;
  /** For each interval, the latest end of this interval and all earlier ones, so the values are ascending. */
  readonly #latest: Float64Array;

  /** @param all sorted by their start; must not change afterwards */
  constructor(all: readonly T[], from: (one: T) => number, to: (one: T) => number) {
    this.#all = all;
    this.#from = Float64Array.from(all, from);
    let latest = Number.NEGATIVE_INFINITY;
    this.#latest = Float64Array.from(all, (one) => {
      latest = Math.max(latest, to(one));
      return latest;
    });
  }

  /**
   * Return a range of indexes, [from, to), that contains every interval that overlaps or touches [a, b], and maybe
   * others.
   */
  near(a: number, b: number): { readonly from: number; readonly to: number } {
    const n = this.#all.length;
    const to = firstAbove(n, (i) => this.#from[i]!, b);
    return {
      from: Math.min(
        to,
        firstAtLeast(n, (i) => this.#latest[i]!, a),
      ),
      to,
    };
  }
}

// Counts of a lane up to a moment, and the states of its inodes. Both are derived only from the points.

export interface Tally {
  readonly queued: number;
  readonly inactivated: number;
  readonly reused: number;
  /** Number of reuses that came before the inode's grace period had ended; see Life.early. */
  readonly early: number;
  /** Number of inodes that were used for the first time. */
  readonly fresh: number;
  readonly gpWaits: number;
  readonly gpWaitNs: number;
  readonly throttles: number;
  readonly throttleNs: number;
}

/** Sum a value over the points of one name in [from, t]. */
function sumUpTo(
  lane: LaneIndex,
  name: string,
  t: number,
  value: (i: number) => number,
  from = Number.NEGATIVE_INFINITY,
): number {
  const of = lane.pointsOf(name);
  const range = pointRange(lane.points, of, from, t + 1);
  let sum = 0;
  for (let p = range.from; p < range.to; p++) sum += value(of.order[p]!);
  return sum;
}

/**
 * Count what happened in [from, t]. Inodes that were never queued need no worker, so they do not count as inactivated.
 */
export function tallyOf(
  lane: LaneIndex,
  lives: Lives,
  t: number,
  from = Number.NEGATIVE_INFINITY,
): Tally {
  const { points } = lane;
  const count = (name: string) => {
    const of = lane.pointsOf(name);
    return pointsUpTo(points, of, t) - pointRange(points, of, from, t + 1).from;
  };
  return {
    queued: count('queued'),
    inactivated: inactivatedIn(lives, from, t),
    reused: count('reuse'),
    early: earlyIn(lives, from, t),
    fresh: count('fresh'),
    gpWaits: count('gp_wait_done'),
    gpWaitNs: sumUpTo(lane, 'gp_wait_done', t, (i) => points.c[i]!, from),
    throttles: count('throttle_done'),
    throttleNs: sumUpTo(lane, 'throttle_done', t, (i) => points.b[i]!, from),
  };
}

interface SortedTimes {
  /** When inodes were inactivated. */
  readonly ends: Float64Array;
  /** When inodes were reused early. */
  readonly early: Float64Array;
}

const knownTimes = new WeakMap<Lives, SortedTimes>();

function timesOf(lives: Lives): SortedTimes {
  let times = knownTimes.get(lives);
  if (times === undefined) {
    const ends = lives.all.map((life) => life.inactivated).filter((t) => t < never);
    const early = lives.all.filter((life) => life.early).map((life) => life.born);
    times = { ends: Float64Array.from(ends).sort(), early: Float64Array.from(early).sort() };
    knownTimes.set(lives, times);
  }
  return times;
}

function earlyIn(lives: Lives, from: number, t: number): number {
  const { early } = timesOf(lives);
  const at = (i: number) => early[i]!;
  return Math.max(0, firstAbove(early.length, at, t) - firstAtLeast(early.length, at, from));
}

function inactivatedIn(lives: Lives, from: number, t: number): number {
  const { ends: sorted } = timesOf(lives);
  const upTo = (x: number) => firstAbove(sorted.length, (i) => sorted[i]!, x);
  return upTo(t) - (from > 0 ? upTo(from - 1) : 0);
}

export interface Population {
  readonly alive: readonly Life[];
  readonly queued: readonly Life[];
  readonly free: readonly Life[];
}

/** Return the inodes that are alive, queued and free at t, sorted by inode number. */
export function populationAt(lives: Lives, t: number): Population {
  const found = { alive: [] as Life[], queued: [] as Life[], free: [] as Life[] };
  for (const ino of lives.inos) {
    const list = lives.byIno.get(ino)!;
    const at = firstAbove(list.length, (i) => list[i]!.born, t) - 1;
    if (at < 0) continue;
    const life = list[at]!;
    const state = stateAt(life, t);
    if (state !== 'none') found[state].push(life);
  }
  return found;
}

const rests = new WeakMap<Lives, number>();

/** Return the longest time between an inode's release and its next file, ns. */
function longestRest(lives: Lives): number {
  const known = rests.get(lives);
  if (known !== undefined) return known;
  let longest = 0;
  for (const { queued, next } of lives.all)
    if (next < never && queued < never) longest = Math.max(longest, next - queued);
  rests.set(lives, longest);
  return longest;
}

/**
 * Return the ages of the inodes that were reused in [a, b), and the durations of their shadows, ns. An inode's age is
 * the time from its release to its reuse.
 */
export function agesIn(lives: Lives, a: number, b: number): { ages: number[]; shadows: number[] } {
  const ages: number[] = [];
  const shadows: number[] = [];
  const { all } = lives;
  let at = firstAtLeast(all.length, (i) => all[i]!.queued, a - longestRest(lives));
  for (; at < all.length; at++) {
    const life = all[at]!;
    // An inode that was released after the window was also reused after the window.
    if (life.queued === never || life.queued >= b) break;
    if (life.next < a || life.next >= b || life.shadowEnd === never) continue;
    ages.push(life.next - life.queued);
    shadows.push(life.shadowEnd - life.queued);
  }
  return { ages, shadows };
}
