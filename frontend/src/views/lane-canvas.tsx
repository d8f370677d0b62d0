// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * What every picture of lanes has in common: a canvas that fills its box, a header over each lane, pointing with
 * mouse and keys, a tip in words. The view brings an Artist: layout, drawing and hit test, all pure.
 */

import {
  type CSSProperties,
  type KeyboardEvent,
  useCallback,
  useMemo,
  useRef,
  useState,
} from 'react';
import type { Theme } from '../base/theme.ts';
import type { Mark } from '../derive/types.ts';
import type { ArrowKey, CanvasProps, Drawing, ViewKind } from './contract.ts';
import { canvasTiles } from './paints.ts';
import { type Draw, useCanvas, useSize } from './use-canvas.ts';

interface Tip {
  readonly mark: Mark;
  readonly x: number;
  readonly y: number;
}

const fill: CSSProperties = { position: 'absolute', inset: 0, width: '100%', height: '100%' };

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

/** Fills its parent, which must be positioned and have a height. */
export function LaneCanvas({ view, ...props }: CanvasProps & { readonly view: ViewKind }) {
  const { runIndex, lesson, frame, theme, show, header, onHover, onSelect, onSeek } = props;
  const { fontSize = 13 } = props;
  const headerHeight = header === undefined ? 0 : (props.headerHeight ?? 34);
  const artist = useMemo(() => view.artist(lesson, show), [view, lesson, show]);
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const size = useSize(box);
  const pointed = useRef<Mark | null>(null);
  const [tip, setTip] = useState<Tip | null>(null);
  const [said, setSaid] = useState('');
  const dragging = useRef(false);
  const dpr = size?.dpr ?? 1;
  const tiles = useMemo(() => canvasTiles(dpr), [dpr]);

  const draw = useCallback<Draw>(
    (ctx, s) => {
      const drawing = drawingOf({ runIndex, lesson, theme, show }, frame.get(), s);
      const layout = artist.layout(drawing, headerHeight, fontSize);
      artist.draw(ctx, layout, drawing, pointed.current, tiles);
    },
    [artist, runIndex, lesson, frame, theme, show, headerHeight, fontSize, tiles],
  );
  const invalidate = useCanvas(canvas, size, draw, frame.subscribe);

  /** The picture as it is now; null before there is a size. */
  const now = () => {
    if (size === null) return null;
    const drawing = drawingOf({ runIndex, lesson, theme, show }, frame.get(), size);
    return { drawing, layout: artist.layout(drawing, headerHeight, fontSize) };
  };
  const point = (mark: Mark | null, at: { x: number; y: number }) => {
    if (sameMark(pointed.current, mark)) return;
    pointed.current = mark;
    setTip(mark === null ? null : { mark, ...at });
    onHover?.(mark);
    invalidate();
  };
  const at = (event: { clientX: number; clientY: number; currentTarget: HTMLElement }) => {
    const rect = event.currentTarget.getBoundingClientRect();
    return { x: event.clientX - rect.left, y: event.clientY - rect.top };
  };
  const seek = (x: number, y: number): boolean => {
    const picture = now();
    if (picture === null) return false;
    const moment = artist.seek?.(picture.layout, picture.drawing, x, y) ?? null;
    if (moment !== null) onSeek?.(moment);
    return moment !== null;
  };
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const picture = now();
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

  const still = now();
  return (
    <div
      ref={box}
      className="picture"
      role="application"
      aria-label={`${artist.label}. Arrow keys go from mark to mark, Enter opens its records.`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: marks are walked with the arrow keys
      tabIndex={0}
      data-testid="picture"
      style={{ ...fill, overflow: 'hidden' }}
      onKeyDown={onKeyDown}
    >
      <canvas
        ref={canvas}
        style={{ ...fill, cursor: tip === null ? 'default' : 'pointer', touchAction: 'pan-y' }}
        onPointerDown={(event) => {
          const { x, y } = at(event);
          const picture = now();
          if (picture === null || artist.hit(picture.layout, picture.drawing, x, y) !== null)
            return;
          if (!seek(x, y)) return;
          dragging.current = true;
          event.currentTarget.setPointerCapture(event.pointerId);
        }}
        onPointerMove={(event) => {
          const where = at(event);
          if (dragging.current) seek(where.x, where.y);
          else {
            const picture = now();
            if (picture === null) return;
            point(artist.hit(picture.layout, picture.drawing, where.x, where.y), where);
          }
        }}
        onPointerUp={() => {
          dragging.current = false;
        }}
        onPointerLeave={() => point(null, { x: 0, y: 0 })}
        onClick={(event) => {
          const { x, y } = at(event);
          const picture = now();
          const mark = picture && artist.hit(picture.layout, picture.drawing, x, y);
          if (mark) onSelect?.(mark);
        }}
      />
      <p className="hidden-text" aria-live="polite">
        {said}
      </p>
      {header !== undefined &&
        still?.layout.lanes.map((lane) => (
          <div
            key={lane.arm}
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
      {tip !== null && size !== null && still !== null && (
        <div className="mark-tip" style={tipStyle(theme, tip, size, fontSize)}>
          {artist.describe(still.drawing, tip.mark)}
        </div>
      )}
    </div>
  );
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
