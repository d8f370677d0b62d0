// SPDX-License-Identifier: GPL-2.0-or-later
/** How a kind looks, for legends: by the brushes of the picture. */

import { useCallback, useMemo, useRef } from 'react';
import type { SwatchProps } from '../contract.ts';
import { canvasTiles, type Fill, type Pen } from '../paints.ts';
import { type Draw, useCanvas } from '../use-canvas.ts';
import {
  type Box,
  type Brushes,
  brushAccess,
  brushCross,
  brushesFor,
  dashedBox,
  type StateName,
} from './brush.ts';
import type { ByteKind } from './byte-runs.ts';

export function Swatch({ kind, theme, width = 19, height = 17 }: SwatchProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const dpr = Math.min(3, typeof window === 'undefined' ? 1 : window.devicePixelRatio || 1);
  const size = useMemo(() => ({ width, height, dpr }), [width, height, dpr]);
  const tiles = useMemo(() => canvasTiles(dpr), [dpr]);
  const draw = useCallback<Draw>(
    (ctx, s) => {
      ctx.clearRect(0, 0, s.width, s.height);
      const box = { x: 1, y: 2, w: s.width - 3, h: s.height - 4 };
      drawSwatch(ctx, kind, brushesFor(theme, tiles), box);
    },
    [kind, theme, tiles],
  );
  useCanvas(canvas, size, draw, null);
  return <canvas ref={canvas} className="kind-swatch" style={{ width, height }} />;
}

const accesses = ['read', 'write', 'rmw'];

export function drawSwatch(ctx: Pen, kind: string, brushes: Brushes, box: Box): void {
  const { theme } = brushes;
  const { x, y, w, h } = box;
  const bytes = brushes.bytes[kind as ByteKind];
  if (bytes !== undefined) {
    ctx.fillStyle = bytes.fill;
    ctx.fillRect(x, y, w, h);
    dashedBox(ctx, box, bytes.edge, 1, []);
    return;
  }
  if (accesses.includes(kind)) {
    const colour = kind === 'rmw' ? theme.mechanism : theme.work;
    brushAccess(ctx, box, accesses.indexOf(kind), colour, theme.paper);
    return;
  }
  if (kind.startsWith('copy_')) return drawCopy(ctx, kind, brushes, box);
  if (kind === 'transfer' || kind === 'fetch' || kind === 'upgrade') {
    ctx.strokeStyle = brushes.ways[kind];
    ctx.lineWidth = kind === 'upgrade' ? 1.5 : 2;
    ctx.setLineDash(kind === 'upgrade' ? [1.5, 3] : [4, 3]);
    ctx.beginPath();
    ctx.moveTo(x, y + h / 2);
    ctx.lineTo(x + w, y + h / 2);
    ctx.stroke();
    ctx.setLineDash([]);
    return;
  }
  const fills: Readonly<Record<string, Fill>> = {
    by_cas: brushes.bytes.count.fill,
    under_lock: brushes.slow,
    unknown: brushes.fog,
    executed: theme.faint,
  };
  const fill = fills[kind];
  if (fill === undefined) return;
  ctx.fillStyle = fill;
  if (kind !== 'executed') {
    ctx.fillRect(x, y, w, h);
    if (kind !== 'by_cas') return;
    // What the picture has at the height that it reaches.
    ctx.fillStyle = theme.mechanism;
    ctx.fillRect(x, y, w, 2);
    return;
  }
  // Two rows of ticks: two threads of QEMU.
  for (const [i, at] of [0, 3, 9].entries()) ctx.fillRect(x + at, y + (i % 2) * (h / 2), 3, h / 2);
}

function drawCopy(ctx: Pen, kind: string, brushes: Brushes, box: Box): void {
  const { theme } = brushes;
  const name = kind.slice(-1).toUpperCase() as StateName;
  const brush = brushes.states[name];
  ctx.fillStyle = brush.fill;
  ctx.fillRect(box.x, box.y, box.w, box.h);
  dashedBox(ctx, box, brush.edge, name === 'M' ? 2 : 1.25, [3, 2]);
  if (name === 'I') {
    brushCross(ctx, box, theme.hazard);
    return;
  }
  ctx.font = `700 ${Math.max(13, Math.round(box.h * 0.78))}px ${theme.font}`;
  ctx.textAlign = 'center';
  ctx.textBaseline = 'middle';
  ctx.fillStyle = theme.ink;
  ctx.fillText(name, box.x + box.w / 2, box.y + box.h / 2 + 1);
}
