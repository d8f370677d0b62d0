// SPDX-License-Identifier: GPL-2.0-or-later
/** The marks that a line of a patch caused: functions of a kind on a lane, in order of time. Pure. */

import { markOf, spansIn } from '../derive/query.ts';
import type { Mark, RunIndex } from '../derive/types.ts';

/** The first mark of the kind that begins after `now` (lane time), or the first of all; null: none. */
export function nextMark(
  index: RunIndex | null,
  arm: string,
  kind: string,
  now: number,
): Mark | null {
  const lane = index?.lanes.find((one) => one.arm === arm);
  if (!index || !lane) return null;
  let first: Mark | null = null;
  let next: Mark | null = null;
  for (const span of spansIn(lane, 'function', 0, Number.POSITIVE_INFINITY)) {
    if (index.kinds[span.kind]?.name !== kind) continue;
    if (first === null || span.t0 < first.t0) first = markOf(arm, span);
    if (span.t0 > now && (next === null || span.t0 < next.t0)) next = markOf(arm, span);
  }
  return next ?? first;
}

/** Whether a function of the kind ran on the lane at all. */
export function ranOn(index: RunIndex | null, arm: string, kind: string): boolean {
  const lane = index?.lanes.find((one) => one.arm === arm);
  if (!index || !lane) return false;
  const number = index.kinds.findIndex(({ name }) => name === kind);
  return [lane.spans, lane.open].some((table) => {
    for (let i = 0; i < table.length; i++) if (table.kind[i] === number) return true;
    return false;
  });
}

/** The function that a mark is of, or lies in: the innermost one of these kinds; null: none. */
export function functionOf(
  index: RunIndex | null,
  mark: Mark | null,
  kinds: ReadonlySet<string>,
): { readonly arm: string; readonly kind: string } | null {
  if (index === null || mark?.table !== 'spans') return null;
  const { arm, row, t0 } = mark;
  const own = index.kinds[mark.kind]?.name;
  if (own !== undefined && kinds.has(own)) return { arm, kind: own };
  const lane = index.lanes.find((one) => one.arm === arm);
  if (!lane) return null;
  let best: { readonly t0: number; readonly kind: string } | null = null;
  for (const span of spansIn(lane, 'function', t0, t0 + 1)) {
    const kind = index.kinds[span.kind]?.name;
    if (span.row !== row || span.t0 > t0 || kind === undefined || !kinds.has(kind)) continue;
    if (best === null || span.t0 >= best.t0) best = { t0: span.t0, kind };
  }
  return best && { arm, kind: best.kind };
}
