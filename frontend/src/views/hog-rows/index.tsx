// SPDX-License-Identifier: GPL-2.0-or-later
/** The view of lesson 02: hogs as staves, strips under them, one time axis for all lanes. */

import { type CSSProperties, useCallback, useMemo, useRef, useState } from 'react';
import type { Theme } from '../../base/theme.ts';
import { waitMoments } from '../../derive/moments.ts';
import { rowSentences } from '../../derive/sentences.ts';
import { nearbyOf, summaryOf } from '../../derive/summary.ts';
import type { KindFacts, Mark } from '../../derive/types.ts';
import { canvasTiles } from '../paints.ts';
import type { CanvasProps, Drawing, ViewKind } from '../types.ts';
import { type Draw, useCanvas, useSize } from '../use-canvas.ts';
import { brushRects, paintOf } from './brush.ts';
import { drawPicture } from './draw.ts';
import { layoutScore, preferredHeight } from './layout.ts';
import { hitTest, RectList } from './marks.ts';
import { describeMark, MarkCache, pictureOf, scoreOf } from './picture.ts';
import { stylesFor } from './styles.ts';

const fill: CSSProperties = { position: 'absolute', inset: 0, width: '100%', height: '100%' };

/** Fills its parent, which must be positioned and have a height. */
export function HogRowsCanvas(props: CanvasProps) {
  const { runIndex, lesson, frame, theme, show, header, onHover, onSelect, onSeek } = props;
  const { fontSize = 13 } = props;
  const headerHeight = header === undefined ? null : (props.headerHeight ?? 34);
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const size = useSize(box);
  const cache = useRef(new MarkCache()).current;
  const hovered = useRef<Mark | null>(null);
  const [tip, setTip] = useState<{
    readonly mark: Mark;
    readonly x: number;
    readonly y: number;
  } | null>(null);
  const dpr = size?.dpr ?? 1;
  // A theme change needs new tiles as well: they are keyed by colour, so only the resolution matters.
  const tiles = useMemo(() => canvasTiles(dpr), [dpr]);
  const score = useMemo(
    () => scoreOf(lesson, show, headerHeight, fontSize),
    [lesson, show, headerHeight, fontSize],
  );
  const draw = useCallback<Draw>(
    (ctx, s) => {
      const now = frame.get();
      const { picture, easel } = cache.take(runIndex, now, s, score, hovered.current, theme, tiles);
      drawPicture(ctx, picture, easel);
    },
    [runIndex, frame, score, theme, tiles, cache],
  );
  const invalidate = useCanvas(canvas, size, draw, frame.subscribe);

  const point = (event: { clientX: number; clientY: number; currentTarget: HTMLElement }) => {
    const rect = event.currentTarget.getBoundingClientRect();
    return { x: event.clientX - rect.left, y: event.clientY - rect.top };
  };
  const markAt = (x: number, y: number) =>
    size === null ? null : hitTest(runIndex, layoutScore(runIndex, frame.get(), size, score), x, y);
  const hover = (mark: Mark | null, x: number, y: number) => {
    const old = hovered.current;
    if (old?.id === mark?.id && old?.arm === mark?.arm && old?.kind === mark?.kind) return;
    hovered.current = mark;
    setTip(mark === null ? null : { mark, x, y });
    onHover?.(mark);
    invalidate();
  };
  const seek = (x: number) => {
    if (size === null) return;
    const { left, nsPerPx } = layoutScore(runIndex, frame.get(), size, score);
    onSeek?.(frame.get().start + Math.max(0, x - left) * nsPerPx);
  };
  const dragging = useRef(false);

  const still =
    size === null || header === undefined ? null : layoutScore(runIndex, frame.get(), size, score);
  return (
    <div ref={box} style={{ ...fill, overflow: 'hidden' }}>
      <canvas
        ref={canvas}
        style={{ ...fill, cursor: tip === null ? 'default' : 'pointer', touchAction: 'pan-y' }}
        onPointerDown={(event) => {
          const { x, y } = point(event);
          const layout = size === null ? null : layoutScore(runIndex, frame.get(), size, score);
          if (layout === null || onSeek === undefined) return;
          const atHead = layout.playheadX !== null && Math.abs(x - layout.playheadX) < 6;
          const mark = markAt(x, y);
          if (y > layout.axisY - 6 || y < layout.top || (atHead && mark === null)) {
            dragging.current = true;
            event.currentTarget.setPointerCapture(event.pointerId);
            seek(x);
          }
        }}
        onPointerMove={(event) => {
          const { x, y } = point(event);
          if (dragging.current) seek(x);
          else hover(markAt(x, y), x, y);
        }}
        onPointerUp={() => {
          dragging.current = false;
        }}
        onPointerLeave={() => hover(null, 0, 0)}
        onClick={(event) => {
          const { x, y } = point(event);
          const mark = markAt(x, y);
          if (mark !== null) onSelect?.(mark);
        }}
      />
      {still?.lanes.map((lane) => (
        <div
          key={lane.arm}
          style={{
            position: 'absolute',
            top: lane.top,
            left: still.margin ? still.left : 4,
            right: 14,
            height: lane.headerHeight,
          }}
        >
          {header?.(lane.arm)}
        </div>
      ))}
      {tip !== null && size !== null && (
        <div className="mark-tip" style={tipStyle(theme, tip.x, tip.y, size.width, fontSize)}>
          {describeMark(runIndex, tip.mark, lesson)}
        </div>
      )}
    </div>
  );
}

function tipStyle(
  theme: Theme,
  x: number,
  y: number,
  width: number,
  fontSize: number,
): CSSProperties {
  const right = x > width - 320;
  return {
    position: 'absolute',
    top: y + 16,
    ...(right ? { right: width - x + 8 } : { left: x + 8 }),
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

/** How a kind looks, for legends: painted by the same brush. */
export function KindSwatch({
  kind,
  kinds,
  theme,
  width = 30,
  height = 13,
}: {
  readonly kind: string;
  readonly kinds: readonly KindFacts[];
  readonly theme: Theme;
  readonly width?: number;
  readonly height?: number;
}) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const dpr = Math.min(3, typeof window === 'undefined' ? 1 : window.devicePixelRatio || 1);
  const size = useMemo(() => ({ width, height, dpr }), [width, height, dpr]);
  const draw = useCallback<Draw>(
    (ctx, s) => {
      const style = stylesFor(kinds)[kinds.findIndex((k) => k.name === kind)];
      ctx.clearRect(0, 0, s.width, s.height);
      if (style === undefined) return;
      const list = new RectList(style);
      const low = style.texture === 'bracket' ? 5 : 1;
      list.push(1, 1, s.width - 2, s.height - 1 - low);
      brushRects(ctx, list, paintOf(style, theme, canvasTiles(s.dpr)));
    },
    [kind, kinds, theme],
  );
  useCanvas(canvas, size, draw, null);
  return <canvas ref={canvas} className="kind-swatch" style={{ width, height }} />;
}

export const view: ViewKind = {
  kind: 'hog-rows',
  needs: ['state', 'track', 'ops', 'links'],
  draw(pen, { index, frame, size, lesson, theme, show }: Drawing, tiles) {
    const picture = pictureOf(index, frame, size, scoreOf(lesson, show, null));
    drawPicture(pen, picture, { theme, tiles, stamp: null });
  },
  hitTest({ index, frame, size, lesson, show }, x, y) {
    return hitTest(index, layoutScore(index, frame, size, scoreOf(lesson, show, null)), x, y);
  },
  describe: describeMark,
  summary: (index, frame, lesson) => summaryOf(index, frame, lesson).map((lane) => lane.sentence),
  table: nearbyOf,
  preferredHeight: (index, lesson, show, fontSize) =>
    preferredHeight(index, scoreOf(lesson, show, null, fontSize)),
  sentences: rowSentences,
  moments: waitMoments,
  Canvas: HogRowsCanvas,
};
