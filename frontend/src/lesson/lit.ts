// SPDX-License-Identifier: GPL-2.0-or-later
/** Which functions are open on a lane at the moment: what lights the lines of a patch. Pure. */

import { laneTime } from '../derive/align.ts';
import { laneOf, spansIn } from '../derive/query.ts';
import type { Frame, RunIndex } from '../derive/types.ts';

/** How many rows of an arm stand inside each kind of function now. */
export function openFunctions(
  index: RunIndex | null,
  frame: Pick<Frame, 'moment' | 'offset'>,
  arm: string,
): ReadonlyMap<string, number> {
  const lane = index === null ? null : laneOf(index, arm);
  const found = new Map<string, number>();
  if (index === null || lane === null) return found;
  const now = laneTime(frame.offset, arm, frame.moment);
  const seen = new Set<string>();
  for (const span of spansIn(lane, 'function', now, now + 1)) {
    const key = `${span.kind} ${span.row}`;
    const name = index.kinds[span.kind]?.name;
    if (name === undefined || seen.has(key)) continue;
    seen.add(key);
    found.set(name, (found.get(name) ?? 0) + 1);
  }
  return found;
}
