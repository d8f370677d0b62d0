// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The view of lesson 04: a file's entries as boxes with letters, one strip per kernel. The axis counts visited entries.
 */

import { t } from '@page/base/lang/t.ts';
import { formatCount } from '@page/base/units.ts';
import type { LaneIndex, RunIndex } from '@page/derive/types.ts';
import type { Kind, Lesson, Scene } from '@page/protocol/lesson.ts';
import type { Artist, Drawing, SwatchProps, ViewKind } from '@page/views/contract.ts';
import { canvasTiles, type Pen } from '@page/views/paints.ts';
import { type Draw, useCanvas } from '@page/views/use-canvas.ts';
import { useCallback, useMemo, useRef } from 'react';
import { about } from './about.ts';
import { type Brush, type Brushes, brushBox, brushesFor, drawPlus, drawStrip } from './draw.ts';
import { layoutStrip, type StripLayout } from './layout.ts';
import { behindBox, boxesOf, describe, firstMark, looks, rowsOf } from './marks.ts';
import { panels } from './panels.tsx';
import { blocksOf, factsOf, letterOf } from './replay.ts';
import { budget } from './toy.ts';
import { answers, counts, nearby, sentences, summary } from './words.ts';

// Describes one visit in words: which block, what the entry is, and what the scan did with it.

const letters = [
  t('of unknown kind'),
  t('delayed'),
  t('written'),
  t('a hole'),
  t('unwritten'),
] as const;
const fates = [t('kept'), t('spared'), t('freed')] as const;

function entryWords({ points }: LaneIndex, i: number): string {
  const block = formatCount(points.b[i]!);
  return t('block {block}, {letter}, {fate}', {
    block,
    letter: letters[letterOf(points.d[i]!)],
    fate: fates[points.e[i]!] ?? fates[0],
  });
}

// A swatch of a kind for the legend, painted as in the picture.

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

function Swatch({ kind, theme, width = 17, height = 17 }: SwatchProps) {
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

/** Draw a box with a dashed outline. The outline marks entries that a sentence mentions. */
function drawSpoken(ctx: Pen, brushes: Brushes, edge: number): void {
  const inner = edge - 6;
  brushBox(ctx, brushes.written, [{ x: 4, y: 4 }], inner, inner);
  ctx.strokeStyle = brushes.ink;
  ctx.lineWidth = 1.5;
  ctx.setLineDash([5, 3]);
  ctx.strokeRect(1.25, 1.25, edge - 0.5, edge - 0.5);
  ctx.setLineDash([]);
}

function layout(drawing: Drawing, headerHeight: number, fontSize: number): StripLayout {
  const { index, size } = drawing;
  const arms = index.lanes.map((lane) => lane.arm);
  const boxes = blocksOf(index).length;
  return layoutStrip({ arms, boxes, budget: budgetOf(index), size, headerHeight, fontSize });
}

/** Return the largest budget of a scan on any lane. */
function budgetOf(index: RunIndex): number {
  return Math.max(0, ...index.lanes.map((lane) => factsOf(lane).budget));
}

const artist: Artist<StripLayout> = {
  layout,
  draw: (ctx, laid, drawing, pointed, tiles) => drawStrip(ctx, laid, drawing, pointed, tiles),
  rows: rowsOf,
  boxes: (laid, { lesson }, mark) => boxesOf(laid, lesson, mark),
  first: firstMark,
  describe: (drawing, mark) => describe(drawing.index, mark, drawing.lesson),
  label: t('The entries of one file as boxes, with one strip per kernel'),
};

/** Sentences whose entries are outlined in the picture. */
const outlining: ReadonlySet<string> = new Set(
  'one_scan each_scan first_gain charged price promise reader'.split(' '),
);

/** Return the kinds that a scene may show: letters, what a scan does to entries, and kinds of this scene. */
function legend(lesson: Lesson, scene: Scene): readonly Kind[] {
  const seek = (scene.params['seek'] ?? 0) > 0;
  // In a scene with knobs, viewers can set `hot`, so spared entries may appear.
  const hot = (scene.params['hot'] ?? 0) > 0 || scene.show.includes('knobs');
  const after = lesson.arms.filter((arm) => arm.role === 'after').map((arm) => arm.name);
  const list = scene.arms.length > 1 && scene.arms.some((arm) => after.includes(arm));
  const wanted = new Set(['scan', 'delayed', 'written', 'vain', 'freed', 'gone']);
  if (seek) for (const name of ['hole', 'asked']) wanted.add(name);
  if (hot) wanted.add('spared');
  if (list) wanted.add('thread');
  // In scenes that scan until nothing is left, lookups put entries back.
  if ((list && !scene.show.includes('hold')) || seek) wanted.add('put_back');
  if (outlining.has(scene.sentence)) wanted.add('spoken_of');
  return lesson.kinds.filter((kind) => wanted.has(kind.name));
}

export const view: ViewKind = {
  kind: 'extent-strip',
  about,
  artist: () => artist,
  behind: behindBox,
  entryWords,
  summary,
  table: nearby,
  preferredHeight(index, _lesson, _show, fontSize = 13) {
    const lanes = Math.max(1, index.lanes.length);
    // A single lane has room for 32 boxes in a row, which is the budget of one scan.
    const [columns, cell] = lanes === 1 ? [32, 24] : [56, 17];
    const rows = Math.min(24, Math.max(4, Math.ceil(blocksOf(index).length / columns)));
    return lanes * (34 + rows * cell + fontSize * 2 + 26);
  },
  // This height leaves room for 16 boxes in a row, and for the budget with three lines of words.
  narrowHeight: (index) =>
    index.lanes.length === 1
      ? 34 + Math.min(24, Math.max(4, Math.ceil(blocksOf(index).length / 32))) * 12 + 110
      : null,
  sentences,
  outlines: true,
  answers,
  panels,
  counts,
  legend,
  Swatch,
  toys: { budget },
};
