// SPDX-License-Identifier: GPL-2.0-or-later
/** The view of lesson 02: hogs as staves, strips under them, one time axis for all lanes. */

import { useCallback, useMemo, useRef } from 'react';
import type { Theme } from '../../base/theme.ts';
import { nearbyOf, summaryOf } from '../../derive/summary.ts';
import type { KindFacts } from '../../derive/types.ts';
import type { ViewKind } from '../contract.ts';
import { canvasTiles } from '../paints.ts';
import { type Draw, useCanvas } from '../use-canvas.ts';
import { stavesArtist } from './artist.ts';
import { brushRects, paintOf } from './brush.ts';
import { preferredHeight } from './layout.ts';
import { RectList } from './marks.ts';
import { waitMoments } from './moments.ts';
import { scoreOf } from './picture.ts';
import { rowSentences } from './sentences.ts';
import { stylesFor } from './styles.ts';

/** How a kind looks, for legends: painted by the same brush. */
export function KindSwatch({
  kind,
  kinds,
  theme,
  width = 30,
  height = 13,
}: {
  readonly kind: string;
  readonly kinds: readonly KindFacts[];
  readonly theme: Theme;
  readonly width?: number;
  readonly height?: number;
}) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const dpr = Math.min(3, typeof window === 'undefined' ? 1 : window.devicePixelRatio || 1);
  const size = useMemo(() => ({ width, height, dpr }), [width, height, dpr]);
  const draw = useCallback<Draw>(
    (ctx, s) => {
      const style = stylesFor(kinds)[kinds.findIndex((k) => k.name === kind)];
      ctx.clearRect(0, 0, s.width, s.height);
      if (style === undefined) return;
      const list = new RectList(style);
      const low = style.texture === 'bracket' ? 5 : 1;
      list.push(1, 1, s.width - 2, s.height - 1 - low);
      brushRects(ctx, list, paintOf(style, theme, canvasTiles(s.dpr)));
    },
    [kind, kinds, theme],
  );
  useCanvas(canvas, size, draw, null);
  return <canvas ref={canvas} className="kind-swatch" style={{ width, height }} />;
}

export const view: ViewKind = {
  kind: 'hog-rows',
  artist: stavesArtist,
  summary: (index, frame, lesson) => summaryOf(index, frame, lesson).map((lane) => lane.sentence),
  table: nearbyOf,
  preferredHeight: (index, lesson, show, fontSize) =>
    preferredHeight(index, scoreOf(lesson, show, null, fontSize)),
  sentences: rowSentences,
  moments: waitMoments,
  Swatch: KindSwatch,
};
