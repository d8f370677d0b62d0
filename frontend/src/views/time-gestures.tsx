// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Zoom and brush on a time axis. d3-zoom handles mouse wheel, pinch and drag; d3-brush selects a window with Shift and
 * drag. A gesture reads the axis when it begins, and reports the new window to the axis's owner, who decides whether to
 * use it.
 */

import { type BrushSelection, brushX, type D3BrushEvent } from 'd3-brush';
import { scaleLinear } from 'd3-scale';
import { pointer, type Selection, select } from 'd3-selection';
import {
  type D3ZoomEvent,
  type ZoomBehavior,
  type ZoomTransform,
  zoom,
  zoomIdentity,
} from 'd3-zoom';
import { type SVGProps, useEffect, useRef } from 'react';
import type { Size } from '../derive/types.ts';

/** The time axis as it is drawn now. Times are frame time, ns; positions are px within the element. */
export interface TimeAxis {
  readonly left: number;
  readonly right: number;
  /** The time at `left`, and the length of time between `left` and `right`. */
  readonly start: number;
  readonly span: number;
  /** The window that gestures change: all of the axis, or a part of the axis. */
  readonly window: { readonly start: number; readonly span: number };
  /** End of the run. */
  readonly end: number;
}

export interface GestureOptions {
  /** Returns the current axis. If there is none, the result is null, and the page handles the gesture. */
  readonly axis: () => TimeAxis | null;
  /** Whether a drag that starts at the event's position moves the window. */
  readonly drags: (event: MouseEvent) => boolean;
  readonly onWindow: (start: number, span: number) => void;
  /** Called when a gesture starts or ends. No tooltips are shown during a gesture. */
  readonly onGesture?: (busy: boolean) => void;
}

/** Base scale of d3-zoom's transform: the length of time that the axis shows at k = 1, ns. */
const baseNs = 1e9;
/**
 * Minimum length of a window, ns, which is the same as in playback. Maximum length, as a multiple of the run's length.
 */
const leastNs = 1000;
const mostOfRun = 1.1;

/** The transform with which the base scale shows the axis's window. */
export function transformOf({ left, right, window }: TimeAxis): ZoomTransform {
  const k = baseNs / window.span;
  const pxPerNs = (right - left) / baseNs;
  return zoomIdentity.translate(left - k * (left + window.start * pxPerNs), 0).scale(k);
}

/** Return the window that a transform shows, for an axis that shows exactly its window. */
export function windowOf(transform: ZoomTransform, { left, right }: TimeAxis) {
  const base = scaleLinear([0, baseNs], [left, right]);
  const [start, end] = transform.rescaleX(base).domain() as [number, number];
  return { start, span: end - start };
}

/**
 * Return the window that a transform shows, for an axis that shows more than its window. The moment under the pointer
 * keeps its relative position in the new window.
 */
export function windowAround(transform: ZoomTransform, axis: TimeAxis, x: number) {
  const { left, right, start, span, window } = axis;
  const wide = baseNs / transform.k;
  const t = start + ((x - left) / (right - left)) * span;
  const share = (t - window.start) / window.span;
  const at = share >= 0 && share <= 1 ? share : 0.5;
  return { start: t - at * wide, span: wide };
}

/**
 * Tell whether this element or an element around it can scroll in this direction. If so, a wheel event without a
 * modifier key scrolls the page and does not zoom.
 */
export function scrolls(from: Element, deltaY: number): boolean {
  for (let at: Element | null = from; at !== null; at = at.parentElement) {
    const room = at.scrollHeight - at.clientHeight;
    if (room < 1) continue;
    const root = at === document.documentElement;
    if (!root && !/auto|scroll/.test(getComputedStyle(at).overflowY)) continue;
    if (deltaY < 0 ? at.scrollTop > 0 : at.scrollTop < room - 1) return true;
  }
  return false;
}

function onAxis(axis: TimeAxis | null, x: number): axis is TimeAxis {
  return axis !== null && axis.right > axis.left && x >= axis.left - 6 && x <= axis.right + 6;
}

/** Attach the gestures to the overlay of a picture. Returns a function that detaches them. */
export function addTimeGestures(overlay: SVGSVGElement, options: GestureOptions): () => void {
  const surface = select<SVGSVGElement, unknown>(overlay);
  const zoomer = zoomOf(overlay, options);
  surface.on('wheel.pan', (event: WheelEvent) => panByWheel(overlay, event, options), {
    passive: false,
  });
  surface.call(zoomer).on('dblclick.zoom', null);
  return () => {
    surface.on('.zoom', null).on('wheel.pan', null);
  };
}

function zoomOf(overlay: SVGSVGElement, options: GestureOptions) {
  const { axis: axisNow, onWindow, onGesture } = options;
  /** The axis at the start of the gesture. It stays unchanged while the gesture moves the window. */
  let axis: TimeAxis | null = null;
  let anchor = 0;
  const begin = (x: number): boolean => {
    const now = axisNow();
    if (!onAxis(now, x)) return false;
    axis = now;
    anchor = x;
    const most = Math.max(now.end * mostOfRun, now.window.span);
    zoomer.scaleExtent([baseNs / most, baseNs / leastNs]);
    (overlay as { __zoom?: ZoomTransform }).__zoom = transformOf(now);
    return true;
  };
  const zoomer: ZoomBehavior<SVGSVGElement, unknown> = zoom<SVGSVGElement, unknown>()
    .clickDistance(4)
    .extent((): [[number, number], [number, number]] => [
      [axis?.left ?? 0, 0],
      [axis?.right ?? 1, 1],
    ])
    .constrain((transform) => transform)
    .wheelDelta(wheelDelta)
    .filter((event: Event) => {
      if (event instanceof WheelEvent) {
        if (sideways(event)) return false;
        const forced = event.ctrlKey || event.metaKey;
        if (!forced && scrolls(overlay, event.deltaY)) return false;
        return begin(pointer(event, overlay)[0]);
      }
      if (typeof TouchEvent !== 'undefined' && event instanceof TouchEvent) {
        const [one, other] = event.touches;
        if (one === undefined || other === undefined) return false;
        const middle = (pointer(one, overlay)[0] + pointer(other, overlay)[0]) / 2;
        return begin(middle);
      }
      const mouse = event as MouseEvent;
      if (mouse.button !== 0 || mouse.ctrlKey || mouse.shiftKey || !options.drags(mouse))
        return false;
      return begin(pointer(mouse, overlay)[0]);
    })
    .on('start', () => onGesture?.(true))
    .on('zoom', ({ transform }: D3ZoomEvent<SVGSVGElement, unknown>) => {
      if (axis === null) return;
      const own = axis.window.start === axis.start && axis.window.span === axis.span;
      const { start, span } = own
        ? windowOf(transform, axis)
        : windowAround(transform, axis, anchor);
      onWindow(start, span);
    })
    .on('end', () => onGesture?.(false));
  return zoomer;
}

/** Whether a wheel event moves the window: it is horizontal, or Shift is pressed. */
function sideways(event: WheelEvent): boolean {
  if (event.ctrlKey || event.metaKey) return false;
  return event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
}

const linePx = 16;
/**
 * A wheel event with Ctrl that scrolls less than this, px, is a touchpad pinch. Mouse wheels scroll in larger steps.
 */
const pinchPx = 50;

/** Return the base-2 logarithm of the zoom factor of a wheel event. */
function wheelDelta({ deltaY, deltaMode, ctrlKey }: WheelEvent): number {
  const px = deltaMode === 1 ? deltaY * linePx : deltaY;
  return -px * 0.002 * (ctrlKey && Math.abs(px) < pinchPx ? 5 : 1);
}

function panByWheel(overlay: Element, event: WheelEvent, { axis, onWindow }: GestureOptions): void {
  if (!sideways(event)) return;
  const now = axis();
  if (!onAxis(now, pointer(event, overlay)[0])) return;
  event.preventDefault();
  // Some browsers turn a wheel event with Shift into a horizontal event.
  const delta = event.deltaX === 0 ? event.deltaY : event.deltaX;
  const px = event.deltaMode === 1 ? delta * linePx : delta;
  const { start, span } = now.window;
  onWindow(start + (px * now.span) / (now.right - now.left), span);
}

/** The window that a brush selects, ns; null if the selection is narrower than 3 px. */
export function brushedWindow(selection: BrushSelection | null, axis: TimeAxis) {
  const { left, right } = axis;
  const limit = (x: number) => Math.max(left, Math.min(right, x));
  const [x0, x1] = ((selection ?? [0, 0]) as [number, number]).map(limit) as [number, number];
  if (x1 - x0 < 3) return null;
  const at = scaleLinear([left, right], [axis.start, axis.start + axis.span]);
  return { start: at(x0), span: at(x1) - at(x0) };
}

/** Let the user select a window with Shift and drag. After the overlay's size changes, call this function again. */
export function addTimeBrush(
  group: SVGGElement,
  size: { readonly width: number; readonly height: number },
  { axis: axisNow, onWindow, onGesture }: GestureOptions,
): () => void {
  const g: Selection<SVGGElement, unknown, null, undefined> = select(group);
  const svg = group.ownerSVGElement;
  const brush = brushX<unknown>()
    .extent([
      [0, 0],
      [size.width, size.height],
    ])
    .touchable(false)
    .keyModifiers(false)
    .filter((event: MouseEvent) => {
      if (!event.shiftKey || event.button !== 0) return false;
      return onAxis(axisNow(), pointer(event, group)[0]);
    })
    .on('start', () => {
      onGesture?.(true);
      // The SVG export omits transparent elements, so the overlay must be opaque while a brush is visible.
      if (svg !== null) svg.style.opacity = '1';
    })
    .on('end', ({ selection }: D3BrushEvent<unknown>) => {
      onGesture?.(false);
      if (svg !== null) svg.style.opacity = '0';
      if (selection === null) return;
      const axis = axisNow();
      const found = axis === null ? null : brushedWindow(selection, axis);
      g.call(brush.clear);
      if (found !== null) onWindow(found.start, found.span);
    });
  g.call(brush);
  g.select('.overlay').attr('cursor', null);
  g.select('.selection').attr('fill', 'currentColor').attr('stroke', 'currentColor');
  return () => {
    g.on('.brush', null).selectAll('*').remove();
  };
}

// A transparent overlay for a canvas. It receives mouse, wheel and touch input.

interface Props extends Omit<SVGProps<SVGSVGElement>, 'ref'> {
  readonly size: Size | null;
  readonly gestures: GestureOptions;
}

export function GestureOverlay({ size, gestures, style, ...events }: Props) {
  const overlay = useRef<SVGSVGElement>(null);
  const group = useRef<SVGGElement>(null);
  const latest = useRef(gestures);
  latest.current = gestures;
  const stable = useRef<GestureOptions>({
    axis: () => latest.current.axis(),
    drags: (event) => latest.current.drags(event),
    onWindow: (start, span) => latest.current.onWindow(start, span),
    onGesture: (busy) => latest.current.onGesture?.(busy),
  }).current;
  useEffect(() => {
    if (overlay.current !== null) return addTimeGestures(overlay.current, stable);
    return undefined;
  }, [stable]);
  const { width = 0, height = 0 } = size ?? {};
  useEffect(() => {
    if (group.current === null || width === 0) return undefined;
    return addTimeBrush(group.current, { width, height }, stable);
  }, [stable, width, height]);
  return (
    <svg
      ref={overlay}
      aria-hidden="true"
      focusable="false"
      data-testid="gestures"
      style={{
        position: 'absolute',
        inset: 0,
        width: '100%',
        height: '100%',
        opacity: 0,
        touchAction: 'pan-y',
        ...style,
      }}
      {...events}
    >
      <g ref={group} />
    </svg>
  );
}
