// SPDX-License-Identifier: GPL-2.0-or-later
/** A mark that was pointed at, as raw records and answers name it. Pure. */

import { laneOf } from '../derive/query.ts';
import type { Mark, RunIndex } from '../derive/types.ts';
import type { Pointed } from '../panels/predict.ts';

export function pointedAt(index: RunIndex, mark: Mark): Pointed {
  const { arm, kind, t0, t1 } = guestMark(index, mark);
  const name = index.kinds[kind]?.name ?? '';
  return { run: index.runId, arm, kind: name, t0_ns: t0, t1_ns: t1, at: new Date().toISOString() };
}

/** A mark with its times in guest time, as raw records have them. */
export function guestMark(index: RunIndex | null, mark: Mark): Mark {
  const lane = index && laneOf(index, mark.arm);
  if (!lane) return mark;
  return { ...mark, t0: lane.guestTime(mark.t0), t1: lane.guestTime(mark.t1) };
}

export function rowName(index: RunIndex | null, mark: Mark | null): string {
  const lane = index?.lanes.find((l) => l.arm === mark?.arm);
  return lane?.rows.find((r) => r.row === mark?.row)?.name ?? '';
}
