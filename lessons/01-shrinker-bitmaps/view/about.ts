// SPDX-License-Identifier: GPL-2.0-or-later
/** Facts about the wall, for authors of lessons. */

import type { About } from '@page/views/about.ts';

export const about: About = {
  draws:
    'A wall for each kernel, memory cgroups by shrinkers: each cell is a possible visit of shrink_slab.',
  needs: [
    'points of calls, walks, visits and of bits in the shrinker maps, from the events vmscan/shrinker_*',
    'optional: the x-ray probes shrinker-list, for names, and shrinker-maps, for comparison',
  ],
  points: {
    call: [],
    call_end: [],
    visit: ['memcg', 'id', 'ret', 'again'],
    walk: ['memcg', 'visited', 'set', 'ids', 'shrinkers', 'root'],
    outcome: ['memcg', 'empty', 'again', 'cleared', 'freed'],
    set: ['memcg', 'id'],
    cleared: ['memcg', 'id'],
    expanded: ['old_nr', 'new_nr', 'memcgs', 'bits'],
    born: ['id', 'level'],
  },
  marks: [
    'visit_vain',
    'visit_busy',
    'visit_freed',
    'visit_again',
    'bit',
    'bit_unread',
    'bit_cleared',
    'not_visited',
    'visit_new',
    'visit_before',
    'root_visit',
  ],
  sentences: {
    call: 'visits of the current call, how many were in vain, and what it freed',
    bits: 'how many bits are set, why, and what the x-ray saw of them',
    first: 'the first call: bits set at its start, and second checks of bits just cleared',
    touched: 'containers that set a bit of their own, and whether it is set now',
    price: 'how often bits were set and cleared, and what depends on them',
    growth: 'visits of the same call on all lanes, with the numbers of memcgs and shrinkers',
  },
  parts: {
    clearing:
      'how the newest bit was cleared, to scale: the check that found nothing, the clear, the barrier, the second check',
  },
  moments: { touched: "the newest bit that a container's own file has set, and the call after it" },
  answers: {
    visits_first: 'visits of the first call on the first arm, for every ten on the second',
    visits_third: 'visits of the third call on the first arm, for every ten on the second',
  },
  panels: { cost: 'visits and time of a call against n, on logarithmic axes' },
  toys: {
    arrival:
      'an object arrives while a walk checks, clears and checks again, with and without safeguards',
  },
  quantities: { visits: 'visits of a call', ns: 'time of a call, ns' },
  counts: 'visits, those in vain, second checks, objects freed, bits set, time of the call',
};
