// SPDX-License-Identifier: GPL-2.0-or-later
/** How a kind looks, for legends: painted by the same brush. */

import { useCallback, useMemo, useRef } from 'react';
import type { SwatchProps } from '../contract.ts';
import { canvasTiles } from '../paints.ts';
import { type Draw, useCanvas } from '../use-canvas.ts';
import { brushRects, paintOf } from './brush.ts';
import { RectList } from './rects.ts';
import { type Functions, stylesFor } from './styles.ts';

interface Props extends SwatchProps {
  readonly functions?: Functions;
}

export function KindSwatch({
  kind,
  kinds,
  theme,
  width = 30,
  height = 13,
  functions = 'nested',
}: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const dpr = Math.min(3, typeof window === 'undefined' ? 1 : window.devicePixelRatio || 1);
  const size = useMemo(() => ({ width, height, dpr }), [width, height, dpr]);
  const draw = useCallback<Draw>(
    (ctx, s) => {
      const style = stylesFor(kinds, functions)[kinds.findIndex((k) => k.name === kind)];
      ctx.clearRect(0, 0, s.width, s.height);
      if (style === undefined) return;
      const list = new RectList(style);
      const low = style.texture === 'bracket' ? 5 : 1;
      list.push(1, 1, s.width - 2, s.height - 1 - low);
      brushRects(ctx, list, paintOf(style, theme, canvasTiles(s.dpr)));
    },
    [kind, kinds, theme, functions],
  );
  useCanvas(canvas, size, draw, null);
  return <canvas ref={canvas} className="kind-swatch" style={{ width, height }} />;
}
