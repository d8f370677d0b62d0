// SPDX-License-Identifier: GPL-2.0-or-later
/** Facts about the timeline with a map of the address space, for authors of lessons. */

import type { About } from '@page/views/about.ts';
import { about as timeline } from '@page/views/timeline/about.ts';

export const about: About = {
  ...timeline,
  draws:
    'The timeline, and a map of the address space: its regions, and the threads that hold a lock at this moment.',
  needs: [
    ...timeline.needs,
    'for the map the kinds wait_mmap, under_mmap, under_vma and vma_writing, whose spans store an address as `arg`, and the track kind write_held',
  ],
  toys: { locks: 'a page fault is dragged across a writer: who waits, on two kernels' },
  parts: {
    ...timeline.parts,
    regions:
      'a map of the address space at this moment: a box for the region of each thread, and who holds or wants a lock',
  },
};
