// SPDX-License-Identifier: GPL-2.0-or-later
/** The staves as LaneCanvas wants them: where lanes stand, how they are drawn, pointed at and walked with keys. */

import { t as tr } from '../../base/lang/t.ts';
import type { Lesson, Scene } from '../../protocol/lesson.ts';
import type { Artist, LaidLane } from '../contract.ts';
import { describeMark } from './describe.ts';
import { drawPicture } from './draw.ts';
import { hitTest } from './hit.ts';
import { hasMargin, type Layout, layoutScore, leastHeight } from './layout.ts';
import { lineOf } from './line-of.ts';
import { MarkCache } from './picture.ts';
import { type Look, type Score, scoreOf, timelineLook } from './score.ts';
import { walk } from './walk.ts';

interface Staves {
  readonly lanes: readonly LaidLane[];
  readonly layout: Layout;
  readonly score: Score;
}

/** An artist with a cache of its own: one for each canvas. */
export function rowsArtist(
  lesson: Lesson,
  show: Scene['show'] | undefined,
  look: Look = timelineLook,
): Artist<Staves> {
  const cache = new MarkCache();
  const scores = new Map<string, Score>();
  const scoreFor = (headerHeight: number, fontSize: number) => {
    const key = `${headerHeight} ${fontSize}`;
    const known = scores.get(key);
    if (known !== undefined) return known;
    const made = scoreOf(lesson, show, headerHeight === 0 ? null : headerHeight, fontSize, look);
    scores.set(key, made);
    return made;
  };
  return {
    label: tr('Rows of threads on one axis of guest time, lane by lane'),
    layout({ index, frame, size }, headerHeight, fontSize) {
      const score = scoreFor(headerHeight, fontSize);
      const layout = layoutScore(index, frame, size, score);
      const left = layout.margin ? layout.left : 4;
      const lanes = layout.lanes.map(({ arm, top }) => {
        return { arm, top, left, width: size.width - 14 - left };
      });
      return { lanes, layout, score };
    },
    least({ index, size }, headerHeight, fontSize) {
      const score = scoreFor(headerHeight, fontSize);
      return leastHeight(index, score, !hasMargin(size, score));
    },
    draw(ctx, { score }, { index, frame, size, theme }, pointed, tiles) {
      const { picture, easel } = cache.take(index, frame, size, score, pointed, theme, tiles);
      drawPicture(ctx, picture, easel);
    },
    hit: ({ layout, score }, { index }, x, y) => hitTest(index, layout, score, x, y),
    seek({ layout }, { frame }, x, y) {
      const atHead = layout.playheadX !== null && Math.abs(x - layout.playheadX) < 6;
      if (y <= layout.axisY - 6 && y >= layout.top && !atHead) return null;
      return frame.start + Math.max(0, x - layout.left) * layout.nsPerPx;
    },
    axis: ({ layout: { left, right } }) => ({ left, right }),
    describe: ({ index, lesson: of }, mark) => describeMark(index, mark, of),
    place({ layout, score }, _drawing, mark) {
      const box = layout.lanes.find((lane) => lane.arm === mark.arm);
      const row = box && lineOf(box, mark, score);
      if (!box || !row) return null;
      const x = layout.left + ((mark.t0 + mark.t1) / 2 - box.t0) / layout.nsPerPx;
      return { x: Math.max(layout.left, Math.min(layout.right, x)), y: row.top + row.height / 2 };
    },
    step: ({ layout, score }, drawing, from, key) => walk(layout, score, drawing, from, key),
  };
}
