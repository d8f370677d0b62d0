// SPDX-License-Identifier: GPL-2.0-or-later
/** Facts about the timeline with a line of virtual time, for authors of lessons. */

import type { About } from '@page/views/about.ts';
import { about as timeline } from '@page/views/timeline/about.ts';

export const about: About = {
  ...timeline,
  draws:
    'The timeline, and a line of virtual time: the virtual runtime and the virtual deadline of each queued task, and their average.',
  needs: [
    ...timeline.needs,
    'for the line of virtual time the points picked (a task gets the CPU: tid, virtual runtime, virtual deadline, and the slice as fifth field) and woken (a task wakes up: virtual runtime, virtual deadline), in ns',
  ],
  toys: {
    turns:
      'a task wakes up beside hogs: when it wakes, how long its job and its slice are, and who runs on two kernels',
  },
  parts: {
    ...timeline.parts,
    virtual:
      'a line of virtual time at this moment: a bar for each queued task from its virtual runtime to its virtual deadline, and the average',
  },
};
