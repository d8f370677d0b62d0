// SPDX-License-Identifier: GPL-2.0-or-later
/** The view of lesson 07: the timeline, and a memory to play with. */

import type { ViewKind } from '@page/views/contract.ts';
import { view as rows } from '@page/views/timeline/index.tsx';
import { about } from './about.ts';
import { memorySentences } from './sentences.ts';
import { memory } from './toy.ts';

export const view: ViewKind = {
  ...rows,
  kind: 'lru-rows',
  about,
  sentences: memorySentences,
  toys: { memory },
};
