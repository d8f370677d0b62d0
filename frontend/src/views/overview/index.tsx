// SPDX-License-Identifier: GPL-2.0-or-later
/** The strip under the stage: the whole run, and where the window is. Drag the window; a click elsewhere moves it there. */

import { type CSSProperties, type PointerEvent, useCallback, useMemo, useRef } from 'react';
import type { CanvasProps } from '../types.ts';
import { type Draw, useCanvas, useSize } from '../use-canvas.ts';
import { drawOverview } from './draw.ts';
import { layoutOverview } from './layout.ts';

const fill: CSSProperties = { position: 'absolute', inset: 0, width: '100%', height: '100%' };

export function Overview({
  runIndex,
  lesson,
  frame,
  theme,
  onWindow,
}: Pick<CanvasProps, 'runIndex' | 'lesson' | 'frame' | 'theme'> & {
  readonly onWindow: (start: number) => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const size = useSize(box);
  const titleOf = useMemo(() => {
    const titles = new Map(lesson.arms.map((arm) => [arm.name, arm.title]));
    return (arm: string) => titles.get(arm) ?? arm;
  }, [lesson]);
  const draw = useCallback<Draw>(
    (ctx, s) => {
      drawOverview(
        ctx,
        layoutOverview(runIndex, frame.get(), s, titleOf),
        theme,
        s.width,
        s.height,
      );
    },
    [runIndex, frame, theme, titleOf],
  );
  useCanvas(canvas, size, draw, frame.subscribe);
  const grip = useRef<number | null>(null);
  const time = (event: PointerEvent<HTMLElement>) => {
    if (size === null) return 0;
    const { left, nsPerPx } = layoutOverview(runIndex, frame.get(), size, titleOf);
    const rect = event.currentTarget.getBoundingClientRect();
    return (event.clientX - rect.left - left) * nsPerPx;
  };
  return (
    <div ref={box} style={fill}>
      <canvas
        ref={canvas}
        style={{ ...fill, cursor: 'grab', touchAction: 'none' }}
        onPointerDown={(event) => {
          const t = time(event);
          const { start, span } = frame.get();
          const inside = t >= start && t <= start + span;
          grip.current = inside ? t - start : span / 2;
          event.currentTarget.setPointerCapture(event.pointerId);
          if (!inside) onWindow(t - span / 2);
        }}
        onPointerMove={(event) => {
          if (grip.current !== null) onWindow(time(event) - grip.current);
        }}
        onPointerUp={() => {
          grip.current = null;
        }}
        onPointerCancel={() => {
          grip.current = null;
        }}
      />
    </div>
  );
}
