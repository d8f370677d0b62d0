// SPDX-License-Identifier: GPL-2.0-or-later
/** The model of the counted streams: a merged order, states and transfers, and sums up to each step. */

import type { LaneIndex, RunIndex } from '@page/derive/types.ts';
import type { Lesson } from '@page/protocol/lesson.ts';
import { countsOf, isNameRead, leadOf, type Struct, structOf } from './fields.ts';
import {
  type AccessStream,
  type Protocol,
  readTransfer,
  type Schedule,
  type Settings,
  simulate,
  type Trace,
  upgrade,
  writeTransfer,
} from './model/coherence.ts';
import { interleave } from './model/interleave.ts';
import { pointAt } from './model/prediction.ts';
import { isPlaced, statedSettings } from './model/stated.ts';
import {
  askedFor,
  endsOperation,
  recordedStreams,
  spreadOver,
  wholeOperations,
} from './model/streams.ts';

// The model's settings. They come from a lesson's knobs for the model. Without such a knob, the stated number is used.

export interface ModelSettings extends Settings {
  readonly cpus: number;
  readonly seed: number;
  /**
   * Whether a load asks to own the line, and not only to read it, if a read-modify-write follows; see owningLoads().
   * The mail's profile supports this rule.
   */
  readonly owning: boolean;
}

const protocols: readonly Protocol[] = ['MESI', 'MSI'];
const schedules: readonly Schedule[] = ['random', 'timed'];

/** Seed of the order in the picture. The curve uses several seeds and shows their range. */
export const pictureSeed = 1;

const { latencies, jitter, handover } = statedSettings;

const usual = {
  model_cpus: 2,
  protocol: 0,
  schedule: 1,
  owning: 1,
  // The unit is ps, because a hit takes little more than 1 ns and knobs are whole numbers.
  hit_ps: latencies.hitNs * 1000,
  transfer_ns: latencies.transferNs,
  upgrade_ns: latencies.upgradeNs,
  own_ns: latencies.ownNs,
} as const;

/** Names of the knobs that a lesson may declare. */
export const modelKnobs: readonly string[] = Object.keys(usual);

export function settingsOf(
  params: RunIndex['params'],
  lesson: Pick<Lesson, 'params'>,
): ModelSettings {
  const of = (name: keyof typeof usual) =>
    params[name] ?? lesson.params[name]?.default ?? usual[name];
  return {
    cpus: Math.max(1, Math.min(64, Math.round(of('model_cpus')))),
    protocol: protocols[of('protocol')] ?? 'MESI',
    schedule: schedules[of('schedule')] ?? 'random',
    latencies: {
      hitNs: of('hit_ps') / 1000,
      transferNs: of('transfer_ns'),
      upgradeNs: of('upgrade_ns'),
      ownNs: of('own_ns'),
    },
    jitter,
    handover,
    seed: pictureSeed,
    owning: of('owning') === 1,
  };
}

/** Return a cache key of the settings. */
export function settingsKey(settings: ModelSettings): string {
  return JSON.stringify(settings);
}

/**
 * Counted accesses of each CPU, prepared for the model: only complete operations, and the same number from each CPU. If
 * the model has more CPUs than the run, several CPUs of the model run the same stream.
 */

export interface Counted {
  /**
   * Complete operations of each vCPU. A vCPU with less than half as many operations as the busiest vCPU is left out.
   */
  readonly streams: readonly AccessStream[];
  /** For each access of each stream, the index of the lane's point. */
  readonly source: readonly Uint32Array[];
  /** The vCPU of each stream. */
  readonly cpus: readonly number[];
  /** Number of complete operations in each stream. */
  readonly ops: number;
  /** Average number of accesses per operation. */
  readonly perOp: number;
  /** Number of reported accesses, including those outside operations. This number is the length of the axis. */
  readonly shown: number;
  /**
   * Whether the positions of the functions' accesses in an operation were counted. Otherwise private work is unknown,
   * and no rate is predicted.
   */
  readonly placed: boolean;
  /** Number of bytes in the object's first line that precede the object. */
  readonly lead: number;
}

interface Cached {
  readonly length: number;
  readonly names: number;
  readonly ended: boolean;
  readonly counted: Counted;
}

const countedCache = new WeakMap<LaneIndex, Cached>();

/**
 * Minimum growth of the number of accesses before a new model is made. Accesses arrive in many small batches, and each
 * new model reads all accesses.
 */
const leastGrowth = 1.15;

export function countedOf(lane: LaneIndex): Counted {
  const known = countedCache.get(lane);
  const { length } = lane.points;
  const names = countsOf(lane)?.texts.length ?? 0;
  const { ended } = lane;
  const lead = structOf(lane)?.lead ?? leadOf(countsOf(lane)?.facts['address'] ?? 0);
  const same = known?.names === names && known.ended === ended && known.counted.lead === lead;
  if (known !== undefined && same) {
    if (length >= known.length && length < (ended ? known.length + 1 : known.length * leastGrowth))
      return known.counted;
  }
  const counted = makeCounted(lane, lead);
  countedCache.set(lane, { length, names, ended, counted });
  return counted;
}

/** Make the streams from the columns of the `access` points, which trace.yaml defines. */
function makeCounted(lane: LaneIndex, lead: number): Counted {
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

/** Return the points of the accesses that wholeOperations() keeps. */
function sourceOf({ op }: AccessStream, source: Uint32Array, order: Uint32Array): Uint32Array {
  const [first, last] = [op[0] ?? 0, op[op.length - 1] ?? 0];
  const places: number[] = [];
  for (let i = 0; i < op.length; i++)
    if (op[i] !== 0 && op[i] !== first && op[i] !== last) places.push(order[source[i]!]!);
  return Uint32Array.from(places);
}

/**
 * Return the point of each access, for a stream that spreadOver() has repeated. In a repeated stream, the first
 * operation follows again after the last operation.
 */
function repeatedSource(stream: AccessStream, source: Uint32Array, ops: number) {
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

/** For each k, sums over the first k accesses. */
export interface Sums {
  readonly ops: Uint32Array;
  readonly transfers: Uint32Array;
  /** Transfers caused by comparisons of the name. */
  readonly forName: Uint32Array;
  readonly upgrades: Uint32Array;
}

export interface Modelled {
  readonly trace: Trace;
  readonly settings: ModelSettings;
  readonly counted: Counted;
  /** For each access, the index of the lane's point. */
  readonly point: Uint32Array;
  /** For each access, the number of the CPU's operation, counted from 1. */
  readonly op: Uint32Array;
  readonly sums: Sums;
}

const modelCache = new WeakMap<Counted, Map<string, Modelled | null>>();
/** Maximum number of cached models per lane. The picture needs one model, and sentences compare several settings. */
const maxCached = 4;

/** The model of a lane; null until there is a complete operation. */
export function modelOf(lane: LaneIndex, settings: ModelSettings): Modelled | null {
  const counted = countedOf(lane);
  const struct = structOf(lane);
  const key = `${settingsKey(settings)} ${struct === null}`;
  const models = modelCache.get(counted) ?? new Map<string, Modelled | null>();
  modelCache.set(counted, models);
  const known = models.get(key);
  if (known !== undefined) return known;
  const modelled = counted.ops === 0 ? null : makeModelled(lane, counted, struct, settings);
  if (models.size >= maxCached) models.delete([...models.keys()][0]!);
  models.set(key, modelled);
  return modelled;
}

/**
 * Return the number of operations per CPU that fill the axis. The axis ends with the reported accesses, so the model
 * needs no more operations.
 */
function opsEach({ shown, perOp, ops }: Counted, cpus: number, real: number): number {
  if (cpus <= real) return ops;
  return Math.max(4, Math.ceil((shown / (cpus * perOp)) * 1.3) + 2);
}

function makeModelled(
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

/** Transfers per operation over all accesses, including the cold start; NaN if there is no operation. */
export function transfersPerStat({ sums, trace }: Modelled): number {
  const { length } = trace.log;
  return sums.transfers[length]! / sums.ops[length]!;
}

// Predicted stats per second for a single number of CPUs, for sentences and answers. A worker computes the curve.

const cache = new WeakMap<Counted, Map<string, number | null>>();

/**
 * Return the predicted rate, always with the schedule `timed`. Return null if the run is incomplete, or if the
 * positions of the functions' accesses in an operation are not known.
 */
export function predictedPerSecond(lane: LaneIndex, settings: ModelSettings): number | null {
  if (!lane.ended) return null;
  const counted = countedOf(lane);
  const all = cache.get(counted) ?? new Map<string, number | null>();
  cache.set(counted, all);
  const timed: ModelSettings = { ...settings, schedule: 'timed' };
  const key = settingsKey(timed);
  let value = all.get(key);
  if (value === undefined) {
    value = counted.ops === 0 || !counted.placed ? null : rate(counted, timed);
    all.set(key, value);
  }
  return value;
}

function rate({ streams }: Counted, settings: ModelSettings): number {
  return pointAt(askedFor(streams, settings.owning), settings, settings.cpus).opsPerS.median;
}

/** Ratio of the predicted rates, `after` to `before`; null if it is not known. */
export function predictedRatio(
  before: LaneIndex | undefined,
  after: LaneIndex | undefined,
  settings: ModelSettings,
): number | null {
  if (before === undefined || after === undefined || before === after) return null;
  const [one, other] = [before, after].map((lane) => predictedPerSecond(lane, settings));
  return one == null || other == null ? null : other / one;
}
