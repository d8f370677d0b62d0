// SPDX-License-Identifier: GPL-2.0-or-later
/** Lesson and frame -> picture, and the picture's marks kept from frame to frame while only the moment moves. */

import type { Theme } from '../../base/theme.ts';
import { formatMoment, formatNs } from '../../base/units.ts';
import { laneTime } from '../../derive/align.ts';
import { laneOf } from '../../derive/query.ts';
import type { Frame, Mark, RunIndex, Size } from '../../derive/types.ts';
import type { Lesson, Scene } from '../../protocol/lesson.ts';
import { drawnBy, type Pen, type TileMaker } from '../paints.ts';
import { type Easel, type Picture, paintMarks } from './draw.ts';
import { layoutScore, type Score } from './layout.ts';
import { type LaneMarks, marksOf } from './marks.ts';

export function scoreOf(
  lesson: Pick<Lesson, 'arms' | 'tracks' | 'operation'>,
  show: Scene['show'] | undefined,
  headerHeight: number | null,
  fontSize = 13,
): Score {
  const all = show === undefined;
  return {
    arms: lesson.arms,
    tracks: lesson.tracks,
    operation: lesson.operation,
    showTracks: all || show.includes('tracks'),
    showLinks: all || show.includes('links'),
    ownHeaders: headerHeight === null,
    headerHeight: headerHeight ?? Math.round((34 * fontSize) / 13),
    fontSize,
  };
}

export function pictureOf(
  index: RunIndex,
  frame: Frame,
  size: Size,
  score: Score,
  hover: Mark | null = null,
  kept: readonly LaneMarks[] | null = null,
): Picture {
  const layout = layoutScore(index, frame, size, score);
  const marks = kept ?? layout.lanes.map((box) => marksOf(index, layout, box, score.showLinks));
  return {
    index,
    frame,
    layout,
    marks,
    hover,
    ownHeaders: score.ownHeaders,
    operation: score.operation.name,
  };
}

/** A mark in words: what, how long, whose, when, and what it proves. */
export function describeMark(index: RunIndex, mark: Mark, lesson: Pick<Lesson, 'arms'>): string {
  const kind = index.kinds[mark.kind];
  const lane = laneOf(index, mark.arm);
  const row = lane?.rows.find((r) => r.row === mark.row)?.name ?? `row ${mark.row}`;
  const arm = lesson.arms.find((a) => a.name === mark.arm)?.title ?? mark.arm;
  const long = formatNs(mark.t1 - mark.t0);
  const length = mark.open ? `${long} so far` : long;
  const aside = kind?.lesson === false ? ' Not the lesson.' : '';
  return `${kind?.title ?? 'unknown'}: ${length}. ${arm}, ${row}, from ${formatMoment(mark.t0, 1e6)}.${aside}`;
}

/**
 * Changes when the events in the window may have. Below the watermark of a lane that still runs all is settled; a
 * recording says at once how far it goes and sends its events after.
 */
function eventsKey(index: RunIndex, frame: Frame): readonly unknown[] {
  return index.lanes.flatMap((lane) => {
    const end = laneTime(frame.offset, lane.arm, frame.start + frame.span);
    const settled = index.live && !lane.ended && end <= lane.watermark;
    const events = settled ? -1 : lane.spans.length + lane.links.length + lane.open.length;
    const { rows, historyFrom, ended, watermark } = lane;
    return [lane, rows, historyFrom, ended, events, settled ? -1 : watermark];
  });
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
    const key = [index.runId, ...eventsKey(index, frame), start, span, offset, focus, ...look];
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
