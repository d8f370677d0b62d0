// SPDX-License-Identifier: GPL-2.0-or-later
/** The scrubber of all lanes: the whole run, and where the window is. A press goes to that moment; a narrow window is dragged. */

import {
  type CSSProperties,
  type KeyboardEvent,
  type PointerEvent,
  useCallback,
  useMemo,
  useRef,
} from 'react';
import { t as tr } from '../../base/lang/t.ts';
import { frameEnd } from '../../derive/moments.ts';
import type { CanvasProps } from '../contract.ts';
import { GestureOverlay } from '../gesture-overlay.tsx';
import type { GestureOptions } from '../time-gestures.ts';
import { type Draw, useCanvas, useSize } from '../use-canvas.ts';
import { drawOverview } from './draw.ts';
import { keyStep, layoutOverview, lengthOf } from './layout.ts';

/** In a window so narrow a moment cannot be pointed at: it is moved as a whole. */
const narrowPx = 40;

const fill: CSSProperties = { position: 'absolute', inset: 0, width: '100%', height: '100%' };

export function Overview({
  runIndex,
  lesson,
  frame,
  theme,
  onWindow,
  onView,
  onSeek,
  moment = 0,
  words = '',
}: Pick<CanvasProps, 'runIndex' | 'lesson' | 'frame' | 'theme'> & {
  readonly onWindow: (start: number) => void;
  /** The window was zoomed, moved or brushed (frame time, ns). */
  readonly onView: (start: number, span: number) => void;
  readonly onSeek: (moment: number) => void;
  /** The moment as text, for those who do not see it. */
  readonly moment?: number;
  readonly words?: string;
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
        layoutOverview(runIndex, frame.get(), s, titleOf, lesson.operation.name),
        theme,
        s.width,
        s.height,
      );
    },
    [runIndex, lesson, frame, theme, titleOf],
  );
  useCanvas(canvas, size, draw, frame.subscribe);
  /** What a drag moves: the window, held at this distance from its start; or the moment. */
  const grip = useRef<number | 'moment' | null>(null);
  const point = (event: PointerEvent<Element>) => {
    if (size === null) return { t: 0, nsPerPx: 1 };
    const { left, nsPerPx } = layoutOverview(runIndex, frame.get(), size, titleOf);
    const rect = event.currentTarget.getBoundingClientRect();
    return { t: (event.clientX - rect.left - left) * nsPerPx, nsPerPx };
  };
  const gestures: GestureOptions = {
    axis: () => {
      if (size === null) return null;
      const { start, span, offset } = frame.get();
      const { left, right, end } = layoutOverview(runIndex, frame.get(), size, titleOf);
      const window = { start, span };
      return { left, right, start: 0, span: end, window, end: frameEnd(runIndex, offset) };
    },
    // A drag moves the moment, or a narrow window as a whole.
    drags: () => false,
    onWindow: onView,
    onGesture: (busy) => {
      if (busy) grip.current = null;
    },
  };
  const length = lengthOf(runIndex, frame.get().offset);
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const { moment: now } = frame.get();
    const step = keyStep(length, frame.get());
    const to = { ArrowLeft: now - step, ArrowRight: now + step };
    const at = { ...to, Home: 0, End: length }[event.key];
    if (at === undefined) return;
    onSeek(at);
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div
      ref={box}
      style={fill}
      role="slider"
      tabIndex={0}
      aria-label={tr('Moment in the run, all lanes')}
      aria-valuemin={0}
      aria-valuemax={Math.round(length)}
      aria-valuenow={Math.max(0, Math.min(Math.round(length), Math.round(moment)))}
      aria-valuetext={words}
      data-testid="scrubber"
      onKeyDown={onKeyDown}
    >
      <canvas ref={canvas} style={fill} />
      <GestureOverlay
        size={size}
        gestures={gestures}
        style={{ cursor: 'grab', touchAction: 'none' }}
        onPointerDown={(event) => {
          if (event.shiftKey) return;
          const { t, nsPerPx } = point(event);
          const { start, span } = frame.get();
          const inside = t >= start && t <= start + span;
          grip.current = inside && span / nsPerPx < narrowPx ? t - start : 'moment';
          event.currentTarget.setPointerCapture(event.pointerId);
          if (grip.current === 'moment') onSeek(t);
        }}
        onPointerMove={(event) => {
          const { t } = point(event);
          if (grip.current === 'moment') onSeek(t);
          else if (grip.current !== null) onWindow(t - grip.current);
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
