// SPDX-License-Identifier: GPL-2.0-or-later
/** Sentences about hot pages that were evicted and came back. */

import { t } from '@page/base/lang/t.ts';
import { formatCount } from '@page/base/units.ts';
import { laneTime } from '@page/derive/align.ts';
import { figure } from '@page/derive/figures.ts';
import { pointRange } from '@page/derive/lane-index.ts';
import type { LaneIndex, Mark } from '@page/derive/types.ts';
import { armTitle, type Titles } from '@page/derive/words.ts';
import { pointMark } from '@page/views/timeline/describe.ts';
import { pointsIn, some, timelineSentences } from '@page/views/timeline/sentences.ts';

/** How many hot pages came into memory again up to `end`. A point's first field is the page's place in the file. */
export function returnsUpTo(lane: LaneIndex, end: number): number {
  const strand = lane.pointsOf('hot_in');
  const { from, to } = pointRange(lane.points, strand, -1e18, end);
  const seen = new Set<number>();
  let again = 0;
  for (let p = from; p < to; p++) {
    const page = lane.points.a[strand.order[p]!]!;
    if (seen.has(page)) again += 1;
    else seen.add(page);
  }
  return again;
}

/** The mark of the newest eviction up to `end`. */
function newestEviction(lane: LaneIndex, end: number): Mark | null {
  const strand = lane.pointsOf('hot_out');
  const { from, to } = pointRange(lane.points, strand, -1e18, end);
  return to > from ? pointMark(lane, strand.order[to - 1]!) : null;
}

/** Evicted hot pages, and those that came back, up to the moment, on each lane. */
const returned = some<Titles>((_index, lanes, frame, titles) =>
  lanes
    .map((lane) => {
      const end = laneTime(frame.offset, lane.arm, frame.moment) + 1;
      const out = pointsIn(lane, 'hot_out', -1e18, end);
      const back = returnsUpTo(lane, end);
      const name = armTitle(titles, lane);
      const newest = newestEviction(lane, end);
      const say = (what: string, n: number, mark: Mark | null) =>
        figure('far', lane.arm, what, n, formatCount(n), mark);
      if (out === 0) return t('Up to this moment {name} have evicted no hot page.', { name });
      return t(
        'Up to this moment {name} have evicted {out} hot pages, and {back} have come back from the disk.',
        {
          ...{ name, out: say('points hot_out', out, newest), back: say('returned', back, null) },
        },
      );
    })
    .join(' '),
);

export const memorySentences = { ...timelineSentences, returned };
