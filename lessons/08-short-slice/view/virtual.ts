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
    if (stand.t > t) {
      // A task that first gets the CPU later has waited until then, so it has the same values now.
      if (stand.runs && !latest.has(stand.tid)) latest.set(stand.tid, stand);
      continue;
    }
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
      const ran = stand.runs && stand.t <= t ? (until.get(stand.tid) ?? t) - stand.t : 0;
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

/** Return the largest of 1, 2 and 5 times a power of ten that is not above `most`. */
function roundest(most: number): number {
  const power = 10 ** Math.floor(Math.log10(most));
  return (most >= 5 * power ? 5 : most >= 2 * power ? 2 : 1) * power;
}

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
  pen.setLineDash([4, 3]);
  pen.beginPath();
  pen.moveTo(middle, top + line);
  pen.lineTo(middle, top + height - 2);
  pen.stroke();
  pen.setLineDash([]);
  const eligible = queued.filter((one) => one.eligible);
  const first = Math.min(...eligible.map((one) => one.deadline));
  const next = eligible.find((one) => one.deadline === first);
  pen.fillStyle = theme.soft;
  // The scale, which is not that of the time axis.
  const whole = roundest(reach / 2);
  const scale = formatNs(whole);
  const end = right - textWidth(pen, theme, scale, 500) - 14;
  const y0 = top + line / 2;
  pen.strokeStyle = theme.ink;
  pen.beginPath();
  for (const at of [end - whole * unit, end]) {
    pen.moveTo(at, y0 - 4);
    pen.lineTo(at, y0 + 4);
  }
  pen.moveTo(end - whole * unit, y0);
  pen.lineTo(end, y0);
  pen.stroke();
  plated(pen, theme, scale, end + 6, y0, right - end);
  const room = end - whole * unit - left - 16;
  const headings = [
    ...(next === undefined
      ? []
      : [
          tr('virtual time; dashed: the average; earliest deadline of all eligible tasks: {task}', {
            task: next.name,
          }),
        ]),
    tr('virtual time; the dashed line is the average'),
    tr('virtual time'),
  ];
  const heading =
    headings.find((words) => textWidth(pen, theme, words, 500) <= room) ?? headings.at(-1)!;
  plated(pen, theme, heading, left + 4, y0, room);
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
    pen.textBaseline = 'middle';
    const said = { name: one.name, time: formatNs(Math.abs(one.vruntime)) };
    const lag = one.eligible
      ? [tr('{name}: {time} behind', said)]
      : [tr('{name}: {time} ahead, not eligible', said), tr('{name}: {time} ahead', said)];
    const free = right - to - 8;
    const label = fitting(pen, [...lag, one.name, /\d+$/.exec(one.name)?.[0] ?? one.name], free);
    pen.textAlign = 'left';
    const { width } = pen.measureText(label);
    if (width > free) return;
    pen.fillStyle = theme.paper;
    pen.fillRect(to + 4, y - 6 * theme.em, width + 4, 12 * theme.em);
    pen.fillStyle = theme.ink;
    pen.fillText(label, to + 6, y);
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
