// SPDX-License-Identifier: GPL-2.0-or-later
/** What of a lane lies in the window, or in the part of it that is asked for: found by bisection. */

import type { RunIndex } from '../../derive/types.ts';
import { Intervals } from './intervals.ts';
import type { LaneBox, Layout } from './layout.ts';
import { dangerEnd, type GraceWait, type Life } from './lives.ts';
import type { Batch, Queues } from './queues.ts';

export interface At {
  readonly index: RunIndex;
  readonly layout: Layout;
  readonly box: LaneBox;
  /** Only what may touch these times of the lane, ends included; else all of the window. */
  readonly near?: readonly [number, number];
}

/** The window in the lane's own time. */
export function windowOf({ box, layout }: At): readonly [number, number] {
  return [box.t0, box.t0 + (layout.right - layout.left) * layout.nsPerPx];
}

/** The part of the window that is asked for. */
export function askedOf(at: At): readonly [number, number] {
  const [a, b] = windowOf(at);
  return at.near === undefined ? [a, b] : [Math.max(a, at.near[0]), Math.min(b, at.near[1])];
}

const lifeIntervals = new WeakMap<readonly Life[], Intervals<Life>>();

/** Lives of an inode that touch the window, and which of the inode's lives each is. */
export function* livesIn(at: At, ino: number): Generator<readonly [Life, number]> {
  const list = at.box.lives.byIno.get(ino) ?? [];
  let intervals = lifeIntervals.get(list);
  if (intervals === undefined) {
    const end = (life: Life) => Math.max(life.next, life.shadowEnd, dangerEnd(life));
    intervals = new Intervals(list, (life) => life.born, end);
    lifeIntervals.set(list, intervals);
  }
  const [a, b] = windowOf(at);
  const { from, to } = intervals.near(...askedOf(at));
  for (let nth = from; nth < to; nth++) {
    const life = list[nth]!;
    if (life.born < b && (life.next >= a || life.shadowEnd >= a)) yield [life, nth];
  }
}

/** Of a CPU, in order of their begin. */
interface WorkerIntervals {
  readonly batches: readonly Batch[];
  readonly waits: readonly GraceWait[];
  readonly ofBatches: Intervals<Batch>;
  readonly ofWaits: Intervals<GraceWait>;
}

const workers = new WeakMap<Queues, Map<number, WorkerIntervals>>();

function workerIntervals({ queues, lives }: LaneBox, cpu: number): WorkerIntervals {
  const ofCpu = workers.get(queues) ?? new Map<number, WorkerIntervals>();
  workers.set(queues, ofCpu);
  let found = ofCpu.get(cpu);
  if (found === undefined) {
    const batches = queues.batches.filter((batch) => batch.cpu === cpu);
    const waits = lives.waits.filter((wait) => wait.worker && wait.cpu === cpu);
    const [from, to] = [(one: { t0: number }) => one.t0, (one: { t1: number }) => one.t1] as const;
    const ofBatches = new Intervals<Batch>(batches, from, to);
    found = { batches, waits, ofBatches, ofWaits: new Intervals<GraceWait>(waits, from, to) };
    ofCpu.set(cpu, found);
  }
  return found;
}

/** What the worker of a CPU did, and for what it waited, that may touch what is asked for. */
export function workerIn(at: At, cpu: number): Pick<WorkerIntervals, 'batches' | 'waits'> {
  const { batches, waits, ofBatches, ofWaits } = workerIntervals(at.box, cpu);
  const [a, b] = askedOf(at);
  const [done, waited] = [ofBatches.near(a, b), ofWaits.near(a, b)];
  return { batches: batches.slice(done.from, done.to), waits: waits.slice(waited.from, waited.to) };
}
