// SPDX-License-Identifier: GPL-2.0-or-later
/** When a walk of the run looked, cleared and looked again: the pair whose distances are the median of all. */

import { t } from '../../../base/lang/t.ts';
import type { LaneIndex, RunIndex } from '../../../derive/types.ts';
import type { Lesson } from '../../../protocol/lesson.ts';
import type { Times } from '../../../toys/types.ts';
import { clearingsOf } from '../clearings.ts';

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
    const what = t('memcg {memcg}, shrinker {id} on {title}', {
      memcg: found.memcg,
      id: found.id,
      title,
    });
    return laid(found, t('look, clear and second look of {what}', { what }));
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

/** Clearings that were recorded step by step. */
function clearedIn(lane: LaneIndex): readonly Cleared[] {
  return clearingsOf(lane)
    .map(({ memcg, id, look, clear, again }) => ({
      ...{ memcg, id },
      ...{ clear: clear - look, again: again - look },
    }))
    .filter((one) => one.clear > 0 && one.again > one.clear);
}

function typical(found: readonly Cleared[]): Cleared | null {
  const sorted = found.toSorted((a, b) => a.again - b.again);
  return sorted[Math.floor(sorted.length / 2)] ?? null;
}
