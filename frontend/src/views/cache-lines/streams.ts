// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Each CPU's own accesses, as they were counted, made fit for the model: whole operations, and of every CPU as many. More
 * CPUs than there were run the same streams again.
 */

import type { LaneIndex } from '../../derive/types.ts';
import { countsOf, leadOf } from './cells.ts';
import { structOf } from './fields.ts';
import { recordedStreams } from './model/recorded.ts';
import { isPlaced } from './model/stated.ts';
import { wholeOperations } from './model/streams.ts';
import type { AccessStream } from './model/types.ts';

export interface Counted {
  /** Whole operations of each vCPU that did at least half as many as the busiest. */
  readonly streams: readonly AccessStream[];
  /** Per stream: which point of the lane an access is. */
  readonly source: readonly Uint32Array[];
  /** vCPUs the streams come from. */
  readonly cpus: readonly number[];
  /** Whole operations of each stream. */
  readonly ops: number;
  /** Accesses of an operation, on average. */
  readonly perOp: number;
  /** Accesses that were reported, those outside of operations too: the length of the axis. */
  readonly shown: number;
  /** Where in an operation the functions' accesses lie is known, so private work is; else no rate can be predicted. */
  readonly placed: boolean;
  /** Bytes of the object's first line before the object. */
  readonly lead: number;
}

interface Cached {
  readonly length: number;
  readonly names: number;
  readonly ended: boolean;
  readonly counted: Counted;
}

const cache = new WeakMap<LaneIndex, Cached>();

/** Accesses come in many small pieces, and each costs a look at all of them: what grew by less has to wait. */
const leastGrowth = 1.15;

export function countedOf(lane: LaneIndex): Counted {
  const known = cache.get(lane);
  const { length } = lane.points;
  const names = countsOf(lane)?.texts.length ?? 0;
  const { ended } = lane;
  const lead = structOf(lane)?.lead ?? leadOf(countsOf(lane)?.facts['address'] ?? 0);
  const same = known?.names === names && known.ended === ended && known.counted.lead === lead;
  if (known !== undefined && same) {
    if (length >= known.length && length < (ended ? known.length + 1 : known.length * leastGrowth))
      return known.counted;
  }
  const counted = make(lane, lead);
  cache.set(lane, { length, names, ended, counted });
  return counted;
}

/** The columns of `access` points; see the lesson's `points`. */
function make(lane: LaneIndex, lead: number): Counted {
  const { order, length } = lane.pointsOf('access');
  const { points } = lane;
  const column = (of: ArrayLike<number>) => Float64Array.from({ length }, (_, p) => of[order[p]!]!);
  const records = {
    length,
    cpu: column(points.cpu),
    at: column(points.a),
    size: column(points.b),
    kind: column(points.c),
    func: column(points.d),
    op: column(points.e),
  };
  const functions = countsOf(lane)?.texts ?? [];
  const named = functions.length > 0 ? { functions } : {};
  const recorded = recordedStreams(records, { ...named, offset: lead });
  const all = recorded.streams.map((stream, i) => {
    const whole = wholeOperations(stream);
    return {
      whole,
      cpu: recorded.cpus[i]!,
      ops: operations(whole),
      source: sourceOf(stream, recorded.source[i]!, order),
    };
  });
  const most = Math.max(0, ...all.map((one) => one.ops));
  const used = all.filter((one) => one.ops > 0 && one.ops >= most / 2);
  const ops = used.length === 0 ? 0 : Math.min(...used.map((one) => one.ops));
  const accesses = used.reduce((sum, one) => sum + one.whole.op.length, 0);
  const operationsOfAll = used.reduce((sum, one) => sum + one.ops, 0);
  return {
    streams: used.map((one) => one.whole),
    source: used.map((one) => one.source),
    cpus: used.map((one) => one.cpu),
    ops,
    perOp: operationsOfAll === 0 ? 0 : accesses / operationsOfAll,
    shown: length,
    placed:
      functions.length > 0 && isPlaced(new Set(Array.from(records.func, (f) => functions[f]))),
    lead,
  };
}

function operations({ op }: AccessStream): number {
  let n = 0;
  for (let i = 0; i < op.length; i++) if (i === 0 || op[i] !== op[i - 1]) n += 1;
  return n;
}

/** Points of the accesses that wholeOperations() keeps. */
function sourceOf({ op }: AccessStream, source: Uint32Array, order: Uint32Array): Uint32Array {
  const [first, last] = [op[0] ?? 0, op[op.length - 1] ?? 0];
  const places: number[] = [];
  for (let i = 0; i < op.length; i++)
    if (op[i] !== 0 && op[i] !== first && op[i] !== last) places.push(order[source[i]!]!);
  return Uint32Array.from(places);
}

/** What spreadOver() makes of a stream, for its sources: operation after operation, again from the first. */
export function repeatedSource(stream: AccessStream, source: Uint32Array, ops: number) {
  const begins: number[] = [];
  for (let i = 0; i < stream.op.length; i++)
    if (i === 0 || stream.op[i] !== stream.op[i - 1]) begins.push(i);
  begins.push(stream.op.length);
  const places: number[] = [];
  for (let n = 0; n < ops; n++) {
    const b = n % (begins.length - 1);
    for (let i = begins[b]!; i < begins[b + 1]!; i++) places.push(source[i]!);
  }
  return Uint32Array.from(places);
}
