// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Points of a lane -> the lives of its inodes, and the shadow that each life leaves.
 *
 * A life begins when a file is given the inode and ends when the next file is. In between the VFS lets go of it
 * (queued), with call_rcu its grace period passes (listed), and the worker frees it (inactivated). The shadow runs
 * from the letting go to the end of the first grace period that began after it: so long may somebody who walks
 * under RCU still look.
 */

import { firstAbove } from '../../base/columns.ts';
import { spansIn } from '../../derive/query.ts';
import type { LaneIndex, PointTable } from '../../derive/types.ts';

export interface Life {
  readonly ino: number;
  /** When a file was given the inode; -Infinity: before the lane's time began. */
  readonly born: number;
  /** It was given away inside the shadow of the life before (the kernel's own word: gp_done). */
  readonly early: boolean;
  /** Id of the point at which it began; -1: none. */
  readonly bornId: number;
  /** The life of this inode before; null: none that is known. */
  readonly before: Life | null;
  unlinked: number;
  queued: number;
  queuedId: number;
  /** CPU on which it was queued. */
  cpu: number;
  listed: number;
  inactivated: number;
  /** When the next file was given the inode. */
  next: number;
  nextId: number;
  nextEarly: boolean;
  /** End of its grace period; Infinity: not known yet. */
  shadowEnd: number;
  /** Somebody waits inside create until the shadow is over. */
  waitFrom: number;
  waitTo: number;
}

/** A wait for a grace period: of the worker, or of who creates a file. */
export interface GraceWait {
  readonly t0: number;
  t1: number;
  readonly ino: number;
  readonly worker: boolean;
  readonly cpu: number;
  readonly id: number;
}

export interface Lives {
  /** In order of the letting go; those never let go of last. */
  readonly all: readonly Life[];
  readonly byIno: ReadonlyMap<number, readonly Life[]>;
  /** Every inode number seen, rising. */
  readonly inos: readonly number[];
  readonly waits: readonly GraceWait[];
  readonly graces: Graces;
}

/** Grace periods of a lane, in order. */
export interface Graces {
  readonly begins: Float64Array;
  readonly ends: Float64Array;
}

export const never = Number.POSITIVE_INFINITY;

const reaches = new WeakMap<Lives, number>();

/** How long after its begin a life, or its shadow, can still be seen, but for the last of each inode. */
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

/** The lives of an inode that may touch [a, b), in order; shadows and what has no end yet among them. */
export function livesIn(lives: Lives, ino: number, a: number, b: number): readonly Life[] {
  const list = lives.byIno.get(ino) ?? [];
  const to = firstAbove(list.length, (i) => list[i]!.born, b);
  let from = firstAbove(list.length, (i) => Math.max(0, list[i]!.born), a - reachOf(lives) - 1);
  // The end of the run may come before that of the last shadows, and of the last life.
  while (from > 0 && (list[from - 1]!.shadowEnd === never || list[from - 1]!.next === never))
    from -= 1;
  return list.slice(Math.min(from, to), to);
}

/** The first grace period that began after t: when it ended, or Infinity. */
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
    // An open one has no end: its t1 is only how far the data go.
    ends.push(span.open ? never : span.t1);
  }
  return { begins: Float64Array.from(begins), ends: Float64Array.from(ends) };
}

/** Reads points in order of time; one object per lane while a run is shown. */
class Reader {
  readonly byIno = new Map<number, Life[]>();
  readonly waits: GraceWait[] = [];
  /** The newest unlink of each thread, until its inode is queued. */
  readonly #unlinks = new Map<number, number>();

  #newest(ino: number): Life | undefined {
    return this.byIno.get(ino)?.at(-1);
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
      case 'reuse':
        this.#begin(a, t, points.id[i]!, name === 'reuse' && points.b[i] === 0);
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
        // Inodes that need no worker become free without having been queued; they are not ours.
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

/** Everything about the inodes of a lane, from its points in order of time. */
export function readLives(points: PointTable, names: readonly string[], graces: Graces): Lives {
  const reader = new Reader();
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

const cached = new WeakMap<LaneIndex, CachedLives>();

/** The lives of a lane; read again only when events have come. */
export function livesOf(
  lane: LaneIndex,
  names: readonly string[],
  gp: number,
  runId: string,
): Lives {
  const { points, spans, open, watermark } = lane;
  const key = [runId, points.length, spans.length, open.length, watermark, lane.historyFrom].join();
  const known = cached.get(lane);
  if (known?.key === key) return known.lives;
  const lives = readLives(points, names, gracesOf(lane, gp));
  cached.set(lane, { key, lives });
  return lives;
}

/** A life's state at t. */
export type State = 'none' | 'alive' | 'queued' | 'free';

export function stateAt(life: Life, t: number): State {
  if (t < life.born || t >= life.next) return 'none';
  if (t < life.queued) return 'alive';
  return t < life.inactivated ? 'queued' : 'free';
}

/** The life of an inode that goes on at t; null: none is known. */
export function lifeAt(lives: Lives, ino: number, t: number): Life | null {
  const list = lives.byIno.get(ino) ?? [];
  const at = firstAbove(list.length, (i) => list[i]!.born, t) - 1;
  return at < 0 ? null : list[at]!;
}

/** Is a reader of an earlier life possible at t, while a file lives in the inode again? */
export function endangered(life: Life, t: number): boolean {
  return life.early && t >= life.born && t < dangerEnd(life);
}

/** Until when readers of the life before may look at what the inode is now. */
export function dangerEnd(life: Life): number {
  return life.before?.shadowEnd ?? life.born;
}
