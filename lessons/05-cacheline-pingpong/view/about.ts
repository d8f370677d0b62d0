// SPDX-License-Identifier: GPL-2.0-or-later
/** Reference of the cache-line view for authors of lessons. */

import type { About } from '@page/views/about.ts';

export const about: About = {
  draws:
    'The bytes of one object in cache lines, the copies of each CPU, and the lines that travel; on an axis of time, lockref operations by compare-and-swap and under the lock.',
  needs: [
    '`microscope`, which sees the loads and stores of chosen functions to one object',
    'an x-ray probe that finds the object and reports its fields: facts `found`, `size` and `address48`, columns `offset`, `size` and `nested`, names as texts',
    '`axis` on the point access, for the workloads that the microscope watches',
    'the x-ray probe lockref-counts, for workloads whose axis is time (lesson 05)',
    'without an object, counts or whole operations, a sentence says why nothing is shown',
  ],
  points: { access: ['at', 'size', 'class', 'function', 'operation'] },
  marks: [
    'name',
    'name_shared',
    'count',
    'chain',
    'plain',
    'read',
    'write',
    'rmw',
    'copy_m',
    'copy_e',
    'copy_s',
    'copy_i',
    'transfer',
    'upgrade',
    'fetch',
    'executed',
    'by_cas',
    'under_lock',
    'unknown',
  ],
  sentences: {
    one_stat: 'accesses of one operation so far, and whether a line had to come',
    shared_line: 'the current access, and transfers per operation so far',
    compared: 'transfers per operation on each lane',
    many: 'transfers per operation with more CPUs, and the predicted ratio',
    proved: 'accesses per operation, counted; no model',
    price: 'how often a CPU writes the shared line, modelled',
    stuck: 'operations under the lock, phase by phase',
  },
  moments: {
    one_stat: 'the first two operations',
    warm: 'once figures of the run so far are near those of the whole run',
    phases: 'all phases of the workload, in guest time',
  },
  answers: {
    name_reads: 'of a dentry: reads of the compared name on the shared line, for each operation',
    predicted_ratio:
      'of a stat(2): the rate of the first arm over that of the second with 20 CPUs, modelled',
    slow_after: 'of a hundred operations after the listing, those under the lock',
  },
  panels: {
    counted: 'loads and stores of one operation, by line and function',
    model: 'the predicted rate on 2 to 64 CPUs, with the numbers of the model',
    path: 'operations under the lock, phase by phase',
    retries: 'failed compare-and-swaps for each stat, by the number of CPUs and by host',
  },
  toys: {
    fields: 'the fields of the object in another order, and the transfers that the model predicts',
  },
  knobs: {
    model_cpus: 'number of CPUs that the model spreads the counted accesses over',
    protocol: '0 MESI, 1 MSI',
    schedule: 'order of accesses: 0 by lot, 1 by modelled time',
    owning: 'whether a load before a compare-and-swap requests ownership of the line',
    hit_ps: 'ps, of an access to a line that the CPU has',
    transfer_ns: 'ns, until a line comes from another CPU',
    upgrade_ns: 'ns, until all others have lost their copies',
    own_ns: 'ns that an operation spends on anything but these accesses',
  },
  counts: 'accesses of the shared line and transfers for each operation, or operations by path',
};
