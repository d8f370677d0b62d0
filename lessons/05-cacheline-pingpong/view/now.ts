// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * State of a lane at the moment of a frame: the last access, the current access, and how far the current access has
 * come.
 */

import { laneTime } from '@page/derive/align.ts';
import { stepNs } from '@page/derive/retime.ts';
import type { Frame, LaneIndex, RunIndex } from '@page/derive/types.ts';
import type { Lesson } from '@page/protocol/lesson.ts';
import { type Struct, structOf } from './fields.ts';
import {
  hit,
  type LineStates,
  nobody,
  readFetch,
  reads,
  stateAfter,
  upgrade,
  writeFetch,
} from './model/coherence.ts';
import { type Counted, countedOf, type Modelled, modelOf, settingsOf } from './model.ts';

/** One access of the merged order. */
export interface Access {
  /** Place of the access in the merged order, counted from 0. */
  readonly k: number;
  readonly point: number;
  readonly cpu: number;
  /** Number of the CPU's operation, counted from 1. */
  readonly op: number;
  readonly line: number;
  /** Place of the first accessed byte; see fields.ts. */
  readonly at: number;
  readonly size: number;
  /** 0 is a read, 1 a write, 2 a read-modify-write. */
  readonly kind: number;
  /** Whether the access is a read that, in the model, asks to own its line. */
  readonly owns: boolean;
  /** Index into the lesson's functions. */
  readonly func: number;
  /** Outcome of the access; see model/coherence.ts. */
  readonly event: number;
  /** CPU that sent the data; -1 if no data moved, or the data came from memory. */
  readonly from: number;
  /** Number of copies lost by the access. */
  readonly lost: number;
}

export interface LaneNow {
  readonly lane: LaneIndex;
  readonly struct: Struct | null;
  readonly counted: Counted;
  readonly model: Modelled | null;
  /** Number of accesses in the merged order that have finished. */
  readonly done: number;
  /** Progress of the current access, from 0 to 1; 0 if there is none. */
  readonly part: number;
  /** The current access. */
  readonly under: Access | null;
  /** Whether the lane is still running and the current moment is after the lane's last known access. */
  readonly beyond: boolean;
}

export function laneNow(
  { index, frame, lesson }: { index: RunIndex; frame: Frame; lesson: Lesson },
  lane: LaneIndex,
): LaneNow {
  const model = modelOf(lane, settingsOf(index.params, lesson));
  const t = laneTime(frame.offset, lane.arm, frame.moment);
  const all = model?.trace.log.length ?? 0;
  const steps = Math.max(0, t / stepNs);
  const done = Math.min(all, Math.floor(steps + 1e-6));
  const part = done < all ? Math.max(0, steps - done) : 0;
  const moving = part > 1e-3;
  return {
    lane,
    struct: structOf(lane),
    counted: countedOf(lane),
    model,
    done,
    part: moving ? part : 0,
    under: moving && model !== null ? accessAt(lane, model, done) : null,
    beyond: !lane.ended && t > lane.watermark,
  };
}

export function accessAt(lane: LaneIndex, model: Modelled, k: number): Access {
  const { trace, point, op } = model;
  const p = point[k]!;
  const from = trace.from[k]!;
  return {
    k,
    point: p,
    cpu: trace.log.cpu[k]!,
    op: op[k]!,
    line: trace.log.line[k]!,
    at: lane.points.a[p]! + model.counted.lead,
    size: lane.points.b[p]!,
    kind: lane.points.c[p]!,
    owns: lane.points.c[p]! === reads && trace.log.kind[k]! !== reads,
    func: lane.points.d[p]!,
    event: trace.event[k]!,
    from: from === nobody ? -1 : from,
    lost: trace.lost[k]!,
  };
}

/** Effect of an access on the caches. */
export type Happening = 'hit' | 'fetch' | 'transfer' | 'upgrade';

export function happening({ event }: Pick<Access, 'event'>): Happening {
  if (event === hit) return 'hit';
  if (event === readFetch || event === writeFetch) return 'fetch';
  return event === upgrade ? 'upgrade' : 'transfer';
}

/** States of all copies after a number of accesses, and the copies that the last few accesses removed. */
export interface States {
  readonly states: LineStates;
  /**
   * For each copy, the number of accesses since the copy was lost; 0 if it was not lost recently. The index is line *
   * cpus + cpu.
   */
  readonly lostAge: Uint8Array;
}

/** Number of accesses for which the loss of a copy stays visible. */
export const glowSteps = 6;

export function statesAt(model: Modelled, done: number): States {
  const { log } = model.trace;
  const from = Math.max(0, done - glowSteps);
  const states = stateAfter(model.trace, from);
  const lostAge = new Uint8Array(log.lines * log.cpus);
  for (let k = from; k < done; k++) {
    const [cpu, line] = [log.cpu[k]!, log.line[k]!];
    for (let c = 0; model.trace.lost[k]! > 0 && c < log.cpus; c++)
      if (c !== cpu && states.has(c, line)) lostAge[line * log.cpus + c] = done - k;
    states.access(cpu, line, log.kind[k]!);
    lostAge[line * log.cpus + cpu] = 0;
  }
  return { states, lostAge };
}

/** The last finished access of a CPU; null if there is none among the last `back` accesses. */
export function lastOf(shown: LaneNow, cpu: number, back = 4000): Access | null {
  if (shown.model === null) return null;
  const { log } = shown.model.trace;
  for (let k = shown.done - 1; k >= Math.max(0, shown.done - back); k--)
    if (log.cpu[k] === cpu) return accessAt(shown.lane, shown.model, k);
  return null;
}
