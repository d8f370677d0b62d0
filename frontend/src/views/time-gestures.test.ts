// @vitest-environment happy-dom
// SPDX-License-Identifier: GPL-2.0-or-later
/** Gestures change the window: the moment under the pointer stays there, and other events are left to the page. */

import { zoomIdentity } from 'd3-zoom';
import { afterEach, expect, test, vi } from 'vitest';
import {
  addTimeBrush,
  addTimeGestures,
  brushedWindow,
  type TimeAxis,
  transformOf,
  windowAround,
  windowOf,
} from './time-gestures.tsx';

const window_ = { start: 40e6, span: 30e6 };
/** The window of 30 ms is 100 px wide. */
const axis: TimeAxis = { left: 20, right: 120, ...window_, window: window_, end: 5e9 };
const overview: TimeAxis = { ...axis, start: 0, span: 5e9 };

const at = (x: number, of: TimeAxis) => of.start + ((x - of.left) / 100) * of.span;

// The test DOM has SVG points without their methods, so they are removed, and d3 uses the element's box instead.
// The test DOM also lacks the border of SVG elements and the pointer of wheel events.
Object.defineProperty(SVGSVGElement.prototype, 'createSVGPoint', { value: undefined });
Object.defineProperties(SVGElement.prototype, {
  clientLeft: { value: 0 },
  clientTop: { value: 0 },
});

function wheelEvent({ deltaX = 0, deltaY = 0, ...more }: WheelEventInit): WheelEvent {
  const event = new WheelEvent('wheel', { bubbles: true, cancelable: true, deltaX, deltaY });
  const flags = { clientX: 0, clientY: 0, ctrlKey: false, shiftKey: false, metaKey: false };
  for (const [key, value] of Object.entries({ ...flags, ...more }))
    Object.defineProperty(event, key, { value });
  return event;
}

afterEach(() => document.body.replaceChildren());

function overlay(): SVGSVGElement {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  document.body.append(svg);
  return svg;
}

function listening(now: TimeAxis | null = axis, drags = true) {
  const onWindow = vi.fn<(start: number, span: number) => void>();
  const svg = overlay();
  const off = addTimeGestures(svg, { axis: () => now, drags: () => drags, onWindow });
  const wheel = (init: WheelEventInit) => {
    const event = wheelEvent(init);
    svg.dispatchEvent(event);
    return event;
  };
  return { svg, onWindow, off, wheel };
}

test('a window becomes a transform and comes back, down to nanoseconds of a long run', () => {
  for (const window of [window_, { start: 0, span: 1000 }, { start: 110e9, span: 2000 }]) {
    const own = { ...axis, ...window, window };
    const back = windowOf(transformOf(own), own);
    expect(back.start).toBeCloseTo(window.start, 0);
    expect(back.span).toBeCloseTo(window.span, 3);
  }
});

test('a wheel zooms, and the moment under the pointer stays there', () => {
  const { onWindow, wheel } = listening();
  const event = wheel({ deltaY: -100, clientX: 45 });
  expect(event.defaultPrevented).toBe(true);
  const [start, span] = onWindow.mock.calls[0]!;
  expect(span).toBeLessThan(window_.span);
  expect(at(45, { ...axis, start, span })).toBeCloseTo(at(45, axis), 0);
});

test('a wheel beside the axis, without an axis, or after the gestures are off is the page’s', () => {
  const { onWindow, wheel, off } = listening();
  expect(wheel({ deltaY: -100, clientX: 2 }).defaultPrevented).toBe(false);
  off();
  expect(wheel({ deltaY: -100, clientX: 45 }).defaultPrevented).toBe(false);
  const none = listening(null);
  expect(none.wheel({ deltaY: -100, clientX: 45 }).defaultPrevented).toBe(false);
  expect(onWindow).not.toHaveBeenCalled();
  expect(none.onWindow).not.toHaveBeenCalled();
});

test('where the page scrolls a plain wheel scrolls it, and Ctrl zooms', () => {
  const { svg, onWindow, wheel } = listening();
  const around = document.createElement('div');
  around.style.overflowY = 'auto';
  document.body.append(around);
  around.append(svg);
  Object.defineProperties(around, {
    scrollHeight: { value: 500 },
    clientHeight: { value: 100 },
    scrollTop: { value: 0 },
  });
  expect(wheel({ deltaY: 100, clientX: 45 }).defaultPrevented).toBe(false);
  expect(onWindow).not.toHaveBeenCalled();
  expect(wheel({ deltaY: 100, clientX: 45, ctrlKey: true }).defaultPrevented).toBe(true);
  expect(onWindow).toHaveBeenCalledOnce();
  // An element that is scrolled to its top cannot scroll up.
  expect(wheel({ deltaY: -100, clientX: 45 }).defaultPrevented).toBe(true);
});

test('a wheel to the side, or with Shift, moves the window by so many px', () => {
  const { onWindow, wheel } = listening();
  wheel({ deltaX: 10, clientX: 45 });
  expect(onWindow).toHaveBeenLastCalledWith(43e6, 30e6);
  wheel({ deltaY: -10, clientX: 45, shiftKey: true });
  expect(onWindow).toHaveBeenLastCalledWith(37e6, 30e6);
});

const press = (target: EventTarget, type: string, clientX: number, more: MouseEventInit = {}) =>
  target.dispatchEvent(
    new MouseEvent(type, { bubbles: true, cancelable: true, view: window, clientX, ...more }),
  );

test('a drag moves the window; one that the view keeps for the moment does not', () => {
  const { svg, onWindow } = listening();
  press(svg, 'mousedown', 60);
  press(window, 'mousemove', 50);
  press(window, 'mouseup', 50);
  const [start, span] = onWindow.mock.calls.at(-1)!;
  expect(start).toBeCloseTo(43e6, 0);
  expect(span).toBeCloseTo(30e6, 0);
  const kept = listening(axis, false);
  press(kept.svg, 'mousedown', 60);
  press(window, 'mousemove', 50);
  press(window, 'mouseup', 50);
  expect(kept.onWindow).not.toHaveBeenCalled();
});

test('over the whole run the pointed moment of the window stays at its share', () => {
  const own = { ...overview, window: { start: 1e9, span: 1e9 } };
  const { k } = transformOf(own);
  // The moment 1.5 s is in the middle of the window.
  const next = windowAround(zoomIdentity.scale(k * 2), own, 50);
  expect(next).toEqual({ start: 1.25e9, span: 0.5e9 });
  // A moment outside the window moves to the middle of the new window.
  expect(windowAround(zoomIdentity.scale(k), own, 100)).toEqual({ start: 3.5e9, span: 1e9 });
});

test('Shift and drag selects a window, a drag alone does not', () => {
  const onWindow = vi.fn<(start: number, span: number) => void>();
  const svg = overlay();
  const g = document.createElementNS('http://www.w3.org/2000/svg', 'g');
  svg.append(g);
  addTimeBrush(g, { width: 140, height: 50 }, { axis: () => axis, drags: () => true, onWindow });
  const target = g.querySelector('.overlay')!;
  const drag = (more: MouseEventInit) => {
    press(target, 'mousedown', 40, more);
    press(window, 'mousemove', 90, more);
    press(window, 'mouseup', 90, more);
  };
  drag({});
  expect(onWindow).not.toHaveBeenCalled();
  drag({ shiftKey: true });
  expect(onWindow).toHaveBeenCalledOnce();
  expect(onWindow.mock.calls[0]).toEqual([46e6, 15e6]);
});

test('a brush of nearly nothing is none, and ends with the axis', () => {
  expect(brushedWindow([50, 52], axis)).toBeNull();
  expect(brushedWindow(null, axis)).toBeNull();
  expect(brushedWindow([0, 70], axis)).toEqual({ start: 40e6, span: 15e6 });
});
