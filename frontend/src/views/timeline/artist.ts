// SPDX-License-Identifier: GPL-2.0-or-later
/** The artist of the timeline. It places lanes, draws them, and finds marks for pointer and arrow keys. */

import { t as tr } from '../../base/lang/t.ts';
import type { Theme } from '../../base/theme.ts';
import { laneTime } from '../../derive/align.ts';
import type { Frame, LaneIndex, Mark, RunIndex, Size } from '../../derive/types.ts';
import type { Lesson, Scene } from '../../protocol/lesson.ts';
import type { Artist, LaidLane } from '../contract.ts';
import { drawnBy, type Pen, type TileMaker } from '../paints.ts';
import { describeMark } from './describe.ts';
import { drawPicture, paintMarks } from './draw.ts';
import type { Easel, Picture } from './easel.ts';
import { rowsOf } from './items.ts';
import { boxesOf, hasMargin, type Layout, layoutScore, leastHeight } from './layout.ts';
import { chartsOf, type LaneMarks, marksOf, pointMarksOf } from './marks.ts';
import { type Look, type Score, scoreOf, timelineLook } from './score.ts';

// Creates the picture of a frame. While only the moment moves, marks that were painted earlier are reused.

export function pictureOf(
  index: RunIndex,
  frame: Frame,
  size: Size,
  score: Score,
  hover: Mark | null = null,
  kept: readonly LaneMarks[] | null = null,
): Picture {
  const layout = layoutScore(index, frame, size, score);
  const marks = kept ?? allMarks(index, layout, score);
  return {
    index,
    frame,
    layout,
    marks,
    hover,
    score,
  };
}

function allMarks(index: RunIndex, layout: Layout, score: Score): readonly LaneMarks[] {
  const charts = chartsOf(index, layout, score);
  const points = pointMarksOf(index, layout);
  return layout.lanes.map((box) => {
    const [areas, pins] = [charts.get(box.arm) ?? [], points.get(box.arm) ?? []];
    return marksOf(index, layout, box, score, areas, pins);
  });
}

/**
 * Cache key for the events in the window. Events before a running lane's watermark never change. A recording announces
 * its complete length first and delivers its events later, so for recordings the key counts all events.
 */
function eventsKey(index: RunIndex, frame: Frame, score: Score): readonly unknown[] {
  const probes = score.counters.flatMap(({ xray }) => (xray === null ? [] : [xray]));
  return index.lanes.flatMap((lane) => {
    const end = laneTime(frame.offset, lane.arm, frame.start + frame.span);
    const settled = index.live && !lane.ended && end <= lane.watermark;
    const { rows, historyFrom, ended, watermark } = lane;
    const samples = probes.reduce((sum, probe) => sum + lane.samples(probe).length, 0);
    const events = settled ? -1 : eventsOf(lane);
    return [lane, rows, historyFrom, ended, events, samples, settled ? -1 : watermark];
  });
}

/** A number that grows whenever anything except samples arrives. */
function eventsOf({ spans, links, open, points, ops }: LaneIndex): number {
  return spans.length + links.length + open.length + points.length + ops.length;
}

/**
 * The painted marks of the last window. While only the moment moves, this image is copied into each frame instead of
 * painting the marks again.
 */
class MarkCache {
  #key: readonly unknown[] = [];
  #marks: readonly LaneMarks[] | null = null;
  #stamp: OffscreenCanvas | null = null;

  /**
   * Return the picture and the easel of this frame. Marks are repainted only if the window, the events or the look
   * changed.
   */
  take(
    index: RunIndex,
    frame: Frame,
    size: Size,
    score: Score,
    hover: Mark | null,
    theme: Theme,
    tiles: TileMaker,
  ): { readonly picture: Picture; readonly easel: Easel } {
    const { start, span, offset, focus } = frame;
    const { width, height, dpr } = size;
    const look = [width, height, dpr, score, theme, tiles];
    const key = [
      index.runId,
      ...eventsKey(index, frame, score),
      start,
      span,
      offset,
      focus,
      ...look,
    ];
    const same = key.length === this.#key.length && key.every((x, i) => x === this.#key[i]);
    if (!same) this.#marks = null;
    const picture = pictureOf(index, frame, size, score, hover, this.#marks);
    if (!same) {
      this.#key = key;
      this.#marks = picture.marks;
      this.#paint(picture, size, theme, tiles);
    }
    const image = this.#stamp;
    return { picture, easel: { theme, tiles, stamp: image === null ? null : { image, dpr } } };
  }

  #paint(picture: Picture, size: Size, theme: Theme, tiles: TileMaker): void {
    if (typeof OffscreenCanvas === 'undefined') return;
    const width = Math.max(1, Math.round(size.width * size.dpr));
    const height = Math.max(1, Math.round(size.height * size.dpr));
    if (this.#stamp === null || this.#stamp.width !== width || this.#stamp.height !== height) {
      this.#stamp = new OffscreenCanvas(width, height);
    }
    const pen = this.#stamp.getContext('2d') as (OffscreenCanvasRenderingContext2D & Pen) | null;
    if (pen === null) return;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, width, height);
    pen.setTransform(size.dpr, 0, 0, size.dpr, 0, 0);
    const by = (to: Pen) => paintMarks(to, picture, { theme, tiles, stamp: null }, 1);
    by(pen);
    drawnBy(this.#stamp, { width: size.width, height: size.height, by });
  }
}

interface Staves {
  readonly lanes: readonly LaidLane[];
  readonly layout: Layout;
  readonly score: Score;
}

/** Create an artist with its own cache; each canvas needs its own artist. */
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
      const lanes = layout.lanes.map(({ arm, top, bottom }) => {
        return { arm, top, bottom, left, width: size.width - 14 - left };
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
    seek({ layout }, { frame }, x, y) {
      const atHead = layout.playheadX !== null && Math.abs(x - layout.playheadX) < 6;
      if (y <= layout.axisY - 6 && y >= layout.top && !atHead) return null;
      return frame.start + Math.max(0, x - layout.left) * layout.nsPerPx;
    },
    axis: ({ layout: { left, right } }) => ({ left, right }),
    describe: ({ index, lesson: of }, mark) => describeMark(index, mark, of),
    rows: ({ layout, score }, { index }) => rowsOf(index, layout, score),
    boxes: ({ layout, score }, _drawing, mark) => boxesOf(layout, score, mark),
  };
}
