// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Finds the place at which a step opens in a run. If the step makes a claim, it opens in a window that shows the claim.
 * Otherwise it opens in the usual window.
 */

import { firstAtLeast } from '../base/columns.ts';
import { t } from '../base/lang/t.ts';
import { formatNs, millisecond, ns } from '../base/units.ts';
import type { Sought } from '../protocol/contract.gen.ts';
import type { Lesson, Scene } from '../protocol/lesson.ts';
import { heldOp, laneTime, noOffsets, type Offsets, offsetsOf, opBegin, opEnd } from './align.ts';
import {
  type Finder,
  mostTypical,
  type Place,
  placeOf,
  spanOf,
  stepOf,
  type Window,
} from './moments.ts';
import { threadRows } from './query.ts';
import type { KindFacts, LaneIndex, RunIndex } from './types.ts';

// The intervals on a lane that match a step's `must_show`, in order of their start. Points and links have length 0.
// The server's lint uses the same rules (backend/src/duet/runs/sought.py).
// Both implementations are tested with tests/fixtures/sought.json.

interface Found {
  readonly t0: Float64Array;
  readonly t1: Float64Array;
  /** Length of the longest interval. An interval that overlaps a window begins at most this long before the window. */
  readonly longest: number;
}

/** The parts of a lesson that are needed to look up names in `must_show`. */
interface Names {
  readonly kinds: readonly Pick<KindFacts, 'name'>[];
  readonly points: readonly Pick<Lesson['points'][number], 'name' | 'fields'>[];
  readonly links: readonly Pick<Lesson['links'][number], 'name'>[];
}

type Pairs = readonly (readonly [number, number])[];

/** All intervals on this lane that match `one`, in any window. */
function findOn(lane: LaneIndex, one: Sought, names: Names): Found {
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

/** The ended spans of a kind. */
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

/**
 * Intervals between two x-ray samples in which the facts grew by the required amount. The amount is absolute, or a
 * share of the growth of the facts in `among`.
 */
function looksOf(lane: LaneIndex, probe: string, { where, among }: Sought): Pairs {
  const looks = lane.samples(probe);
  const pairs: [number, number][] = [];
  for (let i = 1; i < looks.length; i++) {
    const [before, after] = [looks[i - 1]!, looks[i]!];
    const grown = (fact: string) =>
      (after.facts[fact] ?? Number.NaN) - (before.facts[fact] ?? Number.NaN);
    const whole = among.reduce((sum, fact) => sum + grown(fact), 0);
    // If the facts in `among` did not grow in total, the share is undefined.
    const value = (fact: string) =>
      among.length === 0 ? grown(fact) : whole > 0 ? grown(fact) / whole : Number.NaN;
    const fits = Object.entries(where).every(([fact, [least, largest]]) => {
      const found = value(fact);
      return found >= least && found <= largest;
    });
    // Two samples with the same time do not show growth.
    if (fits && after.t > before.t) pairs.push([before.t, after.t]);
  }
  return joined(pairs);
}

/** Merge intervals that overlap or touch. */
function joined(pairs: Pairs): Pairs {
  const walls: [number, number][] = [];
  for (const [t0, t1] of pairs.toSorted((a, b) => a[0] - b[0] || a[1] - b[1])) {
    const last = walls.at(-1);
    if (last !== undefined && t0 <= last[1]) last[1] = Math.max(last[1], t1);
    else walls.push([t0, t1]);
  }
  return walls;
}

/** The parts of the intervals in `pairs` that lie inside an interval of `others`. */
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

/** The intervals during which at least `n` of the given intervals overlap. */
function together(pairs: Pairs, n: number): Pairs {
  // At equal times, ends come before begins, so that adjacent intervals do not overlap.
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

// Whether a window shows what a step must show on a lane, and how much of it. Pure.

/** An interval that is only partly visible must cover at least this share of the window. */
const share = 1 / 20;

/**
 * Find the first interval that is visible in [a, b) for at least `longer_ms`. Return the start of its visible part, or
 * null if there is no such interval.
 */
function firstIn(found: Found, one: Sought, a: number, b: number): number | null {
  const { t0, t1 } = found;
  for (let i = 0; i < t0.length && t0[i]! < b; i++) {
    const [from, until] = [Math.max(t0[i]!, a), Math.min(t1[i]!, b)];
    if (until > from && until - from >= one.longer_ms * millisecond) return from;
  }
  return null;
}

/**
 * The amount of the intervals that is visible in [a, b): a duration, or the number of intervals if their length is 0.
 * Returns -1 if the window shows too few or too many intervals.
 */
function amountIn(found: Found, one: Sought, a: number, b: number): number {
  const { t0, t1, longest } = found;
  const at = (i: number) => t0[i]!;
  const longer = one.longer_ms * millisecond;
  const to = firstAtLeast(t0.length, at, b);
  let [seen, touching, time] = [0, 0, 0];
  for (let i = firstAtLeast(t0.length, at, a - longest); i < to; i++) {
    const [from, until] = [t0[i]!, t1[i]!];
    if (until <= a && from < a) continue;
    const length = until - from;
    if (length >= longer) touching += 1;
    const part = Math.min(until, b) - Math.max(from, a);
    if (part < longer || part < Math.min(length, (b - a) * share)) continue;
    if (one.whole && (from < a || until > b)) continue;
    seen += 1;
    time += part;
  }
  const least = one.at_least ?? (one.at_most === null ? 1 : 0);
  if (seen < least || (one.at_most !== null && touching > one.at_most)) return -1;
  return time > 0 ? time : seen;
}

// Finds the windows of a run that show what a step must show, and chooses the best. The choice is deterministic.

/** The parts of a step that the search for a window needs. */
export type Claimed = Pick<
  Scene,
  'moment' | 'window_ms' | 'window_steps' | 'operation' | 'align' | 'arms' | 'show' | 'must_show'
>;

/** Maximum number of windows that are compared. */
const mostWindows = 4000;

interface Lane {
  readonly lane: LaneIndex;
  readonly marks: readonly { readonly one: Sought; readonly found: Found }[];
}

/** The search for a step's window in one run. It judges windows, and ignores hidden lanes. */
export class Search {
  readonly #index: RunIndex;
  readonly #scene: Claimed;
  readonly #lanes: readonly Lane[];
  /** The offsets with which lanes are aligned in each window. */
  readonly offsets: Offsets;

  constructor(index: RunIndex, scene: Claimed, names: Names) {
    this.#index = index;
    this.#scene = scene;
    const marks = scene.must_show?.marks ?? [];
    this.#lanes = index.lanes.map((lane) => ({
      lane,
      marks: marks
        .filter((one) => (one.arms.length > 0 ? one.arms : scene.arms).includes(lane.arm))
        .map((one) => ({ one, found: findOn(lane, one, names) })),
    }));
    this.offsets =
      scene.align === 'time' ? noOffsets : offsetsOf(index, scene.align, 0, scene.operation);
  }

  /** Whether the step makes a claim about any of the run's lanes. */
  get asks(): boolean {
    return this.#lanes.some((lane) => lane.marks.length > 0);
  }

  /**
   * The amount of marks with `most: true` that the window shows; -1 if the window does not show everything that the
   * step must show.
   */
  amount({ start, span }: Window): number {
    let most = 0;
    for (const { lane, marks } of this.#lanes) {
      const from = laneTime(this.offsets, lane.arm, start);
      const to = marks.length === 0 ? from : this.#endOn(lane, start, from + span);
      for (const { one, found } of marks) {
        const amount = amountIn(found, one, from, to);
        if (amount < 0) return -1;
        if (one.most) most += amount;
      }
    }
    return most;
  }

  /** Frame time of the first interval with `opens: true` in the window; null if the window has no such interval. */
  opening({ start, span }: Window): number | null {
    let first: number | null = null;
    for (const { lane, marks } of this.#lanes) {
      const from = laneTime(this.offsets, lane.arm, start);
      for (const { one, found } of marks) {
        const at = one.opens ? firstIn(found, one, from, from + span) : null;
        if (at !== null) first = Math.min(first ?? Number.POSITIVE_INFINITY, at - from + start);
      }
    }
    return first;
  }

  /** The end of the window on a lane. With `hold`, it is the end of the operation with which the window begins. */
  #endOn(lane: LaneIndex, start: Window['start'], end: number): number {
    if (!this.#scene.show.includes('hold')) return end;
    const held = heldOp(lane, { start, offset: this.offsets });
    // Adding 1 ns includes marks exactly at the end.
    return held < 0 ? end : Math.min(end, lane.ops.t1[lane.opsByEnd.order[held]!]! + 1);
  }

  /** The windows to compare, in order of time. */
  windows(): readonly Window[] {
    const { moment } = this.#scene;
    const span = spanOf(this.#scene);
    if (moment === 'operation') return this.#nth(span);
    if (moment === 'start') return [{ start: ns(0), span }];
    return span > 0 ? this.#grid(span) : this.#aroundEach();
  }

  #nth(span: number): Window[] {
    const { operation } = this.#scene;
    const times = this.#index.lanes.map((lane) => opTimes(lane, operation));
    const start = Math.max(...times.map((t) => t?.t0 ?? Number.NEGATIVE_INFINITY));
    if (!Number.isFinite(start)) return [];
    const longest = Math.max(...times.map((t) => (t === null ? 0 : t.t1 - t.t0)));
    return [{ start: ns(start), span: span || longest * 1.02 }];
  }

  #grid(span: number): Window[] {
    const last = Math.max(0, endOf(this.#index, this.offsets) - span);
    const step = stepOf(this.#index, span);
    const stride = step * Math.max(1, Math.ceil(last / step / mostWindows));
    const n = Math.floor(last / stride) + 1;
    return Array.from({ length: n }, (_, i) => ({ start: ns(i * stride), span }));
  }

  /**
   * A window around each operation of the first lane that has operations, with a quarter of the operation's length
   * before and after it. If no lane has operations, the window is the complete run.
   */
  #aroundEach(): Window[] {
    const lane = this.#index.lanes.find((one) => one.ops.length > 0);
    if (lane === undefined) {
      const ends = this.#index.lanes.map(({ watermark }) => watermark);
      return [{ start: ns(0), span: Math.max(0, ...ends) }];
    }
    const windows: Window[] = [];
    for (let i = 0; i < Math.min(lane.ops.length, mostWindows); i++) {
      const [t0, t1] = [lane.ops.t0[i]!, lane.ops.t1[i]!];
      if (t0 >= 0)
        windows.push({ start: ns(Math.max(0, t0 - (t1 - t0) / 4)), span: 1.5 * (t1 - t0) });
    }
    return windows;
  }
}

function opTimes(lane: LaneIndex, n: number): { t0: number; t1: number } | null {
  const [t0, t1] = [opBegin(lane, n), opEnd(lane, n)];
  return t0 === null || t1 === null ? null : { t0, t1 };
}

/** Frame time up to which every lane with data has something to show. */
function endOf(index: RunIndex, offsets: Offsets): number {
  let end = Number.POSITIVE_INFINITY;
  for (const { arm, ops, opsByEnd, points, spans, watermark } of index.lanes) {
    if (ops.length + points.length + spans.length === 0) continue;
    const { order, length } = opsByEnd;
    const last = length > 0 ? ops.t1[order[length - 1]!]! : watermark;
    end = Math.min(end, last + (offsets.get(arm) ?? 0));
  }
  return Number.isFinite(end) ? end : 0;
}

/**
 * The windows that show the claim, in order of time. If the windows show different amounts (`Search.amount`), only the
 * windows with the largest amount are returned.
 */
function bestWindows(search: Search): readonly Window[] {
  return search
    .windows()
    .map((window) => ({ window, amount: search.amount(window) }))
    .filter(({ amount }) => amount >= 0)
    .sort((a, b) => b.amount - a.amount || a.window.start - b.window.start)
    .filter(({ amount }, _, all) => amount === all[0]!.amount)
    .map(({ window }) => window);
}

/** Moments for which only one window exists. */
const given: ReadonlySet<string> = new Set(['start', 'operation']);

interface Answer {
  readonly place: Place;
  /** Whether the window shows the claim; null if there is no claim, or if the result is not known yet. */
  readonly shown: boolean | null;
}

/**
 * The sweep starts a short time before the first interval with `opens: true`. This constant is that time as a share of
 * the window's length.
 */
const lead = 1 / 25;

/** Name of the search in the browser's performance profile. */
export const searchMeasure = 'duet: window of a step';

const answers = new WeakMap<RunIndex, Map<Claimed, Answer>>();

/** Whether the run is complete, so that anything missing now is not in the run. */
function isWhole(index: RunIndex): boolean {
  const over = index.lanes.every((lane) => lane.ended || lane.failed);
  return over && !index.live && index.reading !== 'coming';
}

/**
 * The place at which the step opens. If the step's own moment shows the claim, the step opens at this moment.
 * Otherwise the step opens in the most typical of the best windows.
 */
export function claimedPlace(
  index: RunIndex,
  scene: Claimed & Pick<Scene, 'focus'>,
  names: Names,
  own: Readonly<Record<string, Finder>> = {},
): Answer {
  const usual = () => ({ place: inRun(index, scene, placeOf(index, scene, own)), shown: null });
  if (scene.must_show === null || !isWhole(index)) return usual();
  const known = answers.get(index) ?? new Map<Claimed, Answer>();
  answers.set(index, known);
  const before = known.get(scene);
  if (before !== undefined) return before;
  const start = performance.now();
  const search = new Search(index, scene, names);
  const answer = search.asks ? answerOf(index, scene, search, usual().place) : usual();
  known.set(scene, answer);
  performance.measure(searchMeasure, { start });
  return answer;
}

/** Share of the window that can lie after the end of the run. */
const tail = 1 / 25;

/** Move a window to an earlier time if it would extend past the end of a finished run. */
function inRun(index: RunIndex, scene: Claimed, place: Place): Place {
  if (!isWhole(index) || index.axis !== null || scene.align !== 'time') return place;
  const end = Math.max(...index.lanes.map((lane) => lane.watermark));
  const start = ns(Math.max(0, Math.min(place.start, end - place.span * (1 - tail))));
  return { ...place, start, ...(place.follows ? { moment: start } : {}) };
}

function answerOf(index: RunIndex, scene: Claimed, search: Search, usual: Place): Answer {
  const ranks = scene.must_show!.marks.some((one) => one.most);
  // If `most` ranks the windows, the step's own moment is ignored even if it shows the claim.
  const here = !ranks && usual.known && search.amount(usual) >= 0;
  const window = here ? usual : mostUsual(index, bestWindows(search), search);
  if (window === undefined) return { place: usual, shown: false };
  const { start, span } = window;
  const moment = usual.follows || !here ? ns(start + span) : usual.moment;
  const first = search.opening(window);
  const own = here && usual.begin !== undefined ? { begin: usual.begin } : {};
  const begin = first === null ? own : { begin: ns(Math.max(start, first - span * lead)) };
  return { place: { start, span, moment, follows: false, known: true, ...begin }, shown: true };
}

/** Windows around operations differ in length, so they cannot be compared. In that case, the first window is chosen. */
function mostUsual(index: RunIndex, best: readonly Window[], { offsets }: Search) {
  const [first] = best;
  if (first === undefined || best.some(({ span }) => span !== first.span)) return first;
  const starts = best.map(({ start }) => start);
  const start = mostTypical(index, starts, first.span, offsets);
  return best.find((one) => one.start === start) ?? first;
}

/** A warning that no window of the run shows the claim; empty if a window shows the claim, or if there is no claim. */
export function unseenWords(
  index: RunIndex | null,
  scene: Claimed & Pick<Scene, 'focus'>,
  names: Names,
  own: Readonly<Record<string, Finder>> = {},
): string {
  if (index === null || scene.must_show === null || !isWhole(index)) return '';
  if (claimedPlace(index, scene, names, own).shown !== false) return '';
  const { that } = scene.must_show;
  const span = spanOf(scene);
  if (span === 0 || index.axis !== null || given.has(scene.moment))
    return t('This run does not show that {that}.', { that });
  return t(
    'No window of {span} in this run shows that {that}. The usual window of the run is shown.',
    {
      span: formatNs(span),
      that,
    },
  );
}
