// SPDX-License-Identifier: GPL-2.0-or-later
/** Which windows of a run show what a step must show, and which of them is the best. Deterministic. */

import { ns } from '../../base/units.ts';
import type { Sought } from '../../protocol/contract.gen.ts';
import type { Scene } from '../../protocol/lesson.ts';
import { laneTime, noOffsets, type Offsets, offsetsOf, opBegin, opEnd } from '../align.ts';
import type { Window } from '../episodes.ts';
import { heldOp } from '../hold.ts';
import { spanOf, stepOf } from '../moments.ts';
import type { LaneIndex, RunIndex } from '../types.ts';
import { type Found, findOn, type Names } from './found.ts';
import { amountIn, firstIn } from './window.ts';

/** What must be known of a step. */
export type Claimed = Pick<
  Scene,
  'moment' | 'window_ms' | 'window_steps' | 'operation' | 'align' | 'arms' | 'show' | 'must_show'
>;

/** Windows are compared at most so many. */
const mostWindows = 4000;

interface Lane {
  readonly lane: LaneIndex;
  readonly marks: readonly { readonly one: Sought; readonly found: Found }[];
}

/** Answers for windows of one run and step; lanes that are not on show are not asked. */
export class Search {
  readonly #index: RunIndex;
  readonly #scene: Claimed;
  readonly #lanes: readonly Lane[];
  /** Lanes of each window stand apart by this. */
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

  /** Whether the run has a lane of which something is claimed. */
  get asks(): boolean {
    return this.#lanes.some((lane) => lane.marks.length > 0);
  }

  /** How much of what is marked `most` the window shows; -1: it does not show all that it must. */
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

  /** When the first of what `opens` the step begins in the window, frame time; null: nothing opens it. */
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

  /** Where the window ends on a lane: in a step that holds lanes, with the operation that it begins with. */
  #endOn(lane: LaneIndex, start: Window['start'], end: number): number {
    if (!this.#scene.show.includes('hold')) return end;
    const held = heldOp(lane, { start, offset: this.offsets });
    // What stands at its very end is seen.
    return held < 0 ? end : Math.min(end, lane.ops.t1[lane.opsByEnd.order[held]!]! + 1);
  }

  /** The windows that are looked at, in order. */
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

  /** A quarter of its length before and after each operation of the first lane; else all of the run. */
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

/** Frame time up to which every lane that has anything shows it. */
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

/** The windows that show it, those with the most first; of equal ones the earlier. */
export function bestWindows(search: Search): readonly Window[] {
  return search
    .windows()
    .map((window) => ({ window, amount: search.amount(window) }))
    .filter(({ amount }) => amount >= 0)
    .sort((a, b) => b.amount - a.amount || a.window.start - b.window.start)
    .filter(({ amount }, _, all) => amount === all[0]!.amount)
    .map(({ window }) => window);
}
