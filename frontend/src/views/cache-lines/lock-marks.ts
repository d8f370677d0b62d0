// SPDX-License-Identifier: GPL-2.0-or-later
/** Columns of the second act as marks. */

import { bisector } from 'd3-array';
import { t } from '../../base/lang/t.ts';
import { formatCount, formatNs, ns } from '../../base/units.ts';
import { laneTime } from '../../derive/align.ts';
import type { LaneIndex, Mark } from '../../derive/types.ts';
import { armTitle, capital } from '../../derive/words.ts';
import { kindNumber, type Lesson } from '../../protocol/lesson.ts';
import type { ArrowKey, Drawing } from '../contract.ts';
import { timeScale } from './draw-lock.ts';
import { type Interval, intervalsOf, rateOf, slowShare } from './lock.ts';
import { pathFigures } from './lock-figures.ts';
import type { LockLayout } from './lock-layout.ts';

export type LockKind = 'by_cas' | 'under_lock';

export function intervalMark(
  lane: LaneIndex,
  lesson: Pick<Lesson, 'kinds'>,
  row: number,
  kind: LockKind,
): Mark | null {
  const one = intervalsOf(lane)[row];
  if (one === undefined) return null;
  const times = { t0: ns(one.t0), t1: ns(one.t1) };
  return {
    arm: lane.arm,
    table: 'samples',
    id: row + 1,
    row,
    kind: kindNumber(lesson, kind),
    ...times,
  };
}

export function hitLock(layout: LockLayout, drawing: Drawing, px: number, py: number): Mark | null {
  for (const laid of layout.lanes) {
    const lane = drawing.index.lanes.find((one) => one.arm === laid.arm);
    const { share, rate } = laid;
    if (lane === undefined || py < share.y || py > rate.y + rate.h) continue;
    const x = timeScale(laid, drawing);
    const now = laneTime(drawing.frame.offset, lane.arm, drawing.frame.moment);
    const all = intervalsOf(lane);
    const row = bisector((one: Interval) => x(one.t1)).right(all, px);
    const one = all[row];
    if (one === undefined || px < x(one.t0) || one.t1 > now) return null;
    const slow = slowShare(all[row]!) ?? 0;
    const under = py < share.y + share.h ? py < share.y + share.h * slow : slow >= 0.5;
    return intervalMark(lane, drawing.lesson, row, under ? 'under_lock' : 'by_cas');
  }
  return null;
}

/** Left and right go along time, up and down to the other way, and on to the next lane. */
export function stepLock(
  layout: LockLayout,
  drawing: Drawing,
  from: Mark | null,
  key: ArrowKey,
): Mark | null {
  const { lesson, index, frame } = drawing;
  const at = Math.max(
    0,
    layout.lanes.findIndex((one) => one.arm === from?.arm),
  );
  const laneAt = (i: number) => index.lanes.find((one) => one.arm === layout.lanes[i]?.arm);
  const lane = laneAt(at);
  if (lane === undefined) return null;
  const lastOf = (one: LaneIndex) => {
    const now = laneTime(frame.offset, one.arm, frame.moment);
    return intervalsOf(one).filter(({ t1 }) => t1 <= now).length - 1;
  };
  const last = lastOf(lane);
  const kind = from === null ? 'under_lock' : ((lesson.kinds[from.kind]?.name ?? '') as LockKind);
  if (from === null) return intervalMark(lane, lesson, last, kind);
  const row = { ArrowLeft: from.row - 1, ArrowRight: from.row + 1, Home: 0, End: last }[
    key as 'Home'
  ];
  if (row !== undefined) return row > last ? from : (intervalMark(lane, lesson, row, kind) ?? from);
  const other = key === 'ArrowDown' ? 'by_cas' : 'under_lock';
  if (other !== kind) return intervalMark(lane, lesson, from.row, other);
  const next = laneAt(at + (key === 'ArrowDown' ? 1 : -1));
  if (next === undefined) return from;
  const entry = Math.min(from.row, lastOf(next));
  return intervalMark(next, lesson, entry, key === 'ArrowDown' ? 'under_lock' : 'by_cas') ?? from;
}

export function describeLock(lane: LaneIndex, mark: Mark, lesson: Lesson): string {
  const one = intervalsOf(lane)[mark.row];
  if (one === undefined) return '';
  const slow = slowShare(one);
  const where = t('{name}, {t0} to {t1}', {
    name: capital(armTitle(lesson, lane)),
    t0: formatNs(one.t0),
    t1: formatNs(one.t1),
  });
  if (slow === null) return t('{where}: no operation ended.', { where });
  const [share, rate] = pathFigures(
    lane,
    'mark',
    `in interval ${mark.row}`,
    slow,
    rateOf({ ...one, over: one.t1 - one.t0 }) ?? 0,
  );
  const [fast, under] = [formatCount(one.fast), formatCount(one.slow)];
  return t(
    '{where}: {fast} by compare-and-swap, {under} under the lock ({share}); {rate} a second.',
    { where, fast, under, share, rate },
  );
}
