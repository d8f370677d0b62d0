// SPDX-License-Identifier: GPL-2.0-or-later
/** A merged log under a protocol: what every access was, the totals, and the state at any access. */

import { LineStates } from './lines.ts';
import {
  hit,
  type MergedLog,
  nobody,
  type Protocol,
  readFetch,
  readTransfer,
  type Totals,
  upgrade,
  writeFetch,
  writeTransfer,
} from './types.ts';

/** Accesses between two saved states. */
const keyEvery = 1024;

export interface Trace {
  readonly log: MergedLog;
  readonly protocol: Protocol;
  /** Per access: hit, readTransfer, ... */
  readonly event: Uint8Array;
  /** Per access: the CPU that gave the data, or nobody. */
  readonly from: Uint8Array;
  /** Per access: how many CPUs lost their copy. */
  readonly lost: Uint8Array;
  readonly totals: Totals;
  readonly keys: readonly LineStates[];
}

/** Follows every access of the log. */
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

/** States after the first k accesses, 0 <= k <= length: ask it with state(cpu, line). */
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
