// SPDX-License-Identifier: GPL-2.0-or-later
/** The toy of lesson 08: a player wakes up beside three hogs. Who runs, with and without PREEMPT_SHORT? */

import { t as tr } from '@page/base/lang/t.ts';
import { formatNs, microsecond, millisecond } from '@page/base/units.ts';
import type { RunIndex } from '@page/derive/types.ts';
import type { Item, Limits, Play, Row, Setting, Times, Toy } from '@page/toys/types.ts';

// A model of one CPU with four tasks of equal weight. Pure. All times are in ns.
//
// Source: kernel/sched/fair.c of Linux 7.3, pick_eevdf(), set_protect_slice(), update_protect_slice(), update_curr() and
// wakeup_preempt_fair(), with RUN_TO_PARITY, HRTICK and HZ=250.

export type Policy = 'protect' | 'preempt';

export interface Case {
  readonly wake: number;
  /** CPU time of the job. */
  readonly job: number;
  readonly slice: number;
  readonly hogSlice: number;
}

export interface Turn {
  /** The number of a hog, or null for the player. */
  readonly hog: number | null;
  readonly from: number;
  readonly to: number;
}

export interface Course {
  readonly turns: readonly Turn[];
  /** When the player first runs, and when its job is done; infinite if that is after the end. */
  readonly begins: number;
  readonly done: number;
}

interface Task {
  readonly hog: number | null;
  readonly slice: number;
  vruntime: number;
  deadline: number;
  /** The virtual runtime up to which its slice is protected. */
  until: number;
}

export const hogs = 3;
const tick = 4 * millisecond;
const grain = 50 * microsecond;

const average = (tasks: readonly Task[]) =>
  tasks.reduce((sum, { vruntime }) => sum + vruntime, 0) / tasks.length;

/** Return the eligible task with the earliest deadline, or the running task while it is eligible and protected. */
function pick(tasks: readonly Task[], current: Task | null, protect: boolean): Task {
  const zero = average(tasks) + 1;
  const eligible = tasks.filter(({ vruntime }) => vruntime <= zero);
  if (protect && current !== null && eligible.includes(current) && current.vruntime < current.until)
    return current;
  return eligible.reduce((best, one) => (one.deadline < best.deadline ? one : best));
}

function protectedUntil(policy: Policy, tasks: readonly Task[], task: Task): number {
  const shortest = Math.min(...tasks.map(({ slice }) => slice));
  if (shortest === task.slice) return task.deadline;
  const others = tasks.filter((one) => one !== task);
  const until = policy === 'preempt' ? average(others) : task.vruntime + shortest;
  return Math.min(task.deadline, until);
}

/** Play `span` ns of one kernel. */
export function courseOf(
  policy: Policy,
  { wake, job, slice, hogSlice }: Case,
  span: number,
): Course {
  const tasks: Task[] = Array.from({ length: hogs }, (_, hog) => {
    const deadline = hogSlice + hog;
    return { hog, slice: hogSlice, vruntime: 0, deadline, until: deadline };
  });
  const player: Task = { hog: null, slice, vruntime: 0, deadline: 0, until: 0 };
  const turns: Turn[] = [];
  let [current, since, left, begins, done] = [tasks[0]!, 0, job, Infinity, Infinity];
  const change = (to: Task, t: number) => {
    if (to === current) return;
    if (t > since) turns.push({ hog: current.hog, from: since, to: t });
    [current, since] = [to, t];
    current.until = protectedUntil(policy, tasks, current);
    if (current === player) begins = Math.min(begins, t);
  };
  for (let t = 0; t < span; t += grain) {
    if (t >= wake && t < wake + grain) {
      player.vruntime = average(tasks);
      player.deadline = player.vruntime + slice;
      tasks.push(player);
      const short = policy === 'preempt' && slice < current.slice;
      if (short || pick(tasks, current, true) === player) change(player, t);
      else {
        const from = Math.min(current.vruntime, average(tasks));
        const shortest = Math.min(slice, hogSlice);
        current.until = Math.min(current.until, from + shortest);
      }
    }
    current.vruntime += grain;
    if (current === player) {
      left -= grain;
      if (left <= 0) {
        done = t + grain;
        tasks.splice(tasks.indexOf(player), 1);
        change(pick(tasks, null, false), done);
        continue;
      }
    }
    const spent = current.vruntime >= current.deadline;
    if (spent) current.deadline = current.vruntime + current.slice;
    const ticks = Math.floor((t + grain) / tick) > Math.floor(t / tick);
    if (spent || (ticks && current.vruntime >= current.until)) {
      const next = pick(tasks, current, !spent);
      change(next, t + grain);
      current.until = protectedUntil(policy, tasks, current);
    }
  }
  if (span > since) turns.push({ hog: current.hog, from: since, to: span });
  return { turns, begins, done };
}

// The distances, from a run: the slice of its hogs.

const usual = 20 * millisecond;
/** Length of the axis in slices of a hog. */
const length = 5;

function turnTimes(index: RunIndex | null): Times {
  let slice = 0;
  for (const lane of index?.lanes ?? []) {
    const picked = lane.pointsOf('picked');
    for (let n = 0; n < picked.length; n++)
      slice = Math.max(slice, lane.points.e[picked.order[n]!]!);
  }
  const found = slice >= 4 * millisecond;
  const hog = found ? slice : usual;
  return {
    at: { hog },
    span: length * hog,
    from: found ? tr('{slice}, the slice of a hog', { slice: formatNs(hog) }) : null,
  };
}

export function caseOf({ at }: Times, setting: Setting): Case {
  const { wake, end, deadline } = setting.at as { wake: number; end: number; deadline: number };
  return { wake, job: end - wake, slice: deadline - wake, hogSlice: at['hog']! };
}

function start({ at }: Times): Setting {
  const hog = at['hog']!;
  const wake = 1.1 * hog;
  return { at: { wake, end: wake + 0.15 * hog, deadline: wake + 0.4 * hog }, on: {} };
}

function limits({ at }: Times, setting: Setting, handle: string): Limits {
  const hog = at['hog']!;
  const { wake, end, deadline } = setting.at as { wake: number; end: number; deadline: number };
  if (handle === 'wake')
    return { min: 0.05 * hog, max: Math.min(3 * hog, 4.9 * hog - Math.max(end, deadline) + wake) };
  if (handle === 'end') return { min: wake + 0.05 * hog, max: wake + 1.5 * hog };
  return { min: wake + 0.05 * hog, max: wake + 1.5 * hog };
}

function move(_times: Times, setting: Setting, handle: string, to: number): Setting {
  const at = { ...setting.at, [handle]: to };
  if (handle === 'wake')
    for (const name of ['end', 'deadline']) at[name] = to + setting.at[name]! - setting.at['wake']!;
  return { ...setting, at };
}

const letters = 'ABC';

function rowOf(name: Policy, title: string, { wake }: Case, course: Course, span: number): Row {
  const { turns, begins, done } = course;
  const delay = begins - wake;
  const items = turns.map(
    ({ hog, from, to }): Item => ({
      ...{ kind: 'stretch', from, to, terse: true, look: 'solid' },
      ...(hog === null
        ? { label: tr('player'), face: 'gain' }
        : { label: letters[hog]!, face: hog % 2 === 0 ? 'work' : 'other' }),
    }),
  );
  const ends = { delay: formatNs(delay), time: formatNs(done - wake) };
  const verdict =
    begins > span
      ? tr('the player does not run.')
      : delay <= 0
        ? done > span
          ? tr('the player runs at once.')
          : tr('the player runs at once, and its job is done after {time}.', { time: ends.time })
        : done > span
          ? tr('the player waits {delay}.', { delay: ends.delay })
          : tr('the player waits {delay}, and its job is done after {time}.', ends);
  return { name, title, items, verdict, face: delay > 0 ? 'wait' : 'gain' };
}

/** Number of times the player lost the CPU before its job was done. */
export const interruptions = ({ turns, done }: Course): number =>
  Math.max(0, turns.filter(({ hog, from }) => hog === null && from < done).length - 1);

function play(times: Times, setting: Setting): Play {
  const one = caseOf(times, setting);
  const { wake, job, slice, hogSlice } = one;
  const protect = courseOf('protect', one, times.span);
  const preempt = courseOf('preempt', one, times.span);
  const rows: Row[] = [
    {
      name: 'slice',
      title: tr('the player asks for a slice'),
      items: [
        {
          ...{ kind: 'stretch', from: wake, to: wake + slice, label: tr('slice') },
          ...{ face: 'mechanism', look: 'hollow', handle: 'wake' },
        },
        { kind: 'step', at: wake + slice, label: '', face: 'mechanism', handle: 'deadline' },
      ],
    },
    {
      name: 'job',
      title: tr('its job without the hogs'),
      items: [
        {
          kind: 'stretch',
          from: wake,
          to: wake + job,
          label: tr('job'),
          face: 'gain',
          look: 'solid',
        },
        { kind: 'step', at: wake + job, label: '', face: 'gain', handle: 'end' },
      ],
    },
    rowOf('protect', 'NO_PREEMPT_SHORT', one, protect, times.span),
    rowOf('preempt', 'PREEMPT_SHORT', one, preempt, times.span),
  ];
  const waits = protect.begins > wake;
  const short = preempt.begins <= wake + grain;
  const spared = waits && short;
  const lost = interruptions(preempt) > 0;
  return {
    rows,
    says: {
      wake: tr('wakes up at {time}', { time: formatNs(wake) }),
      end: tr('the job takes {time} of CPU time', { time: formatNs(job) }),
      deadline: tr('the slice is {slice}, and that of a hog {hog}', {
        slice: formatNs(slice),
        hog: formatNs(hogSlice),
      }),
    },
    outcome: lost
      ? {
          face: 'hazard',
          words: tr(
            'The player has used its share and is no longer eligible. The hogs run until the average has caught up, whatever its slice.',
          ),
        }
      : spared
        ? {
            face: 'gain',
            words: tr(
              'The slice of the player is shorter than that of the hog, so the hog loses its protection.',
            ),
          }
        : waits
          ? {
              face: 'wait',
              words: tr(
                'The slice of the player is not shorter than that of a hog, so it waits with both settings.',
              ),
            }
          : {
              face: 'idle',
              words: tr(
                'The running hog has had more than the average. A hog that is not eligible is not protected, so the player runs at once with both settings.',
              ),
            },
    reached: [
      ...(spared ? ['spared'] : []),
      ...(!waits && short ? ['both'] : []),
      ...(waits && !short ? ['equal'] : []),
      ...(lost ? ['spent'] : []),
    ],
  };
}

export const turns: Toy = {
  title: tr('Whose turn is next?'),
  ask: tr(
    'Three hogs take turns on one CPU, and a player wakes up. Drag the moment at which the player wakes up, the end of its slice and the end of its job, and see when it runs with both settings.',
  ),
  leavesOut: tr(
    'All tasks have nice 0, and the player has a lag of zero when it wakes up. The timer tick comes every 4 ms. Switching costs no time.',
  ),
  handles: [
    { name: 'wake', title: tr('the player wakes up') },
    { name: 'deadline', title: tr('the end of its slice') },
    { name: 'end', title: tr('the end of its job') },
  ],
  switches: [],
  goals: [
    {
      name: 'spared',
      title: tr('Make the player wait with one setting, and run at once with the other.'),
      can: () => tr('Yes: its slice is shorter, and the hog that runs is still eligible.'),
    },
    {
      name: 'both',
      title: tr('Make the player run at once with both settings.'),
      can: () => tr('Yes: wake it up when the running hog has had more than the average.'),
    },
    {
      name: 'equal',
      title: tr('Make the player wait with both settings.'),
      can: () =>
        tr('Yes: make its slice as long as that of a hog, and wake it up early in a turn.'),
    },
    {
      name: 'spent',
      title: tr('Make the player lose the CPU before its job is done, even with PREEMPT_SHORT.'),
      can: () => tr('Yes: make the job so long that the player gets more than its share.'),
    },
  ],
  times: turnTimes,
  start,
  limits,
  move,
  play,
};
