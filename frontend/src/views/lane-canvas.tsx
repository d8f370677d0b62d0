// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The canvas for every picture of lanes. It fills its box, shows a header for each lane, and handles tooltips and the
 * selection of marks by mouse and keys. The view provides an Artist, whose functions for layout, drawing and items are
 * pure.
 */

import {
  type CSSProperties,
  type KeyboardEvent,
  type PointerEvent,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { pictureDrawn } from '../base/first-picture.ts';
import { t as tr } from '../base/lang/t.ts';
import type { Theme } from '../base/theme.ts';
import { collect, marksOf, withFrozenFigures } from '../derive/figures.ts';
import { frameEnd } from '../derive/moments.ts';
import type { Frame, FrameSource, Mark, RunIndex, Size } from '../derive/types.ts';
import type {
  ArrowKey,
  Artist,
  CanvasProps,
  Drawing,
  Laid,
  LaidLane,
  Point,
  Spotlight,
  ViewKind,
} from './contract.ts';
import { GestureOverlay } from './gestures.ts';
import { hit, place, sameMark, step } from './items.ts';
import { canvasTiles } from './paints.ts';
import type { GestureOptions } from './time-gestures.tsx';
import {
  type Draw,
  magnified,
  type Spoken,
  useCalmFigures,
  useCanvas,
  useSize,
} from './use-canvas.ts';

// Selects marks by mouse and keys, and shows their tooltips. A press can also move the playhead to another moment.

export interface Tip {
  readonly mark: Mark;
  readonly x: number;
  readonly y: number;
}

const arrows: ReadonlySet<string> = new Set([
  'ArrowLeft',
  'ArrowRight',
  'ArrowUp',
  'ArrowDown',
  'Home',
  'End',
]);

/** The current picture. */
export interface Picture {
  readonly drawing: Drawing;
  readonly layout: Laid;
}

type Reports = {
  readonly [key in 'onHover' | 'onSelect' | 'onSeek']: CanvasProps[key] | undefined;
};

interface Options extends Reports {
  readonly artist: Artist;
  /** Returns the current picture; null before the first layout. */
  readonly now: () => Picture | null;
  readonly invalidate: () => void;
  /** The hovered mark, which the drawing outlines. */
  readonly pointed: { current: Mark | null };
}

function pointOf(event: {
  readonly clientX: number;
  readonly clientY: number;
  readonly currentTarget: EventTarget | null;
}): Point {
  const element = event.currentTarget as Element;
  const rect = element.getBoundingClientRect();
  const scale = magnified(element);
  return { x: (event.clientX - rect.left) / scale, y: (event.clientY - rect.top) / scale };
}

export function usePointing({ artist, now, invalidate, pointed, ...reports }: Options) {
  const { onHover, onSelect, onSeek } = reports;
  const [tip, setTip] = useState<Tip | null>(null);
  const [said, setSaid] = useState('');
  /** What the user is dragging: the playhead or the window. During a drag, hovering does not select marks. */
  const held = useRef<'moment' | 'window' | null>(null);

  // biome-ignore lint/correctness/useExhaustiveDependencies: another picture has other marks
  useEffect(() => {
    pointed.current = null;
    setTip(null);
    setSaid('');
  }, [artist]);

  const point = (mark: Mark | null, at: Point) => {
    if (sameMark(pointed.current, mark)) return;
    pointed.current = mark;
    setTip(mark === null ? null : { mark, ...at });
    onHover?.(mark);
    invalidate();
  };
  const markAt = (at: Point): Mark | null => {
    const picture = now();
    return picture && hit(artist, picture.layout, picture.drawing, at);
  };
  const momentAt = ({ x, y }: Point): number | null => {
    const picture = now();
    if (picture === null) return null;
    return artist.seek?.(picture.layout, picture.drawing, x, y) ?? null;
  };
  const seek = (at: Point): boolean => {
    const moment = momentAt(at);
    if (moment !== null) onSeek?.(moment);
    return moment !== null;
  };
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const picture = now();
    // After the picture has lost the focus, the arrow keys control the run again. The page still handles Escape.
    if (event.key === 'Escape') event.currentTarget.blur();
    if (picture === null) return;
    if (event.key === 'Enter' && pointed.current !== null) onSelect?.(pointed.current);
    else if (arrows.has(event.key)) {
      const { layout, drawing } = picture;
      const next = step(artist, layout, drawing, pointed.current, event.key as ArrowKey);
      if (next !== null) {
        point(next, place(artist, layout, drawing, next) ?? { x: 0, y: 0 });
        setSaid(artist.describe(drawing, next));
      }
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return {
    tip,
    said,
    onKeyDown,
    /** Hide the tooltip when the focus leaves. When the focus returns, the arrow keys continue from this mark. */
    onBlur: () => setTip(null),
    /** Whether a press at this point moves the playhead instead of the window. */
    seeks: (at: Point) => markAt(at) === null && momentAt(at) !== null,
    /** Called when a gesture on the window begins or ends. */
    hold: (busy: boolean) => {
      held.current = busy ? 'window' : null;
      if (busy) point(null, { x: 0, y: 0 });
    },
    onPointerDown: (event: PointerEvent<Element>) => {
      const at = pointOf(event);
      if (event.shiftKey || markAt(at) !== null || !seek(at)) return;
      held.current = 'moment';
      event.currentTarget.setPointerCapture(event.pointerId);
    },
    onPointerMove: (event: PointerEvent<Element>) => {
      const at = pointOf(event);
      if (held.current === 'moment') seek(at);
      else if (held.current === null) point(markAt(at), at);
    },
    onPointerUp: () => {
      if (held.current === 'moment') held.current = null;
    },
    onPointerLeave: () => point(null, { x: 0, y: 0 }),
    onClick: (event: { clientX: number; clientY: number; currentTarget: EventTarget | null }) => {
      const mark = markAt(pointOf(event));
      if (mark !== null) onSelect?.(mark);
    },
  };
}

// A ring around the mark or lane that an instructor highlights. It pulses, unless the user prefers reduced motion.

/** Radius of the ring around a mark, and distance of the ring from the sides of a lane, px. */
const [radius, outset] = [18, 6];

/** Place of the ring, px. If the mark is outside the view, the ring surrounds the mark's lane. */
export function ringOf(
  { lanes }: Laid,
  size: Pick<Size, 'height'>,
  { arm }: Spotlight,
  point: Point | null,
): CSSProperties | null {
  if (point !== null) {
    const box = { left: point.x - radius, top: point.y - radius };
    return { ...box, width: 2 * radius, height: 2 * radius, borderRadius: '50%' };
  }
  const lane = lanes.find((one) => one.arm === arm);
  if (lane === undefined) return null;
  return {
    left: lane.left - outset,
    top: lane.top,
    width: lane.width + 2 * outset,
    height: nextTop(lanes, lane, size) - lane.top,
    borderRadius: 'var(--radius)',
  };
}

/** The y at which the next lane below begins, or at which the picture ends. */
function nextTop(
  lanes: readonly LaidLane[],
  lane: LaidLane,
  { height }: Pick<Size, 'height'>,
): number {
  const below = lanes.flatMap(({ top }) => (top > lane.top + 1 ? [top] : []));
  return Math.min(height, ...below);
}

/** Place of a lane's body, which is everything below its header and above the axis. */
export function bodyOf(
  { lanes }: Laid,
  size: Pick<Size, 'height'>,
  lane: LaidLane,
  headerHeight: number,
): CSSProperties {
  const top = lane.top + headerHeight;
  const bottom = lane.bottom ?? nextTop(lanes, lane, size);
  return { left: lane.left, top, width: lane.width, height: Math.max(0, bottom - top) };
}

interface Props {
  readonly frame: FrameSource;
  /** Returns the place of the ring in the current picture. */
  readonly where: () => CSSProperties | null;
}

function SpotRing({ frame, where }: Props) {
  const ring = useRef<HTMLDivElement>(null);
  const latest = useRef(where);
  latest.current = where;
  useLayoutEffect(() => {
    const put = () => {
      const style = latest.current();
      const element = ring.current;
      if (element === null) return;
      element.hidden = style === null;
      for (const key of ['left', 'top', 'width', 'height'] as const)
        element.style[key] = `${style?.[key] ?? 0}px`;
      element.style.borderRadius = String(style?.borderRadius ?? '');
    };
    put();
    return frame.subscribe(put);
  });
  // Scroll the ring into view, for example on a phone.
  useEffect(() => {
    // Keep the braces: in some newer browsers scrollIntoView returns a value, and React would call a returned value as
    // the cleanup function.
    ring.current?.scrollIntoView?.({ block: 'nearest' });
  }, []);
  return <div ref={ring} className="spot-ring" aria-hidden="true" data-testid="spot-ring" />;
}

const usualFont = 13;
const largestFont = 18;
/** Minimum width of a picture, px. Row names alone need this width. A narrower picture is not drawn. */
const leastWidth = 160;
const fill: CSSProperties = { position: 'absolute', inset: 0, width: '100%', height: '100%' };

/** Whether the lanes show what happened. While a recording loads, they are empty until the first events arrive. */
function hasPicture({ source, reading, lanes }: RunIndex): boolean {
  if (source === 'live' || reading === 'whole') return true;
  return lanes.some(
    ({ spans, ops, points }) => spans.length > 0 || ops.length > 0 || points.length > 0,
  );
}

/** The canvas for a view. It fills its parent, which must be positioned and have a height. */
export function LaneCanvas({ view, ...props }: CanvasProps & { readonly view: ViewKind }) {
  const { runIndex, lesson, frame, theme, show, header, sentence } = props;
  const { onHover, onSelect, onSeek, onWindow, spotlight, cover } = props;
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
      withFrozenFigures(figures, () => {
        const layout = artist.layout(drawing, headerHeight, fontSize);
        artist.draw(ctx, layout, drawing, pointed.current, tiles);
      });
      if (hasPicture(runIndex)) pictureDrawn(runIndex.runId);
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
    const point = spot.mark && place(artist, layout, drawing, spot.mark);
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
  // A stage that is too low scrolls instead of cutting off the picture.
  useLayoutEffect(() => {
    box.current?.parentElement?.style.setProperty('--lanes-least', `${Math.ceil(least)}px`);
  }, [least]);
  const { tip } = pointing;
  const picture = (
    <div
      ref={box}
      className="picture"
      role="application"
      aria-label={tr(
        '{label}. Arrow keys go from mark to mark, Enter opens the records of a mark, Escape returns the arrow keys to the run.',
        { label: artist.label },
      )}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: marks are walked with the arrow keys
      tabIndex={0}
      data-testid="picture"
      style={{ ...fill, overflow: 'hidden' }}
      // A covered picture cannot take the focus, and screen readers do not read it.
      inert={cover !== undefined}
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
  if (cover === undefined || still === null || size === null) return picture;
  return (
    <>
      {picture}
      {still.layout.lanes.map((lane) => {
        const over = cover(lane.arm);
        if (over === null) return null;
        const place = bodyOf(still.layout, size, lane, headerHeight);
        return (
          <div key={lane.arm} className="lane-cover" style={place}>
            {over}
          </div>
        );
      })}
    </>
  );
}

/** Font size, px. A single lane in a large stage gets a larger font. */
function ownFont(
  view: ViewKind,
  { runIndex, lesson, show }: CanvasProps,
  size: Drawing['size'] | null,
): number {
  if (size === null || runIndex.lanes.length !== 1) return usualFont;
  const room = size.height / view.preferredHeight(runIndex, lesson, show);
  return Math.max(usualFont, Math.min(largestFont, Math.floor(usualFont * room)));
}

/** The marks and regions that the view's sentence mentions at the frame's moment. */
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
