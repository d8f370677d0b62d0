// SPDX-License-Identifier: GPL-2.0-or-later
/** The view of lesson 02: the timeline with a grid of ticks, and sentences about grace periods. */

import { type Finder, placeAround, spanOf } from '@page/derive/moments.ts';
import { spansIn } from '@page/derive/query.ts';
import { nearbyOf, summaryOf } from '@page/derive/summary.ts';
import type { LaneIndex, RunIndex } from '@page/derive/types.ts';
import type { Kind, Lesson, Scene } from '@page/protocol/lesson.ts';
import { ratioPanel } from '@page/views/arm-table.tsx';
import type { SwatchProps, ViewKind } from '@page/views/contract.ts';
import { brushTick } from '@page/views/tick-marks.ts';
import { rowsArtist } from '@page/views/timeline/artist.ts';
import { mutedness } from '@page/views/timeline/draw.ts';
import { preferredHeight } from '@page/views/timeline/layout.ts';
import { candidates, liveliest, longestWait } from '@page/views/timeline/moments.ts';
import { KindSwatch } from '@page/views/timeline/panels.tsx';
import { scoreOf } from '@page/views/timeline/score.ts';
import { type Draw, useCanvas } from '@page/views/use-canvas.ts';
import { useCallback, useMemo, useRef } from 'react';
import { about } from './about.ts';
import { brushFate, fateWords, hogLook } from './look.ts';
import { rowSentences } from './sentences.ts';
import { reader } from './toy.ts';

// The legend: a swatch for each kind that the rows of a step can show. Pure.

/** For each kind of mark, the part of a step (in `show`) that draws the mark. */
const marksOf: Readonly<Record<string, string>> = {
  ...{ tick: 'ticks', tick_ended: 'ticks', cut_short: 'walks', gave_up: 'walks' },
};

/**
 * Return the kinds that the legend lists. `there` contains the kinds that occur in the run; if it is null, list the
 * kinds in the step's focus instead.
 */
function legend(
  lesson: Pick<Lesson, 'kinds'>,
  { focus, show }: Pick<Scene, 'focus' | 'show'>,
  there: ReadonlySet<string> | null,
): readonly Kind[] {
  const has = ({ name, always }: Kind) => there?.has(name) ?? (always || focus.includes(name));
  const drawn = lesson.kinds.filter((kind) => {
    switch (kind.layer) {
      case 'function':
        // States already show what runs inside a function, so list only functions in focus, and hazards.
        return (focus.includes(kind.name) || kind.colour === 'hazard') && has(kind);
      case 'track':
        return show.includes('tracks') && has(kind);
      case 'mark':
        return show.includes(marksOf[kind.name] ?? '');
      default:
        return has(kind);
    }
  });
  return [...drawn.filter((kind) => kind.lesson), ...drawn.filter((kind) => !kind.lesson)];
}

// Finds the moments at which a step can open. Pure.
export const waitMoments: Readonly<Record<string, Finder>> = {
  longest_wait: longestWait,
  reader: (index, scene) =>
    liveliest(
      index,
      readerMoments(index).map((t) => placeAround(t, spanOf(scene), 0.4)),
    ),
};

/**
 * Return the middle of each recheck, the longest recheck first. During a recheck, a task waits for the reader. If there
 * are no rechecks, return the middle of each reader span.
 */
function readerMoments(index: RunIndex): number[] {
  for (const [layer, name] of [
    ['track', 'gp_recheck'],
    ['function', 'reader'],
  ] as const) {
    const kind = index.kinds.findIndex((k) => k.name === name);
    const spans = index.lanes.flatMap((lane) => ofKind(lane, layer, kind));
    if (spans.length === 0) continue;
    return spans
      .sort((a, b) => b.t1 - b.t0 - (a.t1 - a.t0))
      .slice(0, candidates)
      .map((span) => (span.t0 + span.t1) / 2);
  }
  return [];
}

function ofKind(lane: LaneIndex, layer: 'track' | 'function', kind: number) {
  if (kind < 0) return [];
  return [...spansIn(lane, layer, 0, lane.watermark)].filter((s) => s.kind === kind);
}

// Draws the legend's swatches. This view paints its own marks with its own brushes, and other kinds as in the rows.

const own: ReadonlySet<string> = new Set(['tick', 'tick_ended', 'cut_short', 'gave_up']);

function Swatch(props: SwatchProps) {
  if (own.has(props.kind)) return <MarkSwatch {...props} />;
  return <KindSwatch {...props} functions="brackets" />;
}

function MarkSwatch({ kind, theme, width = 18, height = 15 }: SwatchProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const size = useMemo(
    () => ({ width, height, dpr: window.devicePixelRatio || 1 }),
    [width, height],
  );
  const draw = useCallback<Draw>(
    (ctx, s) => {
      ctx.clearRect(0, 0, s.width, s.height);
      const tick = kind.startsWith('tick');
      ctx.fillStyle = tick ? theme.mechanism : theme.hazard;
      if (tick) brushTick(ctx, kind === 'tick_ended', s.width / 2, 1, s.height - 2);
      else if (kind === 'gave_up') brushFate(ctx, kind, 3, s.height / 2, 6, theme.paper);
      else brushFate(ctx, 'cut_short', s.width / 2, s.height / 2, 4.5, theme.paper);
    },
    [kind, theme],
  );
  useCanvas(canvas, size, draw, null);
  return <canvas ref={canvas} className="kind-swatch" style={{ width, height }} />;
}

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
