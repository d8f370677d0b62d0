// SPDX-License-Identifier: GPL-2.0-or-later
/** Facts about the extent strip, for authors of lessons. */

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
    price: 'entries on the list, and how often the list was changed',
    promise: 'what one scan of each lane frees, and its looks in vain',
    reader: 'what SEEK_DATA and SEEK_HOLE answer (points answer and found)',
    totals: 'looks per entry freed in the scans that have returned, on each lane',
  },
  answers: {
    first_scan_visits: 'entries that the first scan of the first arm looks at',
    first_gain_scan: 'number of the first scan that frees anything, on the first arm; 0: none',
  },
  panels: {
    cumulative: 'entries freed against looks, a line for each lane',
    price: 'bytes of an entry, changes of the list, looks per entry freed, time of a scan',
  },
  toys: {
    budget: 'arrange delayed and written entries, give a scan a budget, and compare three kernels',
  },
  counts:
    'scans, entries visited, freed, kept and spared, visits per entry freed, entries put back',
};
