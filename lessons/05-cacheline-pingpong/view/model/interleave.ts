// SPDX-License-Identifier: GPL-2.0-or-later
/** Merges the streams of all CPUs into one order, which depends on a schedule and a seed. */

import {
  type AccessStream,
  LineStates,
  type MergedLog,
  type Settings,
  type Spent,
  type Until,
} from './coherence.ts';
import { gather, linesOf } from './streams.ts';

// Uses a tournament tree to find the earliest of up to 64 clocks. A change of one clock needs log2(n) comparisons.

class Earliest {
  private readonly size: number;
  private readonly times: Float64Array;
  /** Node k of the tree is the winner of its children 2k and 2k + 1. The leaves begin at `size`. */
  private readonly winner: Uint8Array;

  constructor(clocks: number) {
    let size = 1;
    while (size < clocks) size *= 2;
    this.size = size;
    this.times = new Float64Array(size).fill(Infinity);
    this.winner = new Uint8Array(2 * size);
    for (let i = 0; i < size; i++) this.winner[size + i] = i;
    for (let k = size - 1; k > 0; k--) this.winner[k] = this.winner[2 * k]!;
  }

  /** The clock with the smallest time. Of several clocks with this time, the one with the lowest number. */
  first(): number {
    return this.winner[1]!;
  }

  at(clock: number): number {
    return this.times[clock]!;
  }

  set(clock: number, time: number): void {
    const { times, winner } = this;
    times[clock] = time;
    for (let k = (this.size + clock) >> 1; k > 0; k >>= 1) {
      const left = winner[2 * k]!;
      const right = winner[2 * k + 1]!;
      winner[k] = times[right]! < times[left]! ? right : left;
    }
  }
}

// The model's only source of randomness: mulberry32, with 32 bits of state, as in model.py.

class Chance {
  private state: number;

  constructor(seed: number) {
    this.state = seed | 0;
  }

  /** The next random whole number in [0, 2^32). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    const a = this.state;
    let t = Math.imul(a ^ (a >>> 15), a | 1);
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
    return (t ^ (t >>> 14)) >>> 0;
  }

  /** The next random number in [0, 1). */
  unit(): number {
    return this.next() / 4294967296;
  }

  /** The next random whole number in [0, n). */
  below(n: number): number {
    return Math.floor((this.next() / 4294967296) * n);
  }
}

/**
 * The schedule `timed`, in which the order of accesses depends on the duration of each access.
 *
 * A CPU does its accesses one after another. A hit takes hitNs. Any other access is a request to the line. A line
 * serves one request at a time, in order of arrival. If two requests arrive at the same time, the request of the lower
 * CPU is first. A request takes transferNs, or upgradeNs if the CPU still has a copy when the line serves the request.
 * After the share `handover` of that time, the request has reached the CPUs that have the line. These CPUs can use the
 * line before this moment, but not after it. The CPU that made the request continues at the end of that time. Between
 * two accesses a CPU does private work. The stream gives the duration of this work, and `jitter` varies the duration.
 * At the start, each CPU waits for a random fraction of ownNs.
 */

const none = -1;

/** Phase in which a CPU's clock shows the due time of its next access. */
const running = 0;
/** Phase in which a CPU's clock shows when its request reaches the CPUs that have the line. */
const taking = 1;
/** Phase in which a CPU's clock shows when the requested line arrives. */
const coming = 2;

function timedOrder(
  streams: readonly AccessStream[],
  settings: Settings,
  seed: number,
  until: Until,
): MergedLog {
  const lines = linesOf(streams);
  const run = new TimedRun(streams, lines, settings, seed);
  const { length, endNs } = run.toEnd(until);
  return gather(streams, lines, run.order.slice(0, length), endNs, run.spent(length));
}

class TimedRun {
  readonly order: Uint8Array;
  private readonly streams: readonly AccessStream[];
  private readonly settings: Settings;
  private readonly chance: Chance;
  private readonly states: LineStates;
  private readonly clock: Earliest;
  private readonly next: Uint32Array;
  /** Phase of each CPU, which defines the meaning of the CPU's time: running, taking or coming. */
  private readonly phase: Uint8Array;
  /**
   * For each CPU, data of its current access. `since`: due time. `place`: place in the order. `before`: private work
   * before the access.
   */
  private readonly since: Float64Array;
  private readonly place: Uint32Array;
  private readonly before: Float64Array;
  private readonly accessNs: Float64Array;
  private ownNs = 0;
  /** For each CPU, the time at which the service of its request ends. */
  private readonly over: Float64Array;
  private readonly busy: Uint8Array;
  /** Queue of waiting requests per line: `head` and `tail` are CPUs, and `follower` is the next CPU after each CPU. */
  private readonly head: Int32Array;
  private readonly tail: Int32Array;
  private readonly follower: Int32Array;

  constructor(streams: readonly AccessStream[], lines: number, settings: Settings, seed: number) {
    const cpus = streams.length;
    this.streams = streams;
    this.settings = settings;
    this.chance = new Chance(seed);
    this.states = new LineStates(lines, settings.protocol);
    this.clock = new Earliest(cpus);
    this.order = new Uint8Array(streams.reduce((n, s) => n + s.op.length, 0));
    this.next = new Uint32Array(cpus);
    this.phase = new Uint8Array(cpus);
    this.over = new Float64Array(cpus);
    this.since = new Float64Array(cpus);
    this.place = new Uint32Array(cpus);
    this.before = new Float64Array(cpus);
    this.accessNs = new Float64Array(this.order.length);
    this.busy = new Uint8Array(lines);
    this.head = new Int32Array(lines).fill(none);
    this.tail = new Int32Array(lines).fill(none);
    this.follower = new Int32Array(cpus).fill(none);
    for (let c = 0; c < cpus; c++) {
      const start = settings.latencies.ownNs * this.chance.unit();
      this.clock.set(c, streams[c]!.op.length > 0 ? start + this.ownWork(c) : Infinity);
    }
  }

  /** Run until one stream is used up, or until all streams are. */
  toEnd(until: Until): { length: number; endNs: number } {
    const { clock, states, streams, next, phase, over, busy, order, since, place } = this;
    const { hitNs } = this.settings.latencies;
    let length = 0;
    let endNs = 0;
    if (until === 'first' && streams.some((s) => s.op.length === 0)) return { length, endNs };
    for (;;) {
      const cpu = clock.first();
      const now = clock.at(cpu);
      if (now === Infinity) break;
      const i = next[cpu]!;
      const line = streams[cpu]!.line[i]!;
      const kind = streams[cpu]!.kind[i]!;
      let done = now;
      if (phase[cpu] === taking) {
        states.access(cpu, line, kind);
        place[cpu] = length;
        order[length++] = cpu;
        phase[cpu] = coming;
        clock.set(cpu, over[cpu]!);
        continue;
      }
      if (phase[cpu] === coming) {
        phase[cpu] = running;
        this.serveNext(line, now);
      } else if (states.hits(cpu, line, kind)) {
        states.access(cpu, line, kind);
        since[cpu] = now;
        place[cpu] = length;
        order[length++] = cpu;
        done = now + hitNs;
      } else {
        since[cpu] = now;
        if (busy[line]) this.wait(cpu, line);
        else this.serve(cpu, line, now);
        continue;
      }
      endNs = Math.max(endNs, done);
      this.accessNs[place[cpu]!] = done - since[cpu]!;
      this.ownNs += this.before[cpu]!;
      next[cpu] = i + 1;
      if (i + 1 < streams[cpu]!.op.length) clock.set(cpu, done + this.ownWork(cpu));
      else if (until === 'first') break;
      else clock.set(cpu, Infinity);
    }
    return { length, endNs };
  }

  /** Return the time spent in the first `length` accesses of the order. */
  spent(length: number): Spent {
    return { accessNs: this.accessNs.slice(0, length), ownNs: this.ownNs };
  }

  /** Return the private work before the next access of a CPU, ns. */
  private ownWork(cpu: number): number {
    const share = this.streams[cpu]!.work[this.next[cpu]!]!;
    this.before[cpu] = 0;
    if (share === 0) return 0;
    const { jitter, latencies } = this.settings;
    const work = latencies.ownNs * share * (1 + jitter * (2 * this.chance.unit() - 1));
    this.before[cpu] = work;
    return work;
  }

  private serve(cpu: number, line: number, now: number): void {
    const { handover, latencies } = this.settings;
    const takes = this.states.has(cpu, line) ? latencies.upgradeNs : latencies.transferNs;
    this.busy[line] = 1;
    this.phase[cpu] = taking;
    this.over[cpu] = now + takes;
    this.clock.set(cpu, now + takes * handover);
  }

  private wait(cpu: number, line: number): void {
    const last = this.tail[line]!;
    if (last === none) this.head[line] = cpu;
    else this.follower[last] = cpu;
    this.tail[line] = cpu;
    this.follower[cpu] = none;
    this.clock.set(cpu, Infinity);
  }

  private serveNext(line: number, now: number): void {
    const cpu = this.head[line]!;
    this.busy[line] = 0;
    if (cpu === none) return;
    this.head[line] = this.follower[cpu]!;
    if (this.head[line] === none) this.tail[line] = none;
    this.serve(cpu, line, now);
  }
}

/**
 * Merge all accesses into one order.
 *
 * - random: each next access belongs to a random CPU. All CPUs that have accesses left are equally likely.
 * - timed: each CPU has its own time, and waits for lines that other CPUs use (timedOrder).
 */
export function interleave(
  streams: readonly AccessStream[],
  settings: Settings,
  seed: number,
  until: Until = 'last',
): MergedLog {
  if (settings.schedule === 'timed') return timedOrder(streams, settings, seed, until);
  return gather(streams, linesOf(streams), randomOrder(streams, seed, until), null);
}

function randomOrder(streams: readonly AccessStream[], seed: number, until: Until): Uint8Array {
  const chance = new Chance(seed);
  const left = Uint32Array.from(streams, (s) => s.op.length);
  const ready = Array.from(streams, (_, c) => c).filter((c) => left[c]! > 0);
  const order = new Uint8Array(left.reduce((a, b) => a + b, 0));
  let length = 0;
  if (until === 'first' && ready.length < streams.length) return order.subarray(0, 0);
  while (ready.length > 0) {
    const at = chance.below(ready.length);
    const c = ready[at]!;
    order[length++] = c;
    if (--left[c]! > 0) continue;
    if (until === 'first') break;
    ready.splice(at, 1);
  }
  return order.slice(0, length);
}
