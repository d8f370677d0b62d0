// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The queues of a lane, CPU by CPU, as steps in time: what waits for RCU (call_rcu alone), what is listed for the
 * worker, what the worker has taken and not inactivated yet. The backlog limit is for the first two.
 */

import { firstAbove } from '../../base/columns.ts';
import type { PointTable } from '../../derive/types.ts';
import { type Life, type Lives, never } from './lives.ts';

export interface Step {
  readonly t: number;
  readonly rcu: number;
  readonly list: number;
  readonly hands: number;
}

/** A run of the worker, from taking a batch to being done with it. */
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
  /** The most that waited on one CPU at once. */
  readonly deepest: number;
}

interface Event {
  readonly t: number;
  readonly cpu: number;
  readonly what: 'rcu' | 'queue' | 'list' | 'take' | 'done';
  /** What is taken: all that was listed before, so nothing is said. */
}

/** Whether inodes pass through RCU's hands before they are listed. */
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

/** Batches out of the points, in order of their begin. */
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

/** The queue of a CPU at t. */
export function stepAt(queue: CpuQueue, t: number): Step {
  const at = firstAbove(queue.steps.length, (i) => queue.steps[i]!.t, t) - 1;
  return at < 0 ? empty : queue.steps[at]!;
}

const cached = new WeakMap<Lives, Queues>();

/** The queues that belong to these lives, reckoned once. */
export function queuesFor(lives: Lives, points: PointTable, names: readonly string[]): Queues {
  let queues = cached.get(lives);
  if (queues === undefined) {
    queues = queuesOf(lives, batchesOf(points, names));
    cached.set(lives, queues);
  }
  return queues;
}
