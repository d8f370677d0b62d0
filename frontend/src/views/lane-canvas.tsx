// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * What every picture of lanes has in common: a canvas that fills its box, a header over each lane, pointing with
 * mouse and keys, a tip in words. The view brings an Artist: layout, drawing and hit test, all pure.
 */

import { type CSSProperties, useCallback, useLayoutEffect, useMemo, useRef } from 'react';
import { t as tr } from '../base/lang/t.ts';
import type { Theme } from '../base/theme.ts';
import { collect, holding, marksOf } from '../derive/figures.ts';
import { frameEnd } from '../derive/moments.ts';
import type { Frame, Mark } from '../derive/types.ts';
import type { CanvasProps, Drawing, Spotlight, ViewKind } from './contract.ts';
import { GestureOverlay } from './gesture-overlay.tsx';
import { canvasTiles } from './paints.ts';
import { ringOf, SpotRing } from './spot-ring.tsx';
import type { GestureOptions } from './time-gestures.ts';
import { type Spoken, useCalmFigures } from './use-calm-figures.ts';
import { type Draw, useCanvas, useSize } from './use-canvas.ts';
import { pointOf, usePointing } from './use-pointing.ts';

const usualFont = 13;
const largestFont = 18;
/** Less is no picture but a window on its way to another size: the names of rows alone take more. */
const leastWidth = 160;
const fill: CSSProperties = { position: 'absolute', inset: 0, width: '100%', height: '100%' };

/** Fills its parent, which must be positioned and have a height. */
export function LaneCanvas({ view, ...props }: CanvasProps & { readonly view: ViewKind }) {
  const { runIndex, lesson, frame, theme, show, header, sentence } = props;
  const { onHover, onSelect, onSeek, onWindow, spotlight } = props;
  const headerHeight = header === undefined ? 0 : (props.headerHeight ?? 34);
  const artist = useMemo(() => view.artist(lesson, show), [view, lesson, show]);
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const size = useSize(box);
  const fontSize = props.fontSize ?? ownFont(view, props, size);
  const pointed = useRef<Mark | null>(null);
  const dpr = size?.dpr ?? 1;
  const tiles = useMemo(() => canvasTiles(dpr), [dpr]);

  const spokenAt = useCallback(
    (at: Frame) => spokenOf(view, sentence, runIndex, lesson, at),
    [view, sentence, runIndex, lesson],
  );
  const calm = useCalmFigures(runIndex, spokenAt);
  const draw = useCallback<Draw>(
    (ctx, s) => {
      if (s.width < leastWidth) return;
      const { figures, spoken } = calm(frame);
      const drawing = drawingOf(
        { runIndex, lesson, theme, show },
        { ...frame.get(), ...spoken },
        s,
      );
      holding(figures, () => {
        const layout = artist.layout(drawing, headerHeight, fontSize);
        artist.draw(ctx, layout, drawing, pointed.current, tiles);
      });
    },
    [artist, calm, runIndex, lesson, frame, theme, show, headerHeight, fontSize, tiles],
  );
  const invalidate = useCanvas(canvas, size, draw, frame.subscribe);
  const now = () => {
    if (size === null) return null;
    const drawing = drawingOf({ runIndex, lesson, theme, show }, frame.get(), size);
    return { drawing, layout: artist.layout(drawing, headerHeight, fontSize) };
  };
  const around = (spot: Spotlight) => {
    const picture = now();
    if (picture === null) return null;
    const { layout, drawing } = picture;
    const point = spot.mark && artist.place(layout, drawing, spot.mark);
    return ringOf(layout, drawing.size, spot, point);
  };
  const pointing = usePointing({ artist, now, invalidate, pointed, onHover, onSelect, onSeek });
  const gestures: GestureOptions = {
    axis: () => {
      const picture = onWindow === undefined ? null : now();
      const px = picture && artist.axis?.(picture.layout, picture.drawing);
      if (!picture || !px) return null;
      const { start, span, offset } = picture.drawing.frame;
      return { ...px, start, span, window: { start, span }, end: frameEnd(runIndex, offset) };
    },
    drags: (event) => !pointing.seeks(pointOf(event)),
    onWindow: (start, span) => onWindow?.(start, span),
    onGesture: pointing.hold,
  };

  const still = now();
  const least = (still && artist.least?.(still.drawing, headerHeight, fontSize)) ?? 0;
  // The stage scrolls before a picture is cut off.
  useLayoutEffect(() => {
    box.current?.parentElement?.style.setProperty('--lanes-least', `${Math.ceil(least)}px`);
  }, [least]);
  const { tip } = pointing;
  return (
    <div
      ref={box}
      className="picture"
      role="application"
      aria-label={tr(
        '{label}. Arrow keys go from mark to mark, Enter opens its records, Escape gives the arrow keys back to the run.',
        { label: artist.label },
      )}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: marks are walked with the arrow keys
      tabIndex={0}
      data-testid="picture"
      style={{ ...fill, overflow: 'hidden' }}
      onKeyDown={pointing.onKeyDown}
      onBlur={pointing.onBlur}
    >
      <canvas ref={canvas} style={fill} />
      <GestureOverlay
        size={size}
        gestures={gestures}
        style={{ cursor: tip === null ? 'default' : 'pointer', touchAction: 'pan-y' }}
        onPointerDown={pointing.onPointerDown}
        onPointerMove={pointing.onPointerMove}
        onPointerUp={pointing.onPointerUp}
        onPointerCancel={pointing.onPointerUp}
        onPointerLeave={pointing.onPointerLeave}
        onClick={pointing.onClick}
      />
      <p className="hidden-text" aria-live="polite">
        {pointing.said}
      </p>
      {header !== undefined &&
        still?.layout.lanes.map((lane) => (
          <div
            key={lane.arm}
            className="lane-head"
            style={{
              position: 'absolute',
              top: lane.top,
              left: lane.left,
              width: lane.width,
              height: headerHeight,
            }}
          >
            {header(lane.arm)}
          </div>
        ))}
      {spotlight != null && <SpotRing frame={frame} where={() => around(spotlight)} />}
      {tip !== null && size !== null && still !== null && (
        <div className="mark-tip" style={tipStyle(theme, tip, size, fontSize)}>
          {artist.describe(still.drawing, tip.mark)}
        </div>
      )}
    </div>
  );
}

/** A lane that is alone in a large stage is drawn larger, px. */
function ownFont(
  view: ViewKind,
  { runIndex, lesson, show }: CanvasProps,
  size: Drawing['size'] | null,
): number {
  if (size === null || runIndex.lanes.length !== 1) return usualFont;
  const room = size.height / view.preferredHeight(runIndex, lesson, show);
  return Math.max(usualFont, Math.min(largestFont, Math.floor(usualFont * room)));
}

/** What the sentence speaks of at its very moment. */
function spokenOf(
  view: ViewKind,
  sentence: string | undefined,
  runIndex: CanvasProps['runIndex'],
  lesson: CanvasProps['lesson'],
  frame: Frame,
): Spoken {
  const say = sentence === undefined || !view.outlines ? undefined : view.sentences[sentence];
  if (say === undefined) return {};
  const { figures, regions } = collect(() => say(runIndex, frame, lesson));
  return { spoken: marksOf(figures), regions };
}

type Given = Pick<CanvasProps, 'runIndex' | 'lesson' | 'theme'> & {
  readonly show: CanvasProps['show'] | undefined;
};

function drawingOf(
  { runIndex: index, lesson, theme, show }: Given,
  frame: Drawing['frame'],
  size: Drawing['size'],
): Drawing {
  return { index, frame, size, lesson, theme, ...(show === undefined ? {} : { show }) };
}

function tipStyle(
  theme: Theme,
  { x, y }: { readonly x: number; readonly y: number },
  size: { readonly width: number; readonly height: number },
  fontSize: number,
): CSSProperties {
  const right = x > size.width - 320;
  const low = y > size.height - 90;
  return {
    position: 'absolute',
    ...(low ? { bottom: size.height - y + 12 } : { top: y + 16 }),
    ...(right ? { right: size.width - x + 8 } : { left: x + 8 }),
    maxWidth: 300,
    padding: '6px 10px',
    borderRadius: 6,
    border: `1px solid ${theme.rule}`,
    background: theme.panel,
    color: theme.ink,
    font: `${fontSize}px/1.4 ${theme.font}`,
    pointerEvents: 'none',
    zIndex: 3,
    boxShadow: '0 4px 18px rgb(0 0 0 / 14%)',
  };
}
