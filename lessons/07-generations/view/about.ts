// SPDX-License-Identifier: GPL-2.0-or-later
/** Facts about this view, for authors of lessons. */

import type { About } from '@page/views/about.ts';
import { about as rows } from '@page/views/timeline/about.ts';

export const about: About = {
  ...rows,
  draws: `${rows.draws} Beside the run, a memory to play with.`,
  sentences: {
    ...rows.sentences,
    returned:
      'hot pages evicted so far, and how many of them came back (points hot_out and hot_in, whose first field is the place in the file)',
  },
  toys: {
    memory:
      'a small memory: how many pages are hot, how much a scan reads, and what two policies evict',
  },
};
