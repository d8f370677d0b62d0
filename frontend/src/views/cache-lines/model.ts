// SPDX-License-Identifier: GPL-2.0-or-later
/** How the counted streams meet, modelled: a merged order, states and transfers, with sums up to every step. */

import type { LaneIndex } from '../../derive/types.ts';
import { isNameRead, type Struct, structOf } from './fields.ts';
import { interleave } from './model/interleave.ts';
import { endsOperation } from './model/merge.ts';
import { simulate, type Trace } from './model/simulate.ts';
import { askedFor, spreadOver } from './model/streams.ts';
import { readTransfer, upgrade, writeTransfer } from './model/types.ts';
import { type ModelSettings, settingsKey } from './settings.ts';
import { type Counted, countedOf, repeatedSource } from './streams.ts';

/** Sums over the first k accesses, for every k. */
export interface Sums {
  readonly ops: Uint32Array;
  readonly transfers: Uint32Array;
  /** Transfers for the sake of comparing the name. */
  readonly forName: Uint32Array;
  readonly upgrades: Uint32Array;
}

export interface Modelled {
  readonly trace: Trace;
  readonly settings: ModelSettings;
  readonly counted: Counted;
  /** The point of the lane that an access is. */
  readonly point: Uint32Array;
  /** Number of the operation of its CPU that an access belongs to, from 1. */
  readonly op: Uint32Array;
  readonly sums: Sums;
}

const cache = new WeakMap<Counted, Map<string, Modelled | null>>();
/** Settings a lane is kept for: those of the picture, and of what a sentence compares it with. */
const maxCached = 4;

/** The model of a lane; null while there is no whole operation. */
export function modelOf(lane: LaneIndex, settings: ModelSettings): Modelled | null {
  const counted = countedOf(lane);
  const struct = structOf(lane);
  const key = `${settingsKey(settings)} ${struct === null}`;
  const models = cache.get(counted) ?? new Map<string, Modelled | null>();
  cache.set(counted, models);
  const known = models.get(key);
  if (known !== undefined) return known;
  const modelled = counted.ops === 0 ? null : make(lane, counted, struct, settings);
  if (models.size >= maxCached) models.delete([...models.keys()][0]!);
  models.set(key, modelled);
  return modelled;
}

/** The axis ends with the accesses on show, so the model needs no more of each CPU than fills it. */
function opsEach({ shown, perOp, ops }: Counted, cpus: number, real: number): number {
  if (cpus <= real) return ops;
  return Math.max(4, Math.ceil((shown / (cpus * perOp)) * 1.3) + 2);
}

function make(
  lane: LaneIndex,
  counted: Counted,
  struct: Struct | null,
  settings: ModelSettings,
): Modelled {
  const { streams, source } = counted;
  const ops = opsEach(counted, settings.cpus, streams.length);
  const spread = spreadOver(askedFor(streams, settings.owning), settings.cpus, ops);
  const sources = streams.map((stream, i) => repeatedSource(stream, source[i]!, ops));
  const log = interleave(spread, settings, settings.seed);
  const trace = simulate(log, settings.protocol);
  const { length, cpu, index } = log;
  const point = new Uint32Array(length);
  const op = new Uint32Array(length);
  const sums: Sums = {
    ops: new Uint32Array(length + 1),
    transfers: new Uint32Array(length + 1),
    forName: new Uint32Array(length + 1),
    upgrades: new Uint32Array(length + 1),
  };
  for (let k = 0; k < length; k++) {
    const [c, i] = [cpu[k]!, index[k]!];
    point[k] = sources[c % sources.length]![i]!;
    op[k] = spread[c]!.op[i]!;
    const event = trace.event[k]!;
    const moves = event === readTransfer || event === writeTransfer;
    const name =
      moves &&
      isNameRead(struct, lane.points.a[point[k]!]! + counted.lead, lane.points.c[point[k]!] !== 0);
    add(sums.ops, k, endsOperation(spread[c]!, i));
    add(sums.transfers, k, moves);
    add(sums.forName, k, name);
    add(sums.upgrades, k, event === upgrade);
  }
  return { trace, settings, counted, point, op, sums };
}

function add(sum: Uint32Array, k: number, one: boolean): void {
  sum[k + 1] = sum[k]! + (one ? 1 : 0);
}

/** Over the whole order, its cold begin included; NaN without an operation. */
export function transfersPerStat({ sums, trace }: Modelled): number {
  const { length } = trace.log;
  return sums.transfers[length]! / sums.ops[length]!;
}
