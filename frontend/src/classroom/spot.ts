// SPDX-License-Identifier: GPL-2.0-or-later
/** The driver's spotlight: a mark as the class is sent it, and found again in a run. Pure. */

import type { LaneIndex, Mark, RunIndex } from '../derive/types.ts';
import type { OpTable, SpanTable } from '../store/tables.ts';
import type { ClassPlace } from './class-state.ts';

export type Spot = NonNullable<ClassPlace['spotlight']>;

/** How long it stands. */
export const spotMs = 10_000;

export function spotOf(mark: Mark): Spot {
  return { arm: mark.arm, row: mark.row, t_ns: mark.t0 };
}

function found(table: SpanTable | OpTable, { row, t_ns }: Spot): number {
  for (let i = 0; i < table.length; i += 1)
    if (table.row[i] === row && table.t0[i] === t_ns) return i;
  return -1;
}

/** The span or operation that begins there; null: the spotlight is on the whole lane, or on what has no such mark. */
export function markAt(index: RunIndex | null, spot: Spot): Mark | null {
  if (spot.row === null || spot.t_ns === null) return null;
  const lane = index?.lanes.find(({ arm }) => arm === spot.arm);
  return lane === undefined ? null : (spanAt(lane, spot) ?? opAt(lane, spot));
}

function spanAt({ arm, spans }: LaneIndex, spot: Spot): Mark | null {
  const i = found(spans, spot);
  if (i < 0) return null;
  return { ...base(arm, spans, i), table: 'spans', kind: spans.kind[i]! };
}

function opAt({ arm, ops }: LaneIndex, spot: Spot): Mark | null {
  const i = found(ops, spot);
  return i < 0 ? null : { ...base(arm, ops, i), table: 'ops', kind: 0 };
}

function base(arm: string, table: SpanTable | OpTable, i: number): Omit<Mark, 'table' | 'kind'> {
  const [t0, t1] = [table.t0[i] as Mark['t0'], table.t1[i] as Mark['t1']];
  return { arm, id: table.id[i]!, row: table.row[i]!, t0, t1 };
}
