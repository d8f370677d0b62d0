// SPDX-License-Identifier: GPL-2.0-or-later
/** Pointing at a picture with mouse and keys: which mark, its tip, and the moment that a press goes to. */

import { type KeyboardEvent, type PointerEvent, useEffect, useRef, useState } from 'react';
import { magnified } from '../base/magnified.ts';
import type { Mark } from '../derive/types.ts';
import type { ArrowKey, Artist, CanvasProps, Drawing, Laid, Point } from './contract.ts';

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

function sameMark(one: Mark | null, other: Mark | null): boolean {
  if (one === null || other === null) return one === other;
  return (
    one.arm === other.arm &&
    one.table === other.table &&
    one.kind === other.kind &&
    one.row === other.row &&
    one.id === other.id
  );
}

/** The picture as it is now. */
export interface Picture {
  readonly drawing: Drawing;
  readonly layout: Laid;
}

type Reports = {
  readonly [key in 'onHover' | 'onSelect' | 'onSeek']: CanvasProps[key] | undefined;
};

interface Options extends Reports {
  readonly artist: Artist;
  /** Null before there is a size. */
  readonly now: () => Picture | null;
  readonly invalidate: () => void;
  /** What is pointed at, for the drawing. */
  readonly pointed: { current: Mark | null };
}

export function pointOf(event: {
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
  /** The playhead is dragged, or a gesture moves the window: nothing is pointed at meanwhile. */
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
  const markAt = ({ x, y }: Point): Mark | null => {
    const picture = now();
    return picture === null ? null : artist.hit(picture.layout, picture.drawing, x, y);
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
    // The focus goes, and with it the arrows to the run. What else Escape means on the page it means here, too.
    if (event.key === 'Escape') event.currentTarget.blur();
    if (picture === null) return;
    if (event.key === 'Enter' && pointed.current !== null) onSelect?.(pointed.current);
    else if (arrows.has(event.key)) {
      const { layout, drawing } = picture;
      const next = artist.step(layout, drawing, pointed.current, event.key as ArrowKey);
      if (next !== null) {
        point(next, artist.place(layout, drawing, next) ?? { x: 0, y: 0 });
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
    /** The focus goes: the tip with it. Keys go on from the mark when it is back. */
    onBlur: () => setTip(null),
    /** A press here moves the playhead, not the window. */
    seeks: (at: Point) => markAt(at) === null && momentAt(at) !== null,
    /** A gesture on the window begins or ends. */
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
