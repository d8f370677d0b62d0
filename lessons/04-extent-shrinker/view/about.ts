// SPDX-License-Identifier: GPL-2.0-or-later
/** The strip of extents for authors of lessons. */

import type { About } from '@page/views/about.ts';

export const about: About = {
  draws:
    'The entries of one file as boxes, and what each visit of a scan does to them; the axis counts visits.',
  needs: [
    'points of visits and scans, from the events ext4/ext4_es_*',
    '`axis` on the point visit, so that each step is one visit',
    'one file: a workload that makes its entries before the first scan',
  ],
  points: {
    visit: ['ino', 'lblk', 'len', 'status', 'fate'],
    walk: ['visited', 'kept', 'referenced', 'freed', 'before', 'left'],
    scanned: ['nr_to_scan', 'visited', 'kept', 'referenced', 'freed', 'walks'],
    insert: ['ino', 'lblk', 'len', 'status'],
  },
  marks: [
    'delayed',
    'written',
    'hole',
    'unwritten',
    'vain',
    'spared',
    'freed',
    'gone',
    'unknown',
    'asked',
    'put_back',
    'thread',
    'spent_vain',
    'spent_gain',
    'spoken_of',
  ],
  sentences: {
    one_scan: 'one scan from its first look to its return',
    each_scan: 'what one scan of each lane looked at and freed',
    first_gain: 'which scan is the first to free anything',
    charged: 'what the same number of looks brought on each lane',
    price: 'entries on the list, and how often it was changed',
    promise: 'what one scan of each lane frees, for how many looks in vain',
    reader: 'what SEEK_DATA and SEEK_HOLE answer (points answer and found)',
    totals: 'looks for each entry that the scans freed which came back, on each lane',
  },
  answers: {
    first_scan_visits: 'entries that the first scan of the first arm looks at',
    first_gain_scan: 'number of the first scan that frees anything, on the first arm; 0: none',
  },
  panels: {
    cumulative: 'entries freed against looks, a line for each lane',
    price: 'bytes of an entry, changes of the list, looks for each gain, time of a scan',
  },
  toys: {
    budget: 'delayed and written entries are arranged, and a scan gets a budget, on three kernels',
  },
  counts:
    'scans, entries visited, freed, kept and spared, visits for each freed, entries that came back',
};
