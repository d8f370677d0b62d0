// SPDX-License-Identifier: GPL-2.0-or-later
/** Samples of the guest's memory, where the run has any. */

import type { LaneIndex } from '../../derive/types.ts';

export interface Sample {
  readonly t: number;
  /** Of the time, ns. */
  readonly error: number;
  readonly n: number;
  readonly columns: Readonly<Record<string, ArrayLike<number> & { findIndex: Find }>>;
  readonly facts: Readonly<Record<string, number>>;
  readonly texts?: readonly string[];
}

type Find = (test: (value: number, at: number) => boolean) => number;

type Sampled = LaneIndex & { readonly samples?: (probe: string) => readonly Sample[] };

export function samplesOf(lane: LaneIndex, probe: string): readonly Sample[] {
  return (lane as Sampled).samples?.(probe) ?? [];
}

/** The newest sample at or before a moment of the lane. */
export function sampleAt(lane: LaneIndex, probe: string, t: number): Sample | null {
  return samplesOf(lane, probe).findLast((sample) => sample.t <= t) ?? null;
}
