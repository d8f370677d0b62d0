// SPDX-License-Identifier: GPL-2.0-or-later
/** How a kind looks, for legends: marks of this view by its own brushes, others as rows paint them. */

import { useCallback, useMemo, useRef } from 'react';
import type { SwatchProps } from '../contract.ts';
import { brushTick } from '../tick-marks.ts';
import { KindSwatch } from '../timeline/panels.tsx';
import { type Draw, useCanvas } from '../use-canvas.ts';
import { brushFate } from './walks.ts';

const own: ReadonlySet<string> = new Set(['tick', 'tick_ended', 'cut_short', 'gave_up']);

export function Swatch(props: SwatchProps) {
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
