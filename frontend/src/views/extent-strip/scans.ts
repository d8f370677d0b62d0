// SPDX-License-Identifier: GPL-2.0-or-later
/** Scans, the fate of the entries they looked at, and what their budget was charged for. All from events. */

import { firstAtLeast } from '../../base/columns.ts';
import { t as tr } from '../../base/lang/t.ts';
import { heldOp, laneTime } from '../../derive/align.ts';
import { stepNs } from '../../derive/retime.ts';
import type { Frame, LaneIndex } from '../../derive/types.ts';
import { freed, kept, spared, visitsAt } from './block-replay.ts';

/** One scan: the visits (from, to], counted from 1. */
export interface Scan {
  /** From 1. */
  readonly number: number;
  readonly from: number;
  readonly to: number;
  /** It has not come back yet, as far as is known. */
  readonly open: boolean;
}

/** What a budget is charged for: every look, or every entry freed. */
export type Charge = 'looks' | 'gains';

export interface Sums {
  readonly visited: number;
  readonly kept: number;
  readonly spared: number;
  readonly freed: number;
}

/** What does not change with the moment. */
export interface Facts {
  readonly scans: readonly Scan[];
  /** Entries with that fate among the first n visits. */
  readonly upTo: readonly [Int32Array, Int32Array, Int32Array];
  readonly visits: number;
  readonly charge: Charge | null;
  /** Budget of one scan; 0: not known. */
  readonly budget: number;
  /** Visits that scans count but no event reported one by one. */
  readonly untold: number;
  /** The scan (from 1) that freed its first entry; 0: none did. */
  readonly firstGain: number;
}

const facts = new WeakMap<LaneIndex, Facts>();

export function factsOf(lane: LaneIndex): Facts {
  let known = facts.get(lane);
  if (known === undefined) {
    known = make(lane);
    facts.set(lane, known);
  }
  return known;
}

function make(lane: LaneIndex): Facts {
  const visit = lane.pointsOf('visit');
  const visits = visit.length;
  const upTo = [0, 1, 2].map(() => new Int32Array(visits + 1)) as unknown as Facts['upTo'];
  for (let v = 0; v < visits; v++) {
    const fate = lane.points.e[visit.order[v]!]!;
    for (let f = 0; f < 3; f++) upTo[f]![v + 1] = upTo[f]![v]! + (f === fate ? 1 : 0);
  }
  const scans = scansOf(lane, visits);
  const gain = scans.find((scan) => upTo[freed][scan.to]! > upTo[freed][scan.from]!);
  const scanned = lane.pointsOf('scanned');
  let counted = 0;
  for (let p = 0; p < scanned.length; p++) counted += lane.points.b[scanned.order[p]!]!;
  const budget = scanned.length > 0 ? lane.points.a[scanned.order[0]!]! : 0;
  return {
    scans,
    upTo,
    visits,
    charge: chargeOf(lane),
    budget,
    untold: Math.max(0, counted - visits),
    firstGain: gain?.number ?? 0,
  };
}

/** Why there is nothing to see of a lane: scans are counted, but visits were not traced one by one, or nothing came yet. */
export function absence(lane: LaneIndex): string {
  return lane.pointsOf('scanned').length > 0
    ? tr(
        'With so many entries visits are counted, not reported one by one. Fewer delayed entries bring the picture back.',
      )
    : tr('No entry has been seen yet.');
}

function scansOf(lane: LaneIndex, visits: number): Scan[] {
  const { order, length } = lane.opsByEnd;
  const scans: Scan[] = [];
  for (let p = 0; p < length; p++) {
    const i = order[p]!;
    const from = Math.round(lane.ops.t0[i]! / stepNs);
    const to = Math.round(lane.ops.t1[i]! / stepNs);
    scans.push({ number: lane.opsEvicted + p + 1, from, to, open: false });
  }
  const last = scans.at(-1);
  const from = last?.to ?? 0;
  if (from < visits) {
    scans.push({ number: (last?.number ?? lane.opsEvicted) + 1, from, to: visits, open: true });
  }
  return scans;
}

/** A walk tells its budget before and after: what it went down by says what was charged. */
function chargeOf(lane: LaneIndex): Charge | null {
  const { order, length } = lane.pointsOf('walk');
  const { a, d, e, f } = lane.points;
  for (let p = 0; p < length; p++) {
    const i = order[p]!;
    const spent = e[i]! - f[i]!;
    if (a[i] === d[i] || (spent !== a[i] && spent !== d[i])) continue;
    return spent === a[i] ? 'looks' : 'gains';
  }
  // Where every look was a gain the two are one.
  return length > 0 ? 'looks' : null;
}

/** Fates of the visits (from, to]. */
export function sumsOf({ upTo }: Facts, from: number, to: number): Sums {
  const of = (fate: 0 | 1 | 2) => upTo[fate][to]! - upTo[fate][from]!;
  return { visited: to - from, kept: of(kept), spared: of(spared), freed: of(freed) };
}

/** Where a lane is at the moment of a frame. */
export interface Now {
  /** Visits that are over. */
  readonly visits: number;
  /** The scan whose visits these are; before the first visit the first; null: there is none. */
  readonly scan: Scan | null;
  /** Of the scan, up to now. */
  readonly sums: Sums;
  /** The scan has come back. */
  readonly over: boolean;
  /** The moment lies beyond what is known of a lane that still runs. */
  readonly beyond: boolean;
  /** Up to which moment of the lane's axis to replay. */
  readonly t: number;
}

/** `hold` of the frame may be overruled: a sentence about one scan speaks of that alone. */
export function nowOf(lane: LaneIndex, frame: Frame, hold = frame.hold === true): Now {
  const known = factsOf(lane);
  const wanted = laneTime(frame.offset, lane.arm, frame.moment);
  const held = hold ? (known.scans[heldOp(lane, frame)] ?? known.scans.at(-1) ?? null) : null;
  const least = held === null ? 0 : held.from;
  const most = held === null || held.open ? known.visits : held.to;
  const visits = Math.max(least, Math.min(most, visitsAt(lane, wanted)));
  const stopped = held !== null && wanted >= (most + 1) * stepNs;
  const { scans } = known;
  const scan = held ?? scans[firstAtLeast(scans.length, (s) => scans[s]!.to, visits)] ?? null;
  const sums = sumsOf(known, scan === null ? visits : Math.min(visits, scan.from), visits);
  return {
    visits,
    scan,
    sums,
    over: scan !== null && !scan.open && visits >= scan.to,
    beyond: !lane.ended && wanted > lane.watermark,
    t: stopped ? most * stepNs : Math.max(wanted, least * stepNs),
  };
}
