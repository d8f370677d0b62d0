// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The view of one object's bytes in cache lines. If the axis counts accesses, the view shows each CPU's copies and the
 * lines that travel. If the axis is time, the view shows the second act of lesson 05: lockref operations by
 * compare-and-swap and under the lock.
 */

import { t } from '@page/base/lang/t.ts';
import { ns, second } from '@page/base/units.ts';
import { type Finder, type Place, spanOf } from '@page/derive/moments.ts';
import { stepNs } from '@page/derive/retime.ts';
import type { LaneIndex, Mark, RunIndex } from '@page/derive/types.ts';
import type { Kind, Lesson, Scene } from '@page/protocol/lesson.ts';
import type { Artist, Box, Drawing, Laid, SwatchProps, ViewKind } from '@page/views/contract.ts';
import { canvasTiles, type Fill, type Pen, type TileMaker } from '@page/views/paints.ts';
import { type Draw, useCanvas } from '@page/views/use-canvas.ts';
import { useCallback, useMemo, useRef } from 'react';
import { about } from './about.ts';
import { answers, counts, nearby } from './answers.ts';
import { behindBytes } from './behind.ts';
import {
  type Brushes,
  brushAccess,
  brushCross,
  brushesFor,
  dashedBox,
  type StateName,
} from './brush.ts';
import { drawLines } from './draw.ts';
import {
  describeLock,
  drawLock,
  firstMark,
  boxesOf as lockBoxes,
  rowsOf as lockRows,
} from './draw-lock.ts';
import { stepAt, windowOf } from './easel.ts';
import { type ByteKind, structOf } from './fields.ts';
import { heightFor, inside, type LinesLayout, layoutLines, leastHeight } from './layout.ts';
import { type LockLayout, layoutLock, phasesOf } from './lock.ts';
import { describeLines, hotMark, placesOf, rowsOf } from './marks.ts';
import { countedOf, modelKnobs, modelOf, settingsOf, transfersPerStat } from './model.ts';
import { laneNow } from './now.ts';
import { panels } from './panels.tsx';
import { fields } from './toy.ts';
import { sentences, summary } from './words.ts';

// A kind's swatch for the legend, painted as in the picture.

function Swatch({ kind, theme, width = 19, height = 17 }: SwatchProps) {
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
    // Draw a line along the top of the column, as in the picture.
    ctx.fillStyle = theme.mechanism;
    ctx.fillRect(x, y, w, 2);
    return;
  }
  // Draw two rows of ticks, which stand for two threads of QEMU.
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

// Moments of scenes: one complete stat, the time after the cold start, or all phases of a storm.

function stepsFrom(start: number, span: number): Place {
  return { start: ns(start), span, moment: ns(start), follows: false, known: true };
}

/** Accesses per stat, on the lane with the most accesses per stat. */
function perStat(index: RunIndex): number {
  return Math.ceil(Math.max(0, ...index.lanes.map((lane) => countedOf(lane).perOp)));
}

/**
 * Limit that ends the cold start: the transfers per stat so far differ from those of the whole run by at most this
 * share.
 */
const near = 1 / 20;

/**
 * Number of a lane's accesses after which the transfers per stat so far stay close to those of the whole run; 0 if not
 * known.
 */
function warmFrom(lane: LaneIndex, params: RunIndex['params']): number {
  const model = modelOf(lane, settingsOf(params, { params: {} }));
  if (model === null) return 0;
  const { transfers } = model.sums;
  const { perOp } = model.counted;
  const whole = transfersPerStat(model);
  for (let k = model.trace.log.length; k > 0; k--)
    if (Math.abs((transfers[k]! / k) * perOp - whole) > whole * near) return k + 1;
  return 0;
}

/** Latest position at which a step opens, as a share of the run. Near the end of the run, little is left to show. */
const latest = 1 / 2;

/**
 * Return the number of stats in the cold start, after which each CPU has fetched its lines. The minimum is four with
 * one or two CPUs, and ten per CPU with more CPUs.
 */
function warmStats(index: RunIndex, accesses: number): number {
  const cpus = index.params['model_cpus'] ?? 2;
  const least = cpus <= 2 ? 4 : 10 * cpus;
  const from = Math.max(0, ...index.lanes.map((lane) => warmFrom(lane, index.params)));
  const end = Math.min(...index.lanes.map((lane) => countedOf(lane).shown));
  return from > end * latest ? least : Math.max(least, Math.ceil(from / accesses));
}

export const moments: Readonly<Record<string, Finder>> = {
  /** The first two stats, from the very first access. */
  one_stat: (index) => {
    const accesses = perStat(index);
    return accesses === 0 ? null : stepsFrom(0, (2 * accesses + 1) * stepNs);
  },
  /**
   * The end of the cold start: the first fetches have little weight, so the figures so far are close to those of the
   * whole run.
   */
  warm: (index, scene) => {
    const accesses = perStat(index);
    if (accesses === 0) return null;
    const start = accesses * warmStats(index, accesses) * stepNs;
    return stepsFrom(start, spanOf(scene) || 1000 * stepNs);
  },
  /** All phases of a storm, in guest time. Playback begins with the second phase. A still picture shows all phases. */
  phases: (index, scene) => {
    const ends = phasesOf(index).map((phase) => phase.t1);
    const last = Math.max(...ends);
    const known = Math.max(second, ...index.lanes.map((lane) => lane.watermark));
    if (index.lanes.every((lane) => lane.samples('lockref-counts').length < 2)) return null;
    const span = spanOf(scene) || (Number.isFinite(last) ? last : known);
    const place = { ...stepsFrom(0, span), moment: ns(span) };
    // The first phase never changes, so playback of the step begins after that phase.
    const disturbed = phasesOf(index)[1];
    return disturbed === undefined ? place : { ...place, begin: ns(disturbed.t0) };
  },
};

/** The layout of one of the two acts. */
type Picture =
  | (Laid & { readonly act: 'lines'; readonly lines: LinesLayout })
  | (Laid & { readonly act: 'lock'; readonly lock: LockLayout });

/** Number of the object's lines; 1 if the x-ray has not found the object. */
function linesOf(index: RunIndex): number {
  return Math.max(1, ...index.lanes.map((lane) => structOf(lane)?.lines ?? 0));
}

function layout(drawing: Drawing, headerHeight: number, fontSize: number): Picture {
  const { index, size, lesson } = drawing;
  const arms = index.lanes.map((lane) => lane.arm);
  if (index.axis === null) {
    const lock = layoutLock(arms, size, headerHeight, fontSize);
    return { act: 'lock', lanes: lock.lanes, lock };
  }
  const { cpus } = settingsOf(index.params, lesson);
  const lines = layoutLines({ arms, lines: linesOf(index), cpus, size, headerHeight, fontSize });
  return { act: 'lines', lanes: lines.lanes, lines };
}

function least({ index, size, lesson }: Drawing, headerHeight: number, fontSize: number): number {
  if (index.axis === null) return 0;
  const arms = index.lanes.map((lane) => lane.arm);
  const { cpus } = settingsOf(index.params, lesson);
  return leastHeight({ arms, lines: linesOf(index), cpus, size, headerHeight, fontSize });
}

function draw(
  pen: Pen,
  picture: Picture,
  drawing: Drawing,
  pointed: Mark | null,
  tiles: TileMaker,
): void {
  if (picture.act === 'lock') drawLock(pen, picture.lock, drawing, pointed, tiles);
  else drawLines(pen, picture.lines, drawing, pointed, tiles);
}

/** Data that determine the positions of a lane's marks. */
function placesIn(drawing: Drawing, lines: LinesLayout) {
  return lines.lanes.flatMap((laid) => {
    const lane = drawing.index.lanes.find((one) => one.arm === laid.arm);
    return lane === undefined
      ? []
      : [{ layout: lines, laid, drawing, shown: laneNow(drawing, lane) }];
  });
}

function boxes(picture: Picture, drawing: Drawing, mark: Mark): readonly Box[] {
  if (picture.act === 'lock') return lockBoxes(picture.lock, drawing, mark);
  const place = placesIn(drawing, picture.lines).find(({ laid }) => laid.arm === mark.arm);
  return place === undefined ? [] : placesOf(place, mark);
}

/** Return the moment at a point of a strip or chart, to which a click moves the playhead. */
function seek(picture: Picture, drawing: Drawing, x: number, y: number): number | null {
  const { frame } = drawing;
  if (picture.act === 'lock') {
    const laid = picture.lock.lanes.find(({ share, rate }) => y >= share.y && y <= rate.y + rate.h);
    if (laid === undefined || x < laid.share.x) return null;
    return frame.start + ((x - laid.share.x) / laid.share.w) * frame.span;
  }
  for (const place of placesIn(drawing, picture.lines)) {
    const { laid } = place;
    if (!inside(laid.order, x, y) && !inside(laid.executed, x, y)) continue;
    const k = stepAt(place, x);
    const { from, steps } = windowOf(place);
    return k < 0 ? null : frame.start + ((k - from) / steps) * frame.span;
  }
  return null;
}

function describe(index: RunIndex, mark: Mark, lesson: Lesson, drawing?: Drawing): string {
  const lane = index.lanes.find((one) => one.arm === mark.arm);
  if (lane === undefined) return '';
  if (mark.table === 'samples') return describeLock(lane, mark, lesson);
  const frame = drawing?.frame;
  if (frame === undefined) return lesson.kinds[mark.kind]?.title ?? '';
  return describeLines(laneNow({ index, frame, lesson }, lane), mark, lesson);
}

const artist: Artist<Picture> = {
  layout,
  least,
  draw,
  rows: (picture, drawing) =>
    picture.act === 'lock'
      ? lockRows(picture.lock, drawing)
      : placesIn(drawing, picture.lines).flatMap(rowsOf),
  boxes,
  first(picture, drawing) {
    if (picture.act === 'lock') return firstMark(picture.lock, drawing);
    const [place] = placesIn(drawing, picture.lines);
    return place === undefined ? null : hotMark(place);
  },
  seek,
  axis(picture) {
    const share = picture.act === 'lock' ? picture.lock.lanes[0]?.share : undefined;
    return share === undefined ? null : { left: share.x, right: share.x + share.w };
  },
  describe: (drawing, mark) => describe(drawing.index, mark, drawing.lesson, drawing),
  label: t(
    'For each kernel: the bytes of one object in cache lines, and the lines of which each CPU has a copy',
  ),
};

const acts = {
  lines: [
    'name',
    'name_shared',
    'count',
    'chain',
    'plain',
    'read',
    'rmw',
    'copy_m',
    'copy_e',
    'copy_s',
    'copy_i',
    'fetch',
    'transfer',
    'upgrade',
    'executed',
  ],
  lock: ['by_cas', 'under_lock', 'unknown'],
} as const;

/** Kinds that a scene can show: the kinds of its workload's act. */
function legend(lesson: Lesson, scene: Scene): readonly Kind[] {
  const first = Object.keys(lesson.workloads)[0];
  const counts = (lesson.axis?.workloads ?? []).includes(scene.workload ?? first ?? '');
  const wanted: readonly string[] = counts ? acts.lines : acts.lock;
  /**
   * Kinds that do not occur are left out. A single CPU has no shared copies, transfers or upgrades. With more CPUs, the
   * scene opens after the fetches.
   */
  const absent = scene.params['model_cpus'] === 1 ? ['copy_s', 'transfer', 'upgrade'] : ['fetch'];
  return lesson.kinds.filter(({ name }) => wanted.includes(name) && !absent.includes(name));
}

export const view: ViewKind = {
  kind: 'cache-lines',
  about,
  knobs: modelKnobs,
  artist: () => artist,
  behind: behindBytes,
  summary,
  table: nearby,
  preferredHeight(index, _lesson, _show, fontSize = 13) {
    const lanes = Math.max(1, index.lanes.length);
    if (index.axis === null) return lanes * (fontSize * 9 + 330);
    return heightFor(lanes, linesOf(index), fontSize);
  },
  sentences,
  outlines: true,
  moments,
  answers,
  tells: { name_reads: ['counted', 'counts'], predicted_ratio: ['model'] },
  panels,
  counts,
  legend,
  Swatch,
  toys: { fields },
};
