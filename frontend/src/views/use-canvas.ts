// SPDX-License-Identifier: GPL-2.0-or-later
/** A canvas that fills its box. It is redrawn at most once per frame, and only after a change. */

import { type RefObject, useCallback, useEffect, useRef, useState } from 'react';
import { frameLoop } from '../base/raf.ts';
import type { Frame, FrameSource, RunIndex, Size } from '../derive/types.ts';
import { redrawEvent } from './paints.ts';

// CSS scale of an element. The page lays out slides at a small size and then scales them up.

/** Returns 1 before the first layout, and if the element is not scaled. */
export function magnified(element: Element): number {
  const own = element.clientWidth;
  const { width } = element.getBoundingClientRect();
  return own > 0 && width > 0 ? width / own : 1;
}

/** Time taken to draw each of the last frames, ms; the benchmark reads these times. */
export const drawTimes: number[] = [];
Object.assign(globalThis, { duetDrawTimes: drawTimes });

function remember(ms: number): void {
  drawTimes.push(ms);
  if (drawTimes.length > 600) drawTimes.splice(0, 300);
}

export type Draw = (ctx: CanvasRenderingContext2D, size: Size) => void;

/** Size of an element in its own CSS px, and device pixels per CSS px. Null before the first layout. */
export function useSize(ref: RefObject<HTMLElement | null>): Size | null {
  const [size, setSize] = useState<Size | null>(null);
  useEffect(() => {
    const element = ref.current;
    if (element === null) return;
    const measure = () => {
      const { clientWidth: width, clientHeight: height } = element;
      const dpr = Math.min(3, (window.devicePixelRatio || 1) * magnified(element));
      setSize((old) =>
        old !== null && old.width === width && old.height === height && old.dpr === dpr
          ? old
          : { width, height, dpr },
      );
    };
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    addEventListener('resize', measure);
    measure();
    return () => {
      observer.disconnect();
      removeEventListener('resize', measure);
    };
  }, [ref]);
  return size;
}

/**
 * Draw in the page's frame loop when `draw` or the size changes, or when `subscribe` calls its listener. Memoise
 * `draw`, because each new function makes the canvas redraw.
 */
export function useCanvas(
  ref: RefObject<HTMLCanvasElement | null>,
  size: Size | null,
  draw: Draw,
  subscribe: ((listener: () => void) => () => void) | null,
): () => void {
  const dirty = useRef(true);
  const invalidate = useRef(() => {
    dirty.current = true;
    frameLoop.wake();
  }).current;
  useEffect(() => {
    const canvas = ref.current;
    if (canvas === null || size === null || size.width === 0 || size.height === 0) return;
    const width = Math.round(size.width * size.dpr);
    const height = Math.round(size.height * size.dpr);
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
    }
    const ctx = canvas.getContext('2d');
    if (ctx === null) return;
    dirty.current = true;
    const leave = frameLoop.add(() => {
      if (!dirty.current) return false;
      dirty.current = false;
      const began = performance.now();
      ctx.setTransform(size.dpr, 0, 0, size.dpr, 0, 0);
      draw(ctx, size);
      remember(performance.now() - began);
      return false;
    });
    const off = subscribe?.(invalidate);
    // Only the SVG export sends this event; its `detail` is the exporter's pen.
    const redraw = (event: Event) => draw((event as CustomEvent).detail, size);
    canvas.addEventListener(redrawEvent, redraw);
    return () => {
      leave();
      canvas.removeEventListener(redrawEvent, redraw);
      off?.();
    };
  }, [ref, size, draw, subscribe, invalidate]);
  // Fonts load late, so redraw text that was measured before they were available.
  useEffect(() => {
    document.fonts?.ready.then(invalidate);
  }, [invalidate]);
  return invalidate;
}

// Minimum interval between updates of text that follows the moment.

const textEveryMs = 200;

/** Re-render while the moment moves, but only as often as text is updated. */
export function useCalm(subscribe: (listener: () => void) => () => void): void {
  const [, again] = useState(0);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | null = null;
    const stop = subscribe(() => {
      timer ??= setTimeout(() => {
        timer = null;
        again((n) => n + 1);
      }, textEveryMs);
    });
    return () => {
      stop();
      if (timer !== null) clearTimeout(timer);
    };
  }, [subscribe]);
}

// Figures and outlines in a picture are updated together with the page's text.

export type Spoken = Pick<Frame, 'spoken' | 'regions'>;

export interface Calm {
  /** Frozen figures (see withFrozenFigures); null if no figure is frozen. */
  readonly figures: Map<string, string> | null;
  readonly spoken: Spoken;
}

interface Held extends Calm {
  readonly text: Frame;
  readonly index: RunIndex;
}

/** @param spokenAt returns the marks and regions that the sentence mentions in a frame */
export function useCalmFigures(
  index: RunIndex,
  spokenAt: (frame: Frame) => Spoken,
): (frames: FrameSource) => Calm {
  const held = useRef<Held | null>(null);
  return useCallback(
    ({ get, text }) => {
      if (text === undefined) return { figures: null, spoken: spokenAt(get()) };
      const [at, now] = [text.get(), get()];
      // Data can arrive while the moment moves. The frozen text covers only data that arrived before the move began.
      const rests = at.moment === now.moment && at.start === now.start;
      if (held.current?.text !== at || (rests && held.current.index !== index))
        held.current = { text: at, index, figures: new Map(), spoken: spokenAt(at) };
      return held.current;
    },
    [index, spokenAt],
  );
}
