// SPDX-License-Identifier: GPL-2.0-or-later
/** Facts about the view of inodes' lives, for authors of lessons. */

import type { About } from '@page/views/about.ts';

export const about: About = {
  draws:
    'Lives of inodes on a time axis: one inode enlarged, all inodes as rows and as numbers, the queues of the worker, grace periods.',
  needs: [
    'points of the lives of inodes, from the events xfs/xfs_inodegc_* and xfs/xfs_inode_*',
    'a track with the kind gp, for RCU grace periods',
    'states of the thread, for the band of the process',
  ],
  points: {
    unlinked: ['agno', 'agino'],
    queued: ['ino', 'items'],
    batch: ['items'],
    batch_done: ['items'],
    inactivated: ['ino'],
    reuse: ['ino', 'gp_done'],
    fresh: ['ino'],
    gp_wait: ['ino', 'where'],
    gp_wait_done: ['ino', 'where', 'ns'],
    throttle_done: ['items', 'ns'],
  },
  layers: ['state', 'function', 'track'],
  marks: [
    'alive',
    'queued',
    'free',
    'shadow',
    'early',
    'reuse',
    'batch',
    'worker_wait',
    'listed',
    'taken',
    'rcu',
    'walker',
    'tick',
    'tick_ended',
  ],
  sentences: {
    life: 'the life of the enlarged inode up to the moment',
    reuses: 'inodes that came back so far, how many of them early, and the waits',
    dam: 'how many inodes wait on a CPU, and what the worker and the process do',
    ages: 'ages of inodes when they come back, compared with the lengths of their grace periods',
    buys: 'how often a reader could have been caught so far',
  },
  moments: {
    life: 'a life whose whole grace period is in view',
    swing: 'a third of the way through the reuses, on a tick',
    fullest: 'the first wait for the backlog, or a queue that is nearly longest',
    danger: 'the early reuse with the most of its grace period left',
  },
  answers: {
    early_share: 'how many in a hundred reuses on the first arm came before the grace period ended',
    throttle_waits: 'waits for the backlog on the first arm',
  },
  panels: {
    sweep: 'files a second against batch, ours and the published ones',
    scale: 'files a second against the number of removing processes, by host',
  },
  parts: {
    flow: 'numbers of inodes in each state, over time',
    inode: 'one inode, enlarged',
    inodes: 'all inodes, a row each',
    worker: 'the worker of each CPU',
    queue: 'the queue of each CPU',
    ticks:
      "ticks of the guest's clock, or of the ends of grace periods if these lie elsewhere: those that ended a grace period, and those at which the program ran (kinds tick, tick_ended)",
    walker: 'a reader that could have been there',
  },
  toys: { walker: 'an old reader is dragged across an unlink and the next life of the inode' },
  quantities: { files_per_s: 'files a second' },
  counts: 'inodes queued, inactivated, used again, used again early, and waits',
};
