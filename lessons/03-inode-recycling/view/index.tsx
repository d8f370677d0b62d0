// SPDX-License-Identifier: GPL-2.0-or-later
/** The view of lesson 03: one enlarged inode, all inodes as rows and as cells, the queues, and the grace periods. */

import { t } from '@page/base/lang/t.ts';
import type { Artist, Drawing, SwatchProps, ViewKind } from '@page/views/contract.ts';
import { curvePanel } from '@page/views/curve-panel.tsx';
import { canvasTiles, type TileMaker } from '@page/views/paints.ts';
import { brushTick } from '@page/views/tick-marks.ts';
import { type Draw, useCanvas } from '@page/views/use-canvas.ts';
import { useCallback, useMemo, useRef } from 'react';
import { about } from './about.ts';
import { behindInode, describe } from './describe.ts';
import { drawAll } from './draw.ts';
import { mutedness } from './draw-bands.ts';
import { bar, cross, type Easel, legend, lookOf } from './ink.ts';
import { type Layout, layoutOf, leastHeight, naturalHeight } from './layout.ts';
import { moments } from './moments.ts';
import { boxesOf, cellOf, firstMark, rowsOf } from './point.ts';
import { SweepPanel } from './sweep.tsx';
import { walker } from './toy.ts';
import { answers, counts, sentences, summary, table } from './words.ts';

function easelOf({ theme, frame }: Drawing, fontSize: number, tiles: TileMaker): Easel {
  return { theme, tiles, em: fontSize / 13, focus: frame.focus };
}

const artist: Artist<Layout> = {
  layout: layoutOf,
  least: (drawing, headerHeight, fontSize) =>
    leastHeight(
      layoutOf({ ...drawing, size: { ...drawing.size, height: 0 } }, headerHeight, fontSize),
    ),
  draw: (ctx, layout, drawing, pointed, tiles) =>
    drawAll(ctx, layout, drawing, pointed, easelOf(drawing, layout.fontSize, tiles)),
  rows: (layout, { index }) => rowsOf(index, layout),
  boxes(layout, { index }, mark) {
    const cell = cellOf(index, layout, mark);
    const at = cell && { x: cell.x, y: cell.y, w: cell.side, h: cell.side };
    return [...boxesOf(index, layout, mark), ...(at ? [at] : [])];
  },
  first: (layout, { index }) => firstMark(index, layout),
  seek: (layout, { frame }, x, y) => {
    if (x < layout.left - 6 || x > layout.right + 6 || y < layout.top) return null;
    return frame.start + (x - layout.left) * layout.nsPerPx;
  },
  axis: ({ left, right }) => ({ left, right }),
  describe: ({ index, lesson }, mark) => describe(index, mark, lesson),
  label: t(
    'Lives of inodes on a time axis, with the shadow that each inode leaves until its grace period ends',
  ),
};

/** A swatch of a kind for the legend, painted as in the picture. */
function Swatch({ kind, theme, width = 30, height = 13 }: SwatchProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const dpr = Math.min(3, typeof window === 'undefined' ? 1 : window.devicePixelRatio || 1);
  const size = useMemo(() => ({ width, height, dpr }), [width, height, dpr]);
  const draw = useCallback<Draw>(
    (ctx, s) => {
      ctx.clearRect(0, 0, s.width, s.height);
      const look = lookOf(kind, theme, canvasTiles(s.dpr));
      const middle = s.height / 2;
      if (kind === 'reuse') {
        ctx.fillStyle = theme.gain;
        ctx.fillRect(s.width / 2 - 1.5, 0, 3, s.height);
      } else if (kind === 'tick' || kind === 'tick_ended') {
        ctx.fillStyle = theme.mechanism;
        brushTick(ctx, kind === 'tick_ended', s.width / 2, 1, s.height - 2);
      } else if (kind === 'walker') {
        ctx.strokeStyle = theme.ink;
        ctx.lineWidth = 2;
        ctx.setLineDash([6, 4]);
        ctx.beginPath();
        ctx.moveTo(1, middle);
        ctx.lineTo(s.width - 1, middle);
        ctx.stroke();
        ctx.setLineDash([]);
      } else if (kind === 'runnable') {
        ctx.fillStyle = look.narrow;
        ctx.fillRect(1, middle - 1, s.width - 2, 2);
      } else bar(ctx, look, 1, 1, s.width - 1, s.height - 2);
      if (kind === 'early') {
        ctx.fillStyle = theme.paper;
        ctx.beginPath();
        ctx.arc(s.width / 2, middle, 6, 0, 7);
        ctx.fill();
        cross(ctx, s.width / 2, middle, 4, theme.hazard, 2);
      }
    },
    [kind, theme],
  );
  useCanvas(canvas, size, draw, null);
  return <canvas ref={canvas} className="kind-swatch" style={{ width, height }} />;
}

export const view: ViewKind = {
  kind: 'inode-flow',
  about,
  artist: () => artist,
  behind: behindInode,
  summary,
  table,
  // With more than three lanes, the layout can leave out the grace periods, so a lower height is enough.
  leastShare: (lanes) => (lanes > 3 ? 0.4 : 0.62),
  preferredHeight: (index, lesson, show, fontSize = 13) =>
    naturalHeight(index, lesson, show, Math.round((34 * fontSize) / 13), fontSize),
  sentences,
  outlines: true,
  moments,
  answers,
  counts,
  legend,
  mutes: mutedness,
  toys: { walker },
  panels: {
    sweep: {
      title: t('Files per second against batch size'),
      evidence: 'counted',
      Body: SweepPanel,
    },
    scale: curvePanel('scale', t('Files a second, by the number of processes that remove files')),
  },
  Swatch,
};
