// SPDX-License-Identifier: GPL-2.0-or-later
/** What a column of the second act was computed from: two looks of the x-ray at the kernel's counters. */

import { t as tr } from '../../base/lang/t.ts';
import { formatCount } from '../../base/units.ts';
import type { Behind } from '../../derive/behind.ts';
import type { LaneIndex, LaneSample, Mark } from '../../derive/types.ts';
import type { Lesson } from '../../protocol/lesson.ts';
import { intervalsOf, sumsIn } from './lock.ts';

export function behindInterval(lane: LaneIndex, lesson: Lesson, mark: Mark): Behind | null {
  const one = intervalsOf(lane)[mark.row];
  if (one === undefined) return null;
  const kind = lesson.kinds[mark.kind];
  const looks = [one.t0, one.t1].flatMap((t) => {
    const sample = lane.samples('lockref-counts').find((found) => found.t === t);
    return sample === undefined ? [] : [sample];
  });
  return {
    arm: lane.arm,
    title: kind?.title ?? tr('a mark'),
    who: '',
    t0: lane.guestTime(mark.t0),
    t1: lane.guestTime(mark.t1),
    evidence: kind?.evidence ?? 'counted',
    how: tr(
      'The kernel counts these operations; the x-ray read its counters twice, and the mark is the difference.',
    ),
    rows: looks.map((sample) => ({
      t: lane.guestTime(sample.t),
      cpu: -1,
      what: tr('counters since the start'),
      fields: countWords(sample),
    })),
    trace: null,
  };
}

function countWords(sample: LaneSample): string {
  const { fast, slow, retries } = sumsIn(sample);
  const [by, under, failed] = [fast, slow, retries].map(formatCount);
  return tr('{by} by compare-and-swap, {under} under the lock, {failed} failed compare-and-swaps', {
    by,
    under,
    failed,
  });
}
