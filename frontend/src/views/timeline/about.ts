// SPDX-License-Identifier: GPL-2.0-or-later
/** Facts about the general view, for authors of lessons. */

import type { About } from '../about.ts';

export const about: About = {
  draws:
    'A row for each thread or CPU with its states, calls nested below, then tracks, points and counters, on one time axis for all lanes.',
  needs: [
    'for states of threads the events sched/sched_switch and sched/sched_waking of the workload, and its `rows`',
    'for anything else nothing: it draws the `spans`, `tracks`, `points`, `links` and `counters` that the lesson declares',
  ],
  layers: ['state', 'function', 'track'],
  marks: 'points',
  sentences: {
    now: 'what the threads of each lane do at this moment',
    states: "shares of the threads' time in the window, by state",
    wait_cost: 'what the wait that takes most time costs an operation, in the window',
    functions: 'the call that takes most time in the window, how often, and its longest',
    phases: 'how often each phase of a track occurs in the window, and how long it takes',
    points: 'how many points of each name there are so far',
    links: 'links in the window, and how many threads they reach',
    rates: 'operations so far on each lane, and how many for each 100 on the first',
    one_op: 'how long one operation of the first lane takes, and in which states',
  },
  moments: {
    longest_wait: 'one of the longest waits that fit the window',
    longest_function: 'the longest call, of the kinds in focus',
    longest_phase: 'the longest phase of a track, of the kinds in focus',
    longest: 'the longest span of any kind in focus',
    longest_op: 'the longest operation',
    first_point: 'the first point',
    busiest: 'the window with the most operations and points',
  },
  panels: {
    time: "shares of the threads' time by state in the window, calls and phases by number and mean",
    marks: 'the marks nearest to the moment, with the fields of points',
  },
  counts: 'operations and points of each name, up to the moment',
  parts: {
    functions: 'calls below their threads; where a step names no part, it has all',
    tracks: 'the strips of `tracks`',
    links: 'lines from who emits a link to the thread it reaches',
    points:
      'a line for each name of `points`; a kind of layer mark with its name gives it a colour',
    counters: 'areas: operations since the left edge of the window, and `counters`',
    cpus: 'rows of CPUs in place of threads',
  },
};
