// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The coherence model. The accesses of each CPU are *counted*. The order of all CPUs' accesses is *modelled*, and so
 * are states, transfers and rates. model.py in backend/src/duet/lenses/scope does the same, step by step.
 */

/** Classes of accesses, with the same numbers as in the plug-in. */
export const reads = 0;
export const writes = 1;
export const modifies = 2;

/** States of a CPU's copy of a line. MSI has no state E. */
const invalid = 0;
const shared = 1;
const exclusive = 2;
const modified = 3;
export const stateNames = ['I', 'S', 'E', 'M'] as const;

/** Outcomes of an access: a hit, or one of five bus events. */
export const hit = 0;
/** A read of a line that no CPU has. The line comes from memory. */
export const readFetch = 1;
/** A read whose data come from another CPU's copy. */
export const readTransfer = 2;
/** A write to a shared copy. The other CPUs lose their copies, but no data travel. */
export const upgrade = 3;
/** A write to a line that no CPU has. The line comes from memory. */
export const writeFetch = 4;
/** A write whose data come from another CPU. All other CPUs lose their copies (a read for ownership). */
export const writeTransfer = 5;
export const eventNames = [
  'hit',
  'read from memory',
  'read transfer',
  'upgrade',
  'write from memory',
  'write transfer',
] as const;

/** Value of `from` for an access for which no CPU sent data. */
export const nobody = 255;

export const mostCpus = 64;

/** One CPU's accesses in its program's order. */
export interface AccessStream {
  /** Index of the line, counted from 0. */
  readonly line: Uint8Array;
  /** Class of the access: reads, writes or modifies. */
  readonly kind: Uint8Array;
  /** Number of the operation, never smaller than before; 0 for an access outside operations. */
  readonly op: Uint32Array;
  /** Private work before the access, as a share of the private work of an operation (Latencies.ownNs). */
  readonly work: Float64Array;
  /** Number of the access's part of the profile (prediction.ts), counted from 1; 0 if the access belongs to no part. */
  readonly part: Uint8Array;
}

/** The accesses of all CPUs, merged into one order. */
export interface MergedLog {
  readonly cpus: number;
  readonly lines: number;
  readonly length: number;
  readonly cpu: Uint8Array;
  /** Index of the access in the stream of its CPU. */
  readonly index: Uint32Array;
  readonly line: Uint8Array;
  readonly kind: Uint8Array;
  /** Number of operations that end within the log. */
  readonly ops: number;
  /** Modelled time at which the last access had finished, ns; null if the order has no times (random, as executed). */
  readonly endNs: number | null;
  /** Modelled time, split into accesses and private work; null if the order has no times. */
  readonly spent: Spent | null;
}

/** Modelled time of the finished accesses, split into accesses and private work. */
export interface Spent {
  /** For each access, the time in ns from its due time to its end. It includes the wait for the line. */
  readonly accessNs: Float64Array;
  /** Total private work before the finished accesses, ns. */
  readonly ownNs: number;
}

export type Protocol = 'MESI' | 'MSI';
export type Schedule = 'random' | 'timed';

/** Stated latencies, ns. */
export interface Latencies {
  /** Latency of an access to a line in the CPU's own cache. */
  readonly hitNs: number;
  /**
   * Latency of a transfer of a line from CPU to CPU. A fetch from memory, which happens once per line, takes the same
   * time.
   */
  readonly transferNs: number;
  /** Latency of an upgrade, which turns a shared copy into the only copy. */
  readonly upgradeNs: number;
  /**
   * Duration of an operation's private work, which accesses none of the modelled lines. AccessStream.work distributes
   * this work over the operation.
   */
  readonly ownNs: number;
}

export interface Settings {
  readonly protocol: Protocol;
  readonly schedule: Schedule;
  readonly latencies: Latencies;
  /**
   * Maximum random deviation of private work, as a share, up and down. Without it, copies of one stream would run in
   * step.
   */
  readonly jitter: number;
  /** Share of a transfer's duration after which the request has reached the CPUs that have the line. */
  readonly handover: number;
}

interface Totals {
  readonly accesses: number;
  readonly ops: number;
  readonly hits: number;
  readonly fetches: number;
  readonly readTransfers: number;
  readonly writeTransfers: number;
  /** Data transfers from CPU to CPU: readTransfers + writeTransfers. */
  readonly transfers: number;
  readonly upgrades: number;
  /** Number of copies lost to another CPU's write. */
  readonly invalidations: number;
  /** Number of accesses that are not hits. */
  readonly busEvents: number;
}

/**
 * End of the merged order. With `last`, the order ends when all streams are used up. With `first`, the order ends when
 * any stream is used up: all CPUs are busy until then, so the order has a rate.
 */
export type Until = 'first' | 'last';

/**
 * Copies of lines under MESI or MSI, which is a write-invalidate protocol without the state E.
 *
 * Caches never fill up, so only a write of another CPU removes a copy. The CPU that received a line last therefore
 * still has it, and sends the data. A line is either shared by all CPUs that have it or owned by one CPU. So one mode
 * per line and one bit per CPU describe all copies.
 */

export class LineStates {
  readonly lines: number;
  readonly protocol: Protocol;
  /** One bit per CPU: `low` for CPUs 0 to 31, `high` for CPUs 32 to 63. */
  readonly low: Int32Array;
  readonly high: Int32Array;
  /** State of a line's copies: shared, exclusive or modified; invalid if no CPU has a copy. */
  readonly mode: Uint8Array;
  /** The CPU that received the line last. */
  readonly holder: Uint8Array;
  /**
   * `from`: the CPU that sent the data for the last access. `lost`: the number of copies that this access invalidated.
   */
  from = nobody;
  lost = 0;
  private readonly alone: number;

  constructor(lines: number, protocol: Protocol) {
    this.lines = lines;
    this.protocol = protocol;
    this.low = new Int32Array(lines);
    this.high = new Int32Array(lines);
    this.mode = new Uint8Array(lines);
    this.holder = new Uint8Array(lines).fill(nobody);
    this.alone = protocol === 'MESI' ? exclusive : shared;
  }

  copy(): LineStates {
    const other = new LineStates(this.lines, this.protocol);
    other.low.set(this.low);
    other.high.set(this.high);
    other.mode.set(this.mode);
    other.holder.set(this.holder);
    return other;
  }

  has(cpu: number, line: number): boolean {
    const copies = cpu < 32 ? this.low[line]! : this.high[line]!;
    return (copies & (1 << (cpu & 31))) !== 0;
  }

  state(cpu: number, line: number): number {
    return this.has(cpu, line) ? this.mode[line]! : invalid;
  }

  /** Tell whether the access would be a hit. */
  hits(cpu: number, line: number, kind: number): boolean {
    return this.has(cpu, line) && (kind === reads || this.mode[line]! !== shared);
  }

  /** Apply an access to the states and return its outcome. */
  access(cpu: number, line: number, kind: number): number {
    this.from = nobody;
    this.lost = 0;
    const has = this.has(cpu, line);
    const mode = this.mode[line]!;
    if (kind === reads) {
      if (has) return hit;
      this.join(cpu, line);
      if (mode === invalid) {
        this.mode[line] = this.alone;
        return readFetch;
      }
      this.mode[line] = shared;
      return readTransfer;
    }
    this.mode[line] = modified;
    if (has && mode !== shared) return hit;
    const copies = bits(this.low[line]!) + bits(this.high[line]!);
    this.low[line] = 0;
    this.high[line] = 0;
    this.lost = has ? copies - 1 : copies;
    this.join(cpu, line);
    if (!has) return mode === invalid ? writeFetch : writeTransfer;
    this.from = nobody;
    return upgrade;
  }

  /** Give a CPU a copy, which comes from the CPU that received the line last. */
  private join(cpu: number, line: number): void {
    if (cpu < 32) this.low[line] = this.low[line]! | (1 << cpu);
    else this.high[line] = this.high[line]! | (1 << (cpu & 31));
    this.from = this.holder[line]!;
    this.holder[line] = cpu;
  }
}

function bits(word: number): number {
  let x = word - ((word >>> 1) & 0x55555555);
  x = (x & 0x33333333) + ((x >>> 2) & 0x33333333);
  return Math.imul((x + (x >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

// Result of a merged log under a protocol: the outcome of each access, the totals, and saved states.

/** Distance between two saved states, in accesses. */
const keyEvery = 1024;

export interface Trace {
  readonly log: MergedLog;
  readonly protocol: Protocol;
  /** Outcome of each access: hit, readTransfer, ... */
  readonly event: Uint8Array;
  /** For each access, the CPU that sent the data, or `nobody`. */
  readonly from: Uint8Array;
  /** For each access, the number of copies that it invalidated. */
  readonly lost: Uint8Array;
  readonly totals: Totals;
  readonly keys: readonly LineStates[];
}

/** Apply all accesses of a log, and record their outcomes. */
export function simulate(log: MergedLog, protocol: Protocol): Trace {
  const { length, cpu, line, kind } = log;
  const states = new LineStates(log.lines, protocol);
  const event = new Uint8Array(length);
  const from = new Uint8Array(length).fill(nobody);
  const lost = new Uint8Array(length);
  const counts = new Float64Array(6);
  const keys: LineStates[] = [];
  let invalidations = 0;
  for (let k = 0; k < length; k++) {
    if (k % keyEvery === 0) keys.push(states.copy());
    const what = states.access(cpu[k]!, line[k]!, kind[k]!);
    counts[what] = counts[what]! + 1;
    if (what === hit) continue;
    event[k] = what;
    from[k] = states.from;
    lost[k] = states.lost;
    invalidations += states.lost;
  }
  if (keys.length === 0) keys.push(states);
  return {
    log,
    protocol,
    event,
    from,
    lost,
    totals: totalsOf(log, counts, invalidations),
    keys,
  };
}

/** Return the states after the first k accesses, 0 <= k <= length. Use state(cpu, line) to read a state. */
export function stateAfter(trace: Trace, k: number): LineStates {
  const { length, cpu, line, kind } = trace.log;
  const until = Math.max(0, Math.min(length, k));
  const key = Math.min(trace.keys.length - 1, Math.floor(until / keyEvery));
  const states = trace.keys[key]!.copy();
  for (let i = key * keyEvery; i < until; i++) states.access(cpu[i]!, line[i]!, kind[i]!);
  return states;
}

function totalsOf(log: MergedLog, counts: Float64Array, invalidations: number): Totals {
  const readTransfers = counts[readTransfer]!;
  const writeTransfers = counts[writeTransfer]!;
  return {
    accesses: log.length,
    ops: log.ops,
    hits: counts[hit]!,
    fetches: counts[readFetch]! + counts[writeFetch]!,
    readTransfers,
    writeTransfers,
    transfers: readTransfers + writeTransfers,
    upgrades: counts[upgrade]!,
    invalidations,
    busEvents: log.length - counts[hit]!,
  };
}
