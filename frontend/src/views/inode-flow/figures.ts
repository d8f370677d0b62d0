// SPDX-License-Identifier: GPL-2.0-or-later
/** Figures that the sentences, the picture and the tips of this view have in common. */

import { formatCount, formatNs, ns } from '../../base/units.ts';
import { figure } from '../../derive/figures.ts';
import type { LaneIndex, Mark, RunIndex } from '../../derive/types.ts';
import { kindAt } from './layout.ts';
import { type Life, never } from './lives.ts';
import type { Tally } from './tally.ts';

/** A count of the run up to the moment; waits in ns are times. */
export function counted(
  lane: LaneIndex,
  tally: Tally,
  name: keyof Tally,
  text = name.endsWith('Ns') ? formatNs(tally[name]) : formatCount(tally[name]),
): string {
  return figure('far', lane.arm, name, tally[name], text);
}

/** How long after it was let go an inode got its next file. */
export function ageAtReuse(
  arm: string,
  { ino, born }: Life,
  before: Life,
  mark: Mark | null = null,
): string {
  const value = born - before.queued;
  return figure('mark', arm, `age of ${ino} at ${born}`, value, formatNs(value), mark);
}

/** How much of its grace period was left then; null: its end is not known. */
export function shadowLeft(arm: string, { ino, born }: Life, before: Life): string | null {
  if (before.shadowEnd === never) return null;
  const value = before.shadowEnd - born;
  return figure('mark', arm, `shadow of ${ino} at ${born}`, value, formatNs(value));
}

/** A span of an inode, or of a CPU, as the mark that the picture has of it: it ends where no more is known. */
export function markOf(
  { index, lane }: { readonly index: RunIndex; readonly lane: LaneIndex },
  kind: string,
  id: number,
  row: number,
  t0: number,
  t1: number,
): Mark {
  const known = Math.min(t1, lane.watermark);
  return {
    arm: lane.arm,
    table: 'points',
    id,
    row,
    kind: kindAt(index, kind),
    t0: ns(Math.max(t0, 0)),
    t1: ns(Math.max(known, t0, 0)),
    ...(t1 > known ? { open: true } : {}),
  };
}
