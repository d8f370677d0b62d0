// SPDX-License-Identifier: GPL-2.0-or-later
/** Which functions are open on a lane at the moment: what lights the lines of a patch. Pure. */

import { laneTime } from '../derive/align.ts';
import { laneOf, spansIn } from '../derive/query.ts';
import type { Frame, RunIndex } from '../derive/types.ts';

/**
 * How many rows of an arm stand inside each of these functions now. A row counts for its innermost
 * one: who waits in synchronize_srcu() has left the lines of its caller before the call.
 */
export function openFunctions(
  index: RunIndex | null,
  frame: Pick<Frame, 'moment' | 'offset'>,
  arm: string,
  kinds: ReadonlySet<string>,
): ReadonlyMap<string, number> {
  const lane = index === null ? null : laneOf(index, arm);
  const found = new Map<string, number>();
  if (index === null || lane === null) return found;
  const now = laneTime(frame.offset, arm, frame.moment);
  const innermost = new Map<number, { readonly t0: number; readonly kind: string }>();
  for (const span of spansIn(lane, 'function', now, now + 1)) {
    const kind = index.kinds[span.kind]?.name;
    if (kind === undefined || !kinds.has(kind) || span.t0 > now) continue;
    const before = innermost.get(span.row);
    if (before === undefined || span.t0 >= before.t0) {
      innermost.set(span.row, { t0: span.t0, kind });
    }
  }
  for (const { kind } of innermost.values()) found.set(kind, (found.get(kind) ?? 0) + 1);
  return found;
}
