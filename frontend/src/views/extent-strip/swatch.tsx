// SPDX-License-Identifier: GPL-2.0-or-later
/** How a kind looks, for legends: by the brushes of the picture. */

import { useCallback, useMemo, useRef } from 'react';
import type { SwatchProps } from '../contract.ts';
import { canvasTiles, type Pen } from '../paints.ts';
import { type Draw, useCanvas } from '../use-canvas.ts';
import { type Brush, type Brushes, brushBox, brushesFor, drawPlus } from './brush.ts';
import { looks } from './looks.ts';

const letterFor: Readonly<Record<string, string>> = {
  delayed: 'D',
  written: 'W',
  hole: 'H',
  unwritten: 'U',
  vain: 'D',
  spared: 'W',
  freed: 'W',
  asked: 'D',
};

export function Swatch({ kind, theme, width = 17, height = 17 }: SwatchProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const dpr = Math.min(3, typeof window === 'undefined' ? 1 : window.devicePixelRatio || 1);
  const size = useMemo(() => ({ width, height, dpr }), [width, height, dpr]);
  const tiles = useMemo(() => canvasTiles(dpr), [dpr]);
  const draw = useCallback<Draw>(
    (ctx, s) => {
      ctx.clearRect(0, 0, s.width, s.height);
      drawSwatch(ctx, kind, brushesFor(theme, tiles), s.width, s.height);
    },
    [kind, theme, tiles],
  );
  useCanvas(canvas, size, draw, null);
  return <canvas ref={canvas} className="kind-swatch" style={{ width, height }} />;
}

function brushOf(brushes: Brushes, kind: string): Brush {
  const look = looks.find((one) => one === kind);
  if (look !== undefined) return brushes[look];
  if (kind === 'spent_vain' || kind === 'spent_gain') return brushes[kind];
  return kind === 'asked' ? brushes.delayed : brushes.written;
}

export function drawSwatch(
  ctx: Pen,
  kind: string,
  brushes: Brushes,
  width: number,
  height: number,
): void {
  const edge = Math.min(width, height) - 2;
  if (kind === 'thread' || kind === 'scan') {
    ctx.strokeStyle = brushes.mechanism;
    ctx.fillStyle = brushes.mechanism;
    ctx.lineWidth = kind === 'scan' ? 2.5 : 1.25;
    ctx.beginPath();
    if (kind === 'scan') ctx.rect(2, 2, edge - 2, edge - 2);
    else {
      ctx.moveTo(0, height / 2);
      ctx.lineTo(width, height / 2);
    }
    ctx.stroke();
    if (kind === 'scan') return;
    for (const x of [width * 0.25, width * 0.75]) {
      ctx.beginPath();
      ctx.arc(x, height / 2, 2, 0, 7);
      ctx.fill();
    }
    return;
  }
  if (kind === 'spoken_of') return drawSpoken(ctx, brushes, edge);
  const brush = brushOf(brushes, kind);
  brushBox(ctx, brush, [{ x: 1, y: 1 }], kind.startsWith('spent') ? edge * 0.6 : edge, edge);
  if (kind === 'asked') {
    ctx.strokeStyle = brushes.ink;
    ctx.lineWidth = 1.6;
    ctx.strokeRect(1.8, 1.8, edge - 1.6, edge - 1.6);
  }
  if (kind === 'put_back') {
    ctx.fillStyle = brushes.ink;
    drawPlus(ctx, { x: 1, y: 1 }, edge, edge);
  }
  const letter = letterFor[kind];
  if (letter === undefined || brush.letter === null) return;
  ctx.font = `600 ${Math.max(13, Math.round(edge * 0.8))}px ${brushes.mono}`;
  ctx.textAlign = 'center';
  ctx.textBaseline = 'middle';
  ctx.fillStyle = brush.letter;
  ctx.fillText(letter, 1 + edge / 2, 1 + edge / 2 + 0.5);
}

/** A box within the outline that goes round what the sentence speaks of. */
function drawSpoken(ctx: Pen, brushes: Brushes, edge: number): void {
  const inner = edge - 6;
  brushBox(ctx, brushes.written, [{ x: 4, y: 4 }], inner, inner);
  ctx.strokeStyle = brushes.ink;
  ctx.lineWidth = 1.5;
  ctx.setLineDash([5, 3]);
  ctx.strokeRect(1.25, 1.25, edge - 0.5, edge - 0.5);
  ctx.setLineDash([]);
}
