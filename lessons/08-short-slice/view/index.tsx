// SPDX-License-Identifier: GPL-2.0-or-later
/** The view of lesson 08: the timeline with a line of virtual time. */

import type { ViewKind } from '@page/views/contract.ts';
import { rowsArtist } from '@page/views/timeline/artist.ts';
import { view as timeline } from '@page/views/timeline/index.tsx';
import { preferredHeight } from '@page/views/timeline/layout.ts';
import { scoreOf } from '@page/views/timeline/score.ts';
import { about } from './about.ts';
import { turns } from './toy.ts';
import { virtualLook } from './virtual.ts';

export const view: ViewKind = {
  ...timeline,
  kind: 'virtual-time',
  about,
  artist: (lesson, show) => rowsArtist(lesson, show, virtualLook),
  preferredHeight: (index, lesson, show, fontSize) =>
    preferredHeight(index, scoreOf(lesson, show, null, fontSize, virtualLook)),
  toys: { turns },
};
