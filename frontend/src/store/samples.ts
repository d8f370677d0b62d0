// SPDX-License-Identifier: GPL-2.0-or-later
/** Samples of the x-ray, by probe, in order of time. Bounded: the oldest go. */

import { firstAbove } from '../base/columns.ts';
import { type Nanos, ns } from '../base/units.ts';
import type { SampleMessage, TypedColumn } from '../protocol/messages.ts';

/** One look at one structure of the running kernel; columns, facts and texts are the probe's. */
export interface LaneSample {
  readonly seq: number;
  /** Since the workload's start; below 0 before it. */
  readonly t: Nanos;
  /** The guest's time lies within this of `t`. */
  readonly error: Nanos;
  readonly clock: 'host' | 'guest';
  readonly took_ns: number;
  readonly n: number;
  readonly columns: Readonly<Record<string, TypedColumn>>;
  readonly facts: Readonly<Record<string, number>>;
  readonly texts: readonly string[];
  /** Reads of this lens that were torn, or failed, up to here. */
  readonly torn: number;
  readonly failed: number;
}

export const sampleLimits = { bytes: 96 << 20, samples: 20_000 };

const bytesOf = (sample: LaneSample) =>
  Object.values(sample.columns).reduce((sum, column) => sum + column.byteLength, 512);

export class Samples {
  readonly #byProbe = new Map<string, LaneSample[]>();
  readonly #newest = new Map<string, number>();
  readonly #limits: typeof sampleLimits;
  #bytes = 0;

  constructor(limits = sampleLimits) {
    this.#limits = limits;
  }

  of(probe: string): readonly LaneSample[] {
    return this.#byProbe.get(probe) ?? none;
  }

  /** Probes that have been seen, in the order in which they came. */
  probes(): readonly string[] {
    return [...this.#byProbe.keys()];
  }

  take(message: SampleMessage): void {
    const { seq, clock, took_ns, n, columns, facts, texts, torn, failed } = message;
    const times = { t: ns(message.t_ns), error: ns(message.error_ns) };
    const sample = { seq, ...times, clock, took_ns, n, columns, facts, texts, torn, failed };
    const list = this.#list(message.probe, seq);
    if (list === null) return;
    list.push(sample);
    // Two guest times may be in the wrong order by less than their error.
    for (let at = list.length - 1; at > 0 && list[at - 1]!.t > list[at]!.t; at -= 1) {
      [list[at - 1], list[at]] = [list[at]!, list[at - 1]!];
    }
    this.#bytes += bytesOf(sample);
    this.#evict(list);
  }

  /** A number that comes again is old, but 0: all is sent anew after a reconnect. */
  #list(probe: string, seq: number): LaneSample[] | null {
    const list = this.#byProbe.get(probe);
    const newest = this.#newest.get(probe) ?? -1;
    if (list !== undefined && seq <= newest && seq !== 0) return null;
    this.#newest.set(probe, seq);
    if (list !== undefined && seq > newest) return list;
    for (const old of list ?? []) this.#bytes -= bytesOf(old);
    const fresh: LaneSample[] = [];
    this.#byProbe.set(probe, fresh);
    return fresh;
  }

  #evict(list: LaneSample[]): void {
    while (
      list.length > 1 &&
      (list.length > this.#limits.samples || this.#bytes > this.#limits.bytes)
    ) {
      this.#bytes -= bytesOf(list.shift()!);
    }
  }
}

const none: readonly LaneSample[] = [];

/** The newest sample at or before a moment: what is known of it. None: it was not looked yet. */
export function sampleAt(samples: readonly LaneSample[], moment: Nanos): LaneSample | null {
  const after = firstAbove(samples.length, (i) => samples[i]!.t, moment);
  return samples[after - 1] ?? null;
}
