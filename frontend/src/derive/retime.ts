// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * A lane whose axis counts points instead of guest time. Each step of the axis is one point, such as a visited entry or
 * an access.
 *
 * A step is one microsecond of frame time, so that playback, zoom and beats need no second clock. Events between two
 * points are mapped to the step of the earlier point. The mapping is monotonic, so sorted orders remain valid.
 */

import { firstAbove } from '../base/columns.ts';
import { momentMs, type Nanos, ns, plural, speedWords, stepSpeedWords } from '../base/units.ts';
import type { Axis } from '../protocol/lesson.ts';
import type {
  LaneIndex,
  LinkTable,
  OpTable,
  Order,
  PointTable,
  SpanTable,
  Strand,
} from './types.ts';

/** Length of a step of the axis in frame time, ns. */
export const stepNs = 1000;

/** Format a moment of the axis for the readout: "1,234.567 ms", or "128 entries". */
export function momentWords(axis: Axis | null, t: number): string {
  if (axis === null) return momentMs(t);
  return plural(Math.max(0, Math.floor(t / stepNs + 1e-6)), axis.unit, axis.plural);
}

/** Describe a playback speed on the axis in words. */
export function axisSpeedWords(axis: Axis | null, speed: number): string {
  return axis === null ? speedWords(speed) : stepSpeedWords(speed, stepNs, axis);
}

/** Contains one object for each state of a lane, so that caches with the lane as their key remain valid. */
const cache = new WeakMap<LaneIndex, { readonly at: string; readonly lane: LaneIndex }>();

export function retimed(lane: LaneIndex, point: string): LaneIndex {
  const { points, spans, open, ops, links } = lane;
  const at = [point, points.length, spans.length, open.length, ops.length, links.length]
    .concat([lane.watermark, Number(lane.ended), lane.opsEvicted, lane.losses.length])
    .join(' ');
  const known = cache.get(lane);
  if (known?.at === at) return known.lane;
  const made = make(lane, point);
  cache.set(lane, { at, lane: made });
  return made;
}

function make(lane: LaneIndex, point: string): LaneIndex {
  const steps = lane.pointsOf(point);
  const guest = (k: number) => lane.points.t[steps.order[k]!]!;
  /** Frame time of the steps that are completed at guest time `t`. */
  const over = (t: number) => firstAbove(steps.length, guest, t) * stepNs;
  const column = (of: Float64Array, length: number) =>
    Float64Array.from({ length }, (_, i) => over(of[i]!));
  const spansOf = (table: SpanTable): SpanTable => ({
    ...tableOf(table),
    t0: column(table.t0, table.length),
    t1: column(table.t1, table.length),
  });
  const ops: OpTable = {
    ...opTableOf(lane.ops),
    t0: column(lane.ops.t0, lane.ops.length),
    t1: column(lane.ops.t1, lane.ops.length),
  };
  const links: LinkTable = {
    ...linkTableOf(lane.links),
    t: column(lane.links.t, lane.links.length),
  };
  const spans = spansOf(lane.spans);
  const strands: Strand[] = lane.strands.map((strand) => ({
    row: strand.row,
    layer: strand.layer,
    order: strand.order,
    length: strand.length,
    longest: longestOf(spans, strand),
    levels: [],
  }));
  const guestTime = (t: number): Nanos => {
    const k = Math.floor(t / stepNs) - 1;
    if (steps.length === 0) return ns(0);
    return ns(guest(Math.max(0, Math.min(steps.length - 1, k))));
  };
  return {
    arm: lane.arm,
    rows: lane.rows,
    spans,
    open: spansOf(lane.open),
    ops,
    links,
    points: pointsOf(lane.points, column(lane.points.t, lane.points.length)),
    strands,
    opsByEnd: lane.opsByEnd,
    linksByTime: lane.linksByTime,
    opsEvicted: lane.opsEvicted,
    longestWait: 0,
    watermark: ns(over(lane.watermark)),
    startNs: null,
    historyFrom: ns(over(lane.historyFrom)),
    losses: lane.losses.map((loss) => ({ ...loss, t0: ns(over(loss.t0)), t1: ns(over(loss.t1)) })),
    ended: lane.ended,
    failed: lane.failed,
    strand: (row, layer) => strands.find((s) => s.row === row && s.layer === layer) ?? null,
    pointsOf: (name): Order => lane.pointsOf(name),
    samples: (probe) => lane.samples(probe).map((sample) => ({ ...sample, t: ns(over(sample.t)) })),
    probes: () => lane.probes(),
    guestTime,
    pointTime: (i) => lane.pointTime(i),
    layerOf: (kind) => lane.layerOf(kind),
  };
}

function longestOf(spans: SpanTable, strand: Strand): number {
  let longest = 0;
  for (let p = 0; p < strand.length; p++) {
    const i = strand.order[p]!;
    longest = Math.max(longest, spans.t1[i]! - spans.t0[i]!);
  }
  return longest;
}

// Copy a table, so that its time columns can be replaced.
// Tables are class instances whose columns are fields, so each column is copied by name.

function tableOf({ length, t0, t1, row, kind, cpu, arg, id }: SpanTable): SpanTable {
  return { length, t0, t1, row, kind, cpu, arg, id };
}

function opTableOf({ length, t0, t1, row, ok, id }: OpTable): OpTable {
  return { length, t0, t1, row, ok, id };
}

function linkTableOf({ length, t, from, to, kind, id }: LinkTable): LinkTable {
  return { length, t, from, to, kind, id };
}

function pointsOf(points: PointTable, t: Float64Array): PointTable {
  const { length, kind, cpu, tid, a, b, c, d, e, f, id } = points;
  return { length, t, kind, cpu, tid, a, b, c, d, e, f, id };
}
