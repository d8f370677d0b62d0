// SPDX-License-Identifier: GPL-2.0-or-later
/** Lesson and frame -> picture, and the picture's marks kept from frame to frame while only the moment moves. */

import type { Theme } from '../../base/theme.ts';
import { laneTime } from '../../derive/align.ts';
import type { Frame, LaneIndex, Mark, RunIndex, Size } from '../../derive/types.ts';
import { drawnBy, type Pen, type TileMaker } from '../paints.ts';
import { chartsOf } from './counters.ts';
import { paintMarks } from './draw.ts';
import type { Easel, Picture } from './easel.ts';
import { type Layout, layoutScore } from './layout.ts';
import { type LaneMarks, marksOf } from './marks.ts';
import { pointMarksOf } from './points.ts';
import type { Score } from './score.ts';

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
 * Changes when the events in the window may have. Below the watermark of a lane that still runs all is settled; a
 * recording says at once how far it goes and sends its events after.
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

/** Rises with whatever comes, but for samples. */
function eventsOf({ spans, links, open, points, ops }: LaneIndex): number {
  return spans.length + links.length + open.length + points.length + ops.length;
}

/** The marks of the last window, painted once; a moving moment only stamps them. */
export class MarkCache {
  #key: readonly unknown[] = [];
  #marks: readonly LaneMarks[] | null = null;
  #stamp: OffscreenCanvas | null = null;

  /** Picture and easel for this frame; paints marks anew only when the window, the events or the look changed. */
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
