// SPDX-License-Identifier: GPL-2.0-or-later
/** The view of lesson 06: the timeline with a map of the address space. */

import type { ViewKind } from '@page/views/contract.ts';
import { rowsArtist } from '@page/views/timeline/artist.ts';
import { view as timeline } from '@page/views/timeline/index.tsx';
import { preferredHeight } from '@page/views/timeline/layout.ts';
import { scoreOf } from '@page/views/timeline/score.ts';
import { about } from './about.ts';
import { regionsLook } from './regions.ts';
import { locks } from './toy.ts';

export const view: ViewKind = {
  ...timeline,
  kind: 'address-space',
  about,
  artist: (lesson, show) => rowsArtist(lesson, show, regionsLook),
  preferredHeight: (index, lesson, show, fontSize) =>
    preferredHeight(index, scoreOf(lesson, show, null, fontSize, regionsLook)),
  toys: { locks },
};
