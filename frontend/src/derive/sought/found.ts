// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * What a step's `must_show` names, found on a lane: intervals in order of their begin. Points and links are intervals
 * of no length. The lint decides alike (backend/src/duet/runs/sought), held together by tests/fixtures/sought.json.
 */

import type { Sought } from '../../protocol/contract.gen.ts';
import type { Lesson } from '../../protocol/lesson.ts';
import { threadRows } from '../query.ts';
import type { KindFacts, LaneIndex } from '../types.ts';

export interface Found {
  readonly t0: Float64Array;
  readonly t1: Float64Array;
  /** The longest of them: how far before a window one that touches it may begin. */
  readonly longest: number;
}

/** What must be known of a lesson to find what it names. */
export interface Names {
  readonly kinds: readonly Pick<KindFacts, 'name'>[];
  readonly points: readonly Pick<Lesson['points'][number], 'name' | 'fields'>[];
  readonly links: readonly Pick<Lesson['links'][number], 'name'>[];
}

type Pairs = readonly (readonly [number, number])[];

/** Everything on this lane that `one` names, before a window asks for it. */
export function findOn(lane: LaneIndex, one: Sought, names: Names): Found {
  let pairs = named(lane, one, names);
  if (one.during !== null) pairs = inside(pairs, spansOf(lane, one.during, names));
  if (one.at_once !== 1) {
    const n = one.at_once === 'all' ? threadRows(lane).length : one.at_once;
    pairs = together(pairs, n);
  }
  return foundOf(pairs);
}

function foundOf(pairs: Pairs): Found {
  const sorted = pairs.toSorted((a, b) => a[0] - b[0] || a[1] - b[1]);
  return {
    t0: Float64Array.from(sorted, (p) => p[0]),
    t1: Float64Array.from(sorted, (p) => p[1]),
    longest: sorted.reduce((most, [t0, t1]) => Math.max(most, t1 - t0), 0),
  };
}

function named(lane: LaneIndex, one: Sought, names: Names): Pairs {
  if (one.kind !== null) return spansOf(lane, one.kind, names);
  if (one.point !== null) return pointsOf(lane, one.point, one.where, names);
  if (one.looks !== null) return looksOf(lane, one.looks, one);
  if (one.link !== null) {
    const of = names.links.findIndex((link) => link.name === one.link);
    return pick(lane.links.length, (i) => lane.links.kind[i] === of, lane.links.t, lane.links.t);
  }
  return pick(lane.ops.length, () => true, lane.ops.t0, lane.ops.t1);
}

function pick(
  length: number,
  takes: (i: number) => boolean,
  t0: Float64Array,
  t1: Float64Array,
): Pairs {
  const pairs: [number, number][] = [];
  for (let i = 0; i < length; i++) if (takes(i)) pairs.push([t0[i]!, t1[i]!]);
  return pairs;
}

/** Spans that have ended. */
function spansOf({ spans }: LaneIndex, name: string, { kinds }: Names): Pairs {
  const of = kinds.findIndex((kind) => kind.name === name);
  return pick(spans.length, (i) => spans.kind[i] === of, spans.t0, spans.t1);
}

const columns = ['a', 'b', 'c', 'd', 'e', 'f'] as const;

function pointsOf(lane: LaneIndex, name: string, where: Sought['where'], names: Names): Pairs {
  const { points } = lane;
  const fields = names.points.find((point) => point.name === name)?.fields ?? [];
  const bounds = Object.entries(where).map(([field, [least, largest]]) => {
    const column = columns[fields.indexOf(field)];
    return { values: column === undefined ? null : points[column], least, largest };
  });
  const { order, length } = lane.pointsOf(name);
  const pairs: [number, number][] = [];
  for (let p = 0; p < length; p++) {
    const i = order[p]!;
    const fits = bounds.every(({ values, least, largest }) => {
      const value = values?.[i] ?? Number.NaN;
      return value >= least && value <= largest;
    });
    if (fits) pairs.push([points.t[i]!, points.t[i]!]);
  }
  return pairs;
}

/** Stretches between looks in which facts grew as asked for, or their share of others did. */
function looksOf(lane: LaneIndex, probe: string, { where, among }: Sought): Pairs {
  const looks = lane.samples(probe);
  const pairs: [number, number][] = [];
  for (let i = 1; i < looks.length; i++) {
    const [before, after] = [looks[i - 1]!, looks[i]!];
    const grown = (fact: string) =>
      (after.facts[fact] ?? Number.NaN) - (before.facts[fact] ?? Number.NaN);
    const whole = among.reduce((sum, fact) => sum + grown(fact), 0);
    // A share of nothing is none.
    const value = (fact: string) =>
      among.length === 0 ? grown(fact) : whole > 0 ? grown(fact) / whole : Number.NaN;
    const fits = Object.entries(where).every(([fact, [least, largest]]) => {
      const found = value(fact);
      return found >= least && found <= largest;
    });
    // Two looks at one time tell nothing.
    if (fits && after.t > before.t) pairs.push([before.t, after.t]);
  }
  return joined(pairs);
}

/** Those that touch as one. */
function joined(pairs: Pairs): Pairs {
  const walls: [number, number][] = [];
  for (const [t0, t1] of pairs.toSorted((a, b) => a[0] - b[0] || a[1] - b[1])) {
    const last = walls.at(-1);
    if (last !== undefined && t0 <= last[1]) last[1] = Math.max(last[1], t1);
    else walls.push([t0, t1]);
  }
  return walls;
}

/** The parts of the first that lie in some of the second. */
function inside(pairs: Pairs, others: Pairs): Pairs {
  const walls = joined(others);
  const parts: [number, number][] = [];
  for (const [t0, t1] of pairs) {
    for (const [a, b] of walls) {
      if (a > t1) break;
      if (b >= t0) parts.push([Math.max(a, t0), Math.min(b, t1)]);
    }
  }
  return parts;
}

/** The times during which at least `n` of them go on. */
function together(pairs: Pairs, n: number): Pairs {
  // An end comes before a begin at the same time: who takes turns is not together.
  const turns = pairs
    .flatMap(([t0, t1]) => [
      [t0, 1],
      [t1, -1],
    ])
    .sort((a, b) => a[0]! - b[0]! || a[1]! - b[1]!);
  const times: [number, number][] = [];
  let [now, since] = [0, 0];
  for (const [t, by] of turns) {
    if (by === 1 && now + 1 === n) since = t!;
    if (by === -1 && now === n) times.push([since, t!]);
    now += by!;
  }
  return times;
}
