// SPDX-License-Identifier: GPL-2.0-or-later
/** When a walk of the run looked, cleared and looked again: the pair whose distances are the median of all. */

import type { LaneIndex, RunIndex } from '../../../derive/types.ts';
import type { Lesson } from '../../../protocol/lesson.ts';
import type { Times } from '../../../toys/types.ts';

/** do_shrink_slab() found nothing at all: SHRINK_EMPTY. */
const empty = -2;
/** Room before and after, as a share of the walk's three steps. */
const room = 0.75;
/** Distances where no run has any, ns. */
const chosen = { clear: 400, again: 1000 };

interface Cleared {
  readonly memcg: number;
  readonly id: number;
  /** From the first look to the clear, and to the second look, ns. */
  readonly clear: number;
  readonly again: number;
}

export function walkTimes(index: RunIndex | null, lesson: Lesson): Times {
  for (const lane of index?.lanes ?? []) {
    const found = typical(clearedIn(lane));
    if (found === null) continue;
    const title = lesson.arms.find((arm) => arm.name === lane.arm)?.title ?? lane.arm;
    const what = `memcg ${found.memcg}, shrinker ${found.id} on ${title}`;
    return laid(found, `look, clear and second look of ${what}`);
  }
  return laid(chosen, null);
}

function laid({ clear, again }: Pick<Cleared, 'clear' | 'again'>, from: string | null): Times {
  const look = again * room;
  return {
    at: { look, clear: look + clear, again: look + again },
    span: again * (1 + 2 * room),
    from,
  };
}

/** Pairs that were found empty, cleared, and looked at again, all three by events. */
export function clearedIn(lane: LaneIndex): readonly Cleared[] {
  const { points } = lane;
  const names = ['visit', 'cleared'].flatMap((name) => {
    const { order, length } = lane.pointsOf(name);
    return Array.from(order.subarray(0, length), (i) => ({ name, i }));
  });
  const steps = names.toSorted((a, b) => points.t[a.i]! - points.t[b.i]! || a.i - b.i);
  const found: Cleared[] = [];
  for (let p = 2; p < steps.length; p++) {
    const [look, clear, again] = [steps[p - 2]!, steps[p - 1]!, steps[p]!];
    if (look.name !== 'visit' || clear.name !== 'cleared' || again.name !== 'visit') continue;
    const same = (one: { readonly i: number }) =>
      points.a[one.i] === points.a[look.i] && points.b[one.i] === points.b[look.i];
    if (!same(clear) || !same(again) || points.c[look.i] !== empty) continue;
    if (points.d[look.i] !== 0 || points.d[again.i] === 0) continue;
    const from = points.t[look.i]!;
    found.push({
      ...{ memcg: points.a[look.i]!, id: points.b[look.i]! },
      ...{ clear: points.t[clear.i]! - from, again: points.t[again.i]! - from },
    });
  }
  return found.filter((one) => one.clear > 0 && one.again > one.clear);
}

function typical(found: readonly Cleared[]): Cleared | null {
  const sorted = found.toSorted((a, b) => a.again - b.again);
  return sorted[Math.floor(sorted.length / 2)] ?? null;
}
