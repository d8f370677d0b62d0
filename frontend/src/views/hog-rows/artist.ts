// SPDX-License-Identifier: GPL-2.0-or-later
/** The staves as LaneCanvas wants them: where lanes stand, how they are drawn, pointed at and walked with keys. */

import { laneTime } from '../../derive/align.ts';
import { markOf, spanAt, spansIn } from '../../derive/query.ts';
import type { LaneIndex, Layer, Mark } from '../../derive/types.ts';
import type { Lesson, Scene } from '../../protocol/lesson.ts';
import type { ArrowKey, Artist, Drawing, LaidLane } from '../contract.ts';
import { drawPicture } from './draw.ts';
import { type LaneBox, type Layout, layoutScore, type RowBox, type Score } from './layout.ts';
import { hitTest } from './marks.ts';
import { describeMark, MarkCache, scoreOf } from './picture.ts';

interface Staves {
  readonly lanes: readonly LaidLane[];
  readonly layout: Layout;
  readonly score: Score;
}

/** An artist with a cache of its own: one for each canvas. */
export function stavesArtist(lesson: Lesson, show: Scene['show'] | undefined): Artist<Staves> {
  const cache = new MarkCache();
  const scores = new Map<string, Score>();
  const scoreFor = (headerHeight: number, fontSize: number) => {
    const key = `${headerHeight} ${fontSize}`;
    const known = scores.get(key);
    if (known !== undefined) return known;
    const made = scoreOf(lesson, show, headerHeight === 0 ? null : headerHeight, fontSize);
    scores.set(key, made);
    return made;
  };
  return {
    label: 'Rows of threads on one axis of guest time, lane by lane',
    layout({ index, frame, size }, headerHeight, fontSize) {
      const score = scoreFor(headerHeight, fontSize);
      const layout = layoutScore(index, frame, size, score);
      const left = layout.margin ? layout.left : 4;
      const lanes = layout.lanes.map(({ arm, top }) => {
        return { arm, top, left, width: size.width - 14 - left };
      });
      return { lanes, layout, score };
    },
    draw(ctx, { score }, { index, frame, size, theme }, pointed, tiles) {
      const { picture, easel } = cache.take(index, frame, size, score, pointed, theme, tiles);
      drawPicture(ctx, picture, easel);
    },
    hit: ({ layout }, { index }, x, y) => hitTest(index, layout, x, y),
    seek({ layout }, { frame }, x, y) {
      const atHead = layout.playheadX !== null && Math.abs(x - layout.playheadX) < 6;
      if (y <= layout.axisY - 6 && y >= layout.top && !atHead) return null;
      return frame.start + Math.max(0, x - layout.left) * layout.nsPerPx;
    },
    axis: ({ layout: { left, right } }) => ({ left, right }),
    describe: ({ index, lesson: of }, mark) => describeMark(index, mark, of),
    place({ layout }, _drawing, mark) {
      const box = layout.lanes.find((lane) => lane.arm === mark.arm);
      const row = box && rowsOf(box).find((r) => r.row === mark.row);
      if (box === undefined || row === undefined) return null;
      const x = layout.left + ((mark.t0 + mark.t1) / 2 - box.t0) / layout.nsPerPx;
      return { x: Math.max(layout.left, Math.min(layout.right, x)), y: row.top + row.height / 2 };
    },
    step: ({ layout }, drawing, from, key) => walk(layout, drawing, from, key),
  };
}

function rowsOf(box: LaneBox): readonly RowBox[] {
  return [...box.hogs, ...box.strips].sort((a, b) => a.top - b.top);
}

/** Left and right along a row, up and down between rows and lanes, at the same moment. */
function walk(layout: Layout, drawing: Drawing, from: Mark | null, key: ArrowKey): Mark | null {
  const places = layout.lanes.flatMap((box) => rowsOf(box).map((row) => ({ box, row })));
  const here = places.findIndex(({ box, row }) => box.arm === from?.arm && row.row === from.row);
  if (from === null || here < 0) {
    const found = places.map(({ box, row }) => at(box.lane, row, now(drawing, box)));
    return found.find((mark) => mark !== null) ?? null;
  }
  const { box, row } = places[here]!;
  if (key === 'ArrowUp' || key === 'ArrowDown') {
    const by = key === 'ArrowDown' ? 1 : -1;
    for (let i = here + by; i >= 0 && i < places.length; i += by) {
      const mark = at(places[i]!.box.lane, places[i]!.row, now(drawing, places[i]!.box));
      if (mark !== null) return mark;
    }
    return null;
  }
  const marks = along(box.lane, row, now(drawing, box, 0), drawing.frame.span);
  if (key === 'Home') return marks[0] ?? null;
  if (key === 'End') return marks.at(-1) ?? null;
  const place = marks.findIndex((mark) => mark.id === from.id && mark.kind === from.kind);
  return marks[place + (key === 'ArrowRight' ? 1 : -1)] ?? null;
}

/** The frame's moment on a lane's own axis; or, with 0, the begin of its window. */
function now({ frame }: Drawing, box: LaneBox, share = 1): number {
  return laneTime(frame.offset, box.arm, share === 0 ? frame.start : frame.moment);
}

function layerOf(row: RowBox): Layer {
  return row.role === 'track' ? 'track' : 'state';
}

/** The mark of a row at t, else the last before it. */
function at(lane: LaneIndex, row: RowBox, t: number): Mark | null {
  const span = spanAt(lane, row.row, layerOf(row), t);
  if (span !== null) return markOf(lane.arm, span);
  return along(lane, row, t - 1e8, 1e8).at(-1) ?? null;
}

/** The marks of a row in a window, in order. */
function along(lane: LaneIndex, row: RowBox, start: number, span: number): Mark[] {
  return [...spansIn(lane, layerOf(row), start, start + span)]
    .filter((s) => s.row === row.row)
    .sort((a, b) => a.t0 - b.t0)
    .map((s) => markOf(lane.arm, s));
}
