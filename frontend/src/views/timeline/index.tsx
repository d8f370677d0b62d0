// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The view for any lesson. It draws rows of threads or CPUs with their states, nested functions, tracks, points, links
 * and counters, on one time axis for all lanes. It uses only what the lesson declares.
 */

import { summaryOf } from '../../derive/summary.ts';
import type { Kind, Lesson, Scene } from '../../protocol/lesson.ts';
import type { ViewKind } from '../contract.ts';
import { about } from './about.ts';
import { rowsArtist } from './artist.ts';
import { nearbyMarks } from './describe.ts';
import { preferredHeight } from './layout.ts';
import { timelineMoments } from './moments.ts';
import { counts, KindSwatch, panels } from './panels.tsx';
import { scoreOf, timelineLook } from './score.ts';
import { timelineSentences } from './sentences.ts';

/**
 * Kinds in focus that the scene draws. A point's kind is listed only if it is in focus, because the point's name is
 * already next to its mark.
 */
function legend(lesson: Lesson, scene: Scene): readonly Kind[] {
  const shown = timelineLook.shown(scene.show);
  const points = new Set(lesson.points.map((point) => point.name));
  const focus = new Set(scene.focus);
  const drawn = lesson.kinds.filter((kind) => {
    if (kind.layer === 'function') return shown.has('functions');
    if (kind.layer === 'track') return shown.has('tracks');
    return kind.layer === 'state' || (points.has(kind.name) && focus.has(kind.name));
  });
  const chosen = drawn.filter((kind) => kind.always || focus.size === 0 || focus.has(kind.name));
  const kinds = chosen.length > 0 ? chosen : drawn;
  return [...kinds.filter((kind) => kind.lesson), ...kinds.filter((kind) => !kind.lesson)];
}

export const view: ViewKind = {
  kind: 'timeline',
  about,
  artist: rowsArtist,
  summary: (index, frame, lesson) => summaryOf(index, frame, lesson).map((lane) => lane.sentence),
  table: nearbyMarks,
  preferredHeight: (index, lesson, show, fontSize) =>
    preferredHeight(index, scoreOf(lesson, show, null, fontSize)),
  sentences: timelineSentences,
  outlines: true,
  moments: timelineMoments,
  panels,
  counts,
  legend,
  Swatch: KindSwatch,
};
