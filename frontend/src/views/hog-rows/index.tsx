// SPDX-License-Identifier: GPL-2.0-or-later
/** The view of lesson 02: the timeline with a grid of ticks, and what is said about grace periods. */

import { nearbyOf, summaryOf } from '../../derive/summary.ts';
import { ratioPanel } from '../arm-table.tsx';
import type { ViewKind } from '../contract.ts';
import { rowsArtist } from '../timeline/artist.ts';
import { mutedness } from '../timeline/draw.ts';
import { preferredHeight } from '../timeline/layout.ts';
import { scoreOf } from '../timeline/score.ts';
import { about } from './about.ts';
import { legend } from './legend.ts';
import { hogLook } from './look.ts';
import { waitMoments } from './moments.ts';
import { rowSentences } from './sentences.ts';
import { Swatch } from './swatch.tsx';
import { reader } from './toy/reader.ts';
import { fateWords } from './walks.ts';

export const view: ViewKind = {
  kind: 'hog-rows',
  about,
  artist(lesson, show) {
    const rows = rowsArtist(lesson, show, hogLook);
    const describe: typeof rows.describe = (drawing, mark) =>
      `${rows.describe(drawing, mark)}${fateWords(drawing.index, mark)}`;
    return { ...rows, describe };
  },
  summary: (index, frame, lesson) => summaryOf(index, frame, lesson).map((lane) => lane.sentence),
  table: nearbyOf,
  preferredHeight: (index, lesson, show, fontSize) =>
    preferredHeight(index, scoreOf(lesson, show, null, fontSize, hogLook)),
  leastShare: 0.5,
  sentences: rowSentences,
  outlines: true,
  moments: waitMoments,
  toys: { reader },
  panels: { ratios: ratioPanel },
  legend,
  mutes: mutedness,
  Swatch,
};
