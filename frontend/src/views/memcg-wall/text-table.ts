// SPDX-License-Identifier: GPL-2.0-or-later
/** The window in words, and the visits near the moment as a table. */

import { firstAbove } from '../../base/columns.ts';
import { t as tr } from '../../base/lang/t.ts';
import { formatMoment, formatNs, ns } from '../../base/units.ts';
import { heldTime, laneTime } from '../../derive/align.ts';
import { figure } from '../../derive/figures.ts';
import type { NearbyRow } from '../../derive/summary.ts';
import type { Frame, LaneIndex, Mark, RunIndex } from '../../derive/types.ts';
import { armTitle } from '../../derive/words.ts';
import type { Lesson } from '../../protocol/lesson.ts';
import { ofCall } from './figures.ts';
import { countWords, markAt } from './marks.ts';
import { memcgName, shrinkerName } from './names.ts';
import { type Call, type Wall, wallOf } from './wall.ts';

/** Each call that touches the window, in a sentence per lane. */
export function summary(index: RunIndex, frame: Frame, lesson: Lesson): readonly string[] {
  return index.lanes.map((lane) => {
    const a = laneTime(frame.offset, lane.arm, frame.start);
    const b = Math.min(a + frame.span, lane.watermark);
    const title = armTitle(lesson, lane);
    const calls = wallOf(lane, lesson)
      .calls()
      .filter((call) => call.began < b && (call.ended === 0 || call.ended >= a));
    if (calls.length === 0) return tr('{title}: no call in this window.', { title });
    return `${title}: ${calls
      .slice(0, 5)
      .map((call) => callWords(lane.arm, call))
      .join('; ')}.`;
  });
}

function callWords(arm: string, call: Call): string {
  const of = (name: string, value: number, text?: string) =>
    call.ended === 0
      ? figure('window', arm, name, value, text)
      : ofCall(arm, call.number, name, value, text);
  const took = call.ended - call.began;
  const time =
    call.ended === 0
      ? tr('not over yet')
      : tr('took {time}', { time: of('time', took, formatNs(took)) });
  const passes = call.passes > 1 ? tr(' in {pass} passes', { pass: of('pass', call.passes) }) : '';
  const again =
    call.again > 0 ? tr(', {again} of them second looks', { again: of('again', call.again) }) : '';
  const visits = of('visits', call.visits, countWords(call.visits, 'visit'));
  const freed = of('freed', call.freed, countWords(call.freed, 'object'));
  const rootVisits = of('rootVisits', call.rootVisits, countWords(call.rootVisits, 'visit'));
  const root = tr(' and {rootVisits} for the root cgroup, as on every kernel', { rootVisits });
  return tr('call {number} {time}, {visits}{passes}{again}, {vain} in vain, {freed} freed{root}', {
    number: call.number,
    time,
    visits,
    passes,
    again,
    vain: of('vain', call.vain),
    freed,
    root,
  });
}

const mostNearby = 50;

/** At most 50 visits, or walks, nearest to the moment, in order of time. */
export function table(index: RunIndex, frame: Frame, lesson: Lesson): readonly NearbyRow[] {
  const found = index.lanes.flatMap((lane) => near(lane, lesson, frame));
  found.sort((a, b) => Math.abs(a.t0 - frame.moment) - Math.abs(b.t0 - frame.moment));
  return found
    .slice(0, mostNearby)
    .sort((a, b) => a.t0 - b.t0)
    .map((one) => rowOf(index, frame, lesson, one));
}

interface Near {
  readonly lane: LaneIndex;
  readonly wall: Wall;
  /** Place among the points, and its frame time. */
  readonly at: number;
  readonly t0: number;
}

/** Visits up to the moment, the newest first; what is to come would give the end away. */
function near(lane: LaneIndex, lesson: Lesson, frame: Frame): Near[] {
  const wall = wallOf(lane, lesson);
  const order = lane.pointsOf(wall.replay.visitsReplayed ? 'visit' : 'walk');
  const t = heldTime(lane, frame);
  const shift = frame.offset.get(lane.arm) ?? 0;
  const from = laneTime(frame.offset, lane.arm, frame.start);
  const end = firstAbove(order.length, (i) => lane.points.t[order.order[i]!]!, t);
  const list: Near[] = [];
  for (let i = end - 1; i >= Math.max(0, end - mostNearby); i--) {
    const at = order.order[i]!;
    const time = lane.points.t[at]!;
    if (time < from) break;
    list.push({ lane, wall, at, t0: time + shift });
  }
  return list;
}

function rowOf(index: RunIndex, frame: Frame, lesson: Lesson, one: Near): NearbyRow {
  const { lane, wall, at, t0 } = one;
  const { points } = lane;
  const row = wall.replay.rows[at]!;
  const walk = !wall.replay.visitsReplayed;
  const id = walk ? 0 : Math.max(0, points.b[at]!);
  const time = ns(points.t[at]!);
  const cell = markAt(index, lesson, frame, lane.arm, row, id);
  const kind = walk ? cell?.kind : kindOf(index, points.c[at]!, points.d[at]! > 0, row);
  const mark: Mark = {
    arm: lane.arm,
    table: 'points',
    id: row * 65_536 + id,
    row: 0,
    kind: kind ?? 0,
    t0: time,
    t1: time,
  };
  return {
    mark,
    t0: ns(t0),
    when: formatMoment(t0, frame.span / 100),
    lane: armTitle(lesson, lane),
    row: memcgName(wall.replay, row),
    what: walk
      ? tr('walk: {visits}, {bits} set', {
          visits: countWords(points.b[at]!, 'visit'),
          bits: countWords(points.c[at]!, 'bit'),
        })
      : `${points.b[at]! < 0 ? tr('a shrinker that knows no memcgs') : shrinkerName(lane, id, time)}: ${outcome(points.c[at]!, points.d[at]! > 0)}`,
    length: '',
    cpu: String(points.cpu[at]!),
  };
}

function kindOf(index: RunIndex, ret: number, again: boolean, row: number): number {
  const name =
    row === 0
      ? 'root_visit'
      : ret > 0
        ? 'visit_freed'
        : ret === 0
          ? 'visit_busy'
          : again
            ? 'visit_again'
            : 'visit_vain';
  return Math.max(
    0,
    index.kinds.findIndex((k) => k.name === name),
  );
}

function outcome(ret: number, again: boolean): string {
  const look = again ? 'second' : 'first';
  if (ret > 0)
    return tr('{objects} freed{look, select, second {, second look} other {}}', {
      ...{ objects: countWords(ret, 'object'), look },
    });
  if (ret === 0)
    return tr('something there, nothing freed{look, select, second {, second look} other {}}', {
      look,
    });
  return tr('in vain{look, select, second {, second look} other {}}', { look });
}
