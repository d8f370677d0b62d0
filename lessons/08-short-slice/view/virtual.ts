// SPDX-License-Identifier: GPL-2.0-or-later
/** The line of virtual time: how much CPU time each queued task has had, and what deadline it has, at a moment. */

import { t as tr } from '@page/base/lang/t.ts';
import { formatNs } from '@page/base/units.ts';
import { perVersion, spanAt } from '@page/derive/query.ts';
import type { LaneIndex, RunIndex } from '@page/derive/types.ts';
import { fitting, type Pen } from '@page/views/paints.ts';
import { plated, textWidth } from '@page/views/timeline/easel.ts';
import { type Extra, type ExtraAt, type Look, timelineLook } from '@page/views/timeline/score.ts';

/** A task on the run queue at a moment. Virtual times are in ns, relative to the average of all queued tasks. */
export interface Queued {
  readonly tid: number;
  readonly name: string;
  readonly vruntime: number;
  readonly deadline: number;
  readonly running: boolean;
  /** Whether it has had no more than the average. */
  readonly eligible: boolean;
}

/** Values that the kernel had when something happened to a task. */
interface Stand {
  readonly t: number;
  readonly tid: number;
  readonly vruntime: number;
  readonly deadline: number;
  /** 0 if unknown. */
  readonly slice: number;
  /** Whether the task gets the CPU. If not, it has just woken up. */
  readonly runs: boolean;
}

/** All stands of a lane in order of time. */
const standsOf = perVersion((_index, lane): readonly Stand[] => {
  const { points } = lane;
  const picked = lane.pointsOf('picked');
  const woken = lane.pointsOf('woken');
  const stands: Stand[] = [];
  const other = lane.rows.find(({ role }) => role === 'other');
  for (let n = 0; n < picked.length; n++) {
    const i = picked.order[n]!;
    const [tid, vruntime, deadline, slice] = [
      points.a[i]!,
      points.b[i]!,
      points.c[i]!,
      points.e[i]!,
    ];
    stands.push({ t: points.t[i]!, tid, vruntime, deadline, slice, runs: true });
  }
  for (let n = 0; other !== undefined && n < woken.length; n++) {
    const i = woken.order[n]!;
    const [vruntime, deadline] = [points.a[i]!, points.b[i]!];
    stands.push({ t: points.t[i]!, tid: other.tid, vruntime, deadline, slice: 0, runs: false });
  }
  return stands.sort((a, b) => a.t - b.t);
});

/** Tell whether a task of this lane sleeps at this time. */
function sleeps(index: RunIndex, lane: LaneIndex, tid: number, t: number): boolean {
  const row = lane.rows.find((one) => one.tid === tid)?.row;
  const state = row === undefined ? null : spanAt(lane, row, 'state', t);
  return state !== null && (index.kinds[state.kind]?.name ?? '').startsWith('wait_');
}

/** Return the queued tasks at a moment, in the order of rows. */
export function queuedAt(index: RunIndex, lane: LaneIndex, t: number): readonly Queued[] {
  const stands = standsOf(index, lane);
  const latest = new Map<number, Stand>();
  const until = new Map<number, number>();
  let running: number | null = null;
  for (const stand of stands) {
    if (stand.t > t) break;
    if (stand.runs) {
      if (running !== null && running !== stand.tid) until.set(running, stand.t);
      running = stand.tid;
      until.delete(stand.tid);
    }
    latest.set(stand.tid, stand);
  }
  const raw = [...latest.values()]
    .filter(({ tid }) => tid === running || !sleeps(index, lane, tid, t))
    .map((stand) => {
      // With nice 0 a task's virtual time passes like the clock while the task runs.
      const ran = stand.runs ? (until.get(stand.tid) ?? t) - stand.t : 0;
      const vruntime = stand.vruntime + ran;
      const late = vruntime >= stand.deadline && stand.slice > 0;
      const deadline = late ? vruntime + stand.slice : stand.deadline;
      return { tid: stand.tid, vruntime, deadline, running: stand.tid === running };
    });
  const average = raw.reduce((sum, one) => sum + one.vruntime, 0) / Math.max(1, raw.length);
  return lane.rows.flatMap((row) => {
    const one = raw.find(({ tid }) => tid === row.tid);
    if (one === undefined) return [];
    const vruntime = one.vruntime - average;
    return [
      {
        ...{ tid: one.tid, name: row.name, vruntime, deadline: one.deadline - average },
        ...{ running: one.running, eligible: vruntime <= 0 },
      },
    ];
  });
}

/** Half the width of the scale, which stays the same while the run plays: lags and deadlines are within two slices. */
const reachOf = perVersion((index, lane): number =>
  standsOf(index, lane).reduce(
    (most, { vruntime, deadline }) => Math.max(most, 1.25 * (deadline - vruntime)),
    1,
  ),
);

function draw(pen: Pen, at: ExtraAt): void {
  const { index, lane, now, left, right, top, height, theme } = at;
  const queued = queuedAt(index, lane, Math.min(now, lane.watermark - 1));
  const reach = reachOf(index, lane);
  const line = 17 * theme.em;
  const middle = left + (right - left) * 0.4;
  const unit = (middle - left - 8) / reach;
  const x = (virtual: number) => Math.min(right - 4, Math.max(left + 4, middle + virtual * unit));
  const each = (height - line - 4) / Math.max(1, queued.length);
  pen.strokeStyle = theme.ink;
  pen.lineWidth = 1.5;
  pen.beginPath();
  pen.moveTo(middle, top + line);
  pen.lineTo(middle, top + height - 2);
  pen.stroke();
  const eligible = queued.filter((one) => one.eligible);
  const first = Math.min(...eligible.map((one) => one.deadline));
  const next = eligible.find((one) => one.deadline === first);
  pen.fillStyle = theme.soft;
  const plain = tr('virtual time; the line is the average');
  const whole =
    next === undefined
      ? plain
      : tr(
          'virtual time; the line is the average, and {task} has the earliest deadline of all eligible tasks',
          { task: next.name },
        );
  const room = right - left - 8;
  const heading = textWidth(pen, theme, whole, 500) <= room ? whole : plain;
  plated(pen, theme, heading, left + 4, top + line / 2, room);
  queued.forEach((one, i) => {
    const y = top + line + each * (i + 0.5);
    const [from, to] = [x(one.vruntime), x(one.deadline)];
    const colour = one.running ? theme.work : one.eligible ? theme.mechanism : theme.idle;
    const thick = Math.max(3, Math.min(9 * theme.em, each - 4));
    pen.fillStyle = colour;
    pen.fillRect(from, y - thick / 2, Math.max(2, to - from), thick);
    pen.strokeStyle = one === next ? theme.hazard : theme.soft;
    pen.lineWidth = one === next ? 3 : 1.5;
    pen.beginPath();
    pen.moveTo(to, y - thick / 2 - 1);
    pen.lineTo(to, y + thick / 2 + 1);
    pen.stroke();
    pen.font = `500 ${Math.round(11 * theme.em)}px ${theme.font}`;
    pen.fillStyle = theme.ink;
    pen.textBaseline = 'middle';
    const lag = one.eligible
      ? tr('{name}: {time} behind', { name: one.name, time: formatNs(-one.vruntime) })
      : tr('{name}: {time} ahead', { name: one.name, time: formatNs(one.vruntime) });
    const free = right - to - 8;
    const said = fitting(pen, [lag, one.name, /\d+$/.exec(one.name)?.[0] ?? one.name], free);
    pen.textAlign = 'left';
    if (pen.measureText(said).width <= free) pen.fillText(said, to + 6, y);
  });
}

const virtualPart: Extra = {
  part: 'virtual',
  label: tr('virtual time'),
  height: 104,
  on: (index, lane) => standsOf(index, lane).length > 0,
  draw,
};

export const virtualLook: Look = { ...timelineLook, extras: [virtualPart] };
