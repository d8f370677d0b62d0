// SPDX-License-Identifier: GPL-2.0-or-later
/** Facts about the rows of threads, for authors of lessons. */

import type { About } from '@page/views/about.ts';

export const about: About = {
  draws:
    'A row for each thread with its states and functions, and strips for tracks below, on one time axis for all lanes.',
  needs: [
    'the events sched/sched_switch and sched/sched_waking of the workload, for the states of its threads',
    '`rows` of the workload, which names the threads that have a row',
    '`kinds` of the layers state, function and track, with `spans` and `tracks` that open them',
  ],
  layers: ['state', 'function', 'track'],
  marks: ['tick', 'tick_ended', 'cut_short', 'gave_up'],
  onlyInFocus: { layer: 'function', but: ['hazard'] },
  sentences: {
    one_op: 'how long one operation of the first lane takes, and in which states',
    waits: 'how many threads wait now, for what, and which stage their grace period has reached',
    wakes:
      'the wake in the window that ended most sleep: how many threads it freed, and how long they had slept',
    waited:
      "share of the threads' time in waits of the lesson so far, and the mean for each operation, on each lane",
    rates: 'operations so far on each lane, and how many for each 100 on the first',
    expedited: 'expedited RCU grace periods in the window (kind exp_gp), for each lane',
    reader: 'how long a reader has been inside (kind reader), and how many threads wait for it',
  },
  moments: {
    longest_wait: 'one of the longest waits that fit the window',
    reader: 'a reader that a thread waits for (kinds gp_recheck or reader)',
  },
  panels: {
    ratios:
      "the operations of a step's kernels compared with its first: published, measured on each clock, and in the shown run",
  },
  toys: { reader: 'a reader is dragged across an umount: who waits, on four kernels' },
  parts: {
    tracks: 'the strips of `tracks`',
    links: 'lines from a wake to the threads it frees',
    ticks:
      "ticks of the guest's clock, or of the ends of gp_armed and cb_delay if these lie elsewhere: those that ended a delay, and those at which a thread ran (kinds tick, tick_ended)",
    walks:
      'on arms called rwsem, how walks of readers end (kinds cut_short, gave_up), how many ended so far, and how much they freed (point freed: [freed])',
    work: "checks and wakes of SRCU's worker so far, and how long they took",
  },
};
