// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The strip that shows the complete run of all lanes, with the stage's window in it. A press on the strip moves
 * playback to another moment. The viewer can drag a narrow window.
 */

import {
  type CSSProperties,
  type KeyboardEvent,
  type PointerEvent,
  useCallback,
  useMemo,
  useRef,
} from 'react';
import { t as tr } from '../../base/lang/t.ts';
import type { Theme } from '../../base/theme.ts';
import { axisFlag } from '../../derive/align.ts';
import { frameEnd } from '../../derive/moments.ts';
import { isWait, threadRows } from '../../derive/query.ts';
import { stepNs } from '../../derive/retime.ts';
import type { Frame, LaneIndex, RunIndex, Size } from '../../derive/types.ts';
import { type AxisTick, countTicks, runTicks } from '../axis.ts';
import type { CanvasProps } from '../contract.ts';
import { GestureOverlay } from '../gestures.ts';
import { mix, type Pen } from '../paints.ts';
import type { GestureOptions } from '../time-gestures.tsx';
import { type Draw, useCanvas, useSize } from '../use-canvas.ts';

// Layout of the complete run on one strip. For each lane, bars show the threads' shares of work and waiting. Pure.

export interface Bar {
  readonly x: number;
  readonly w: number;
  /** Shares of the threads' time in this bar, 0 to 1. */
  readonly work: number;
  readonly wait: number;
}

interface Band {
  readonly arm: string;
  readonly title: string;
  readonly top: number;
  readonly height: number;
  readonly bars: readonly Bar[];
  readonly lossXs: readonly number[];
}

interface OverviewLayout {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
  readonly end: number;
  readonly nsPerPx: number;
  readonly bands: readonly Band[];
  readonly window: readonly [number, number];
  readonly momentX: number;
  readonly axisY: number;
  /** A low strip has no axis. An even lower strip also has no titles. */
  readonly axis: boolean;
  readonly titles: boolean;
  /** Short name for the alignment of the lanes. */
  readonly aligned: string;
  /** The x of the aligned moment, px; null if lanes are not shifted. */
  readonly flagX: number | null;
  readonly ticks: readonly AxisTick[];
}

/** Width of the longest lane title at 13 px text, limited so that most of the strip's width remains for the bars. */
function labelWidth(index: RunIndex, titleOf: (arm: string) => string): number {
  const longest = Math.max(0, ...index.lanes.map((lane) => titleOf(lane.arm).length));
  return Math.max(112, Math.min(176, 24 + longest * 6.6));
}

const axisHeight = 20;
/** Minimum height of a lane, px: on a strip with an axis, and on a strip with titles. */
const comfortable = 14;
const least = 12;
/** Width of a tick's label, px. */
const tickPx = 64;

/** The length of a live run is rounded up, because otherwise the strip's scale would change in every frame. */
function lengthOf(index: RunIndex, offset?: Frame['offset']): number {
  const shift = (lane: LaneIndex) => offset?.get(lane.arm) ?? 0;
  const end = Math.max(1e6, ...index.lanes.map((lane) => lane.watermark + shift(lane)));
  if (!index.live) return end;
  const step = 2 ** Math.ceil(Math.log2(end / 1e9 + 0.25)) * 1e9;
  return Math.max(end, step);
}

/** Time by which an arrow key moves. It is at most the window's length, so that nothing is skipped. */
function keyStep(length: number, { span }: Pick<Frame, 'span'>): number {
  return Math.min(length / 200, span);
}

export function layoutOverview(
  index: RunIndex,
  frame: Frame,
  size: Size,
  titleOf: (arm: string) => string,
  operation = 'operation',
): OverviewLayout {
  const lanes = Math.max(1, index.lanes.length);
  const axis = size.height - axisHeight - 4 >= lanes * comfortable;
  const height = size.height - (axis ? axisHeight : 0) - 4;
  const pitch = height / lanes;
  const titles = size.width > 420 && pitch >= least;
  const left = titles ? labelWidth(index, titleOf) : 4;
  const right = size.width - 4;
  const end = lengthOf(index, frame.offset);
  const nsPerPx = end / Math.max(1, right - left);
  const x = (t: number) => left + t / nsPerPx;
  const shiftOf = (lane: LaneIndex) => frame.offset.get(lane.arm) ?? 0;
  const flag = axisFlag(index, frame, operation);
  const bands = index.lanes.map((lane, i) => ({
    arm: lane.arm,
    title: titleOf(lane.arm),
    top: 2 + i * pitch,
    height: Math.max(6, pitch - 4),
    bars: barsOf(index, lane, x(shiftOf(lane)), nsPerPx),
    lossXs: lane.losses.map((loss) => x((loss.t0 + loss.t1) / 2 + shiftOf(lane))),
  }));
  const limit = (px: number) => Math.max(left, Math.min(right, px));
  return {
    left,
    right,
    top: 2,
    bottom: 2 + height,
    end,
    nsPerPx,
    bands,
    window: [limit(x(frame.start)), limit(x(frame.start + frame.span))],
    momentX: limit(x(frame.moment)),
    axisY: axis ? size.height - axisHeight : size.height,
    axis,
    titles,
    aligned: tr('by {words}', { words: flag?.words ?? index.axis?.plural ?? tr('time') }),
    flagX: flag === null ? null : limit(x(flag.t)),
    ticks:
      index.axis === null
        ? runTicks(end, left, right, tickPx)
        : countTicks(end / stepNs, left, right, tickPx),
  };
}

/** Bars at least 3 px wide, from the level-of-detail pyramid of every thread. */
function barsOf(index: RunIndex, lane: LaneIndex, left: number, nsPerPx: number): Bar[] {
  const strands = threadRows(lane).flatMap((row) => lane.strand(row.row, 'state') ?? []);
  const sample = strands[0];
  // On a counting axis, states have no duration, so operations are drawn instead.
  if (sample === undefined || sample.levels.length === 0) return opBars(lane, left, nsPerPx);
  const level =
    sample.levels.findIndex((l) => l.bucketNs >= 3 * nsPerPx) >= 0
      ? sample.levels.findIndex((l) => l.bucketNs >= 3 * nsPerPx)
      : sample.levels.length - 1;
  const finer = Math.max(0, level - 1);
  const { bucketNs, kindOf, kinds } = sample.levels[finer]!;
  const perBar = Math.max(1, Math.ceil((3 * nsPerPx) / bucketNs));
  const buckets = Math.ceil(lane.watermark / bucketNs);
  const isWork = [...kindOf].map((k) => index.kinds[k]?.colour === 'work');
  const waits = [...kindOf].map((k) => isWait(index.kinds[k]));
  const bars: Bar[] = [];
  for (let first = 0; first < buckets; first += perBar) {
    let work = 0;
    let wait = 0;
    for (const strand of strands) {
      const { ns, buckets: known } = strand.levels[finer]!;
      for (let b = first; b < Math.min(first + perBar, known); b++) {
        for (let k = 0; k < kinds; k++) {
          if (isWork[k]) work += ns[b * kinds + k]!;
          else if (waits[k]) wait += ns[b * kinds + k]!;
        }
      }
    }
    const to = Math.min(lane.watermark, (first + perBar) * bucketNs);
    const whole = strands.length * (to - first * bucketNs);
    if (whole <= 0) continue;
    const x = left + (first * bucketNs) / nsPerPx;
    bars.push({ x, w: (to - first * bucketNs) / nsPerPx, work: work / whole, wait: wait / whole });
  }
  return bars;
}

/** One bar per operation, as long as the operation. Bars narrower than 3 px are merged. */
function opBars(lane: LaneIndex, left: number, nsPerPx: number): Bar[] {
  const { order, length } = lane.opsByEnd;
  const bars: Bar[] = [];
  let from = Number.NaN;
  for (let p = 0; p < length; p++) {
    const i = order[p]!;
    if (Number.isNaN(from)) from = lane.ops.t0[i]!;
    const w = (lane.ops.t1[i]! - from) / nsPerPx;
    if (w < 3 && p < length - 1) continue;
    bars.push({ x: left + from / nsPerPx, w: Math.max(2, w - 1), work: 0.7, wait: 0 });
    from = Number.NaN;
  }
  return bars;
}

// Draw the complete run: bars of work and waiting, the window as a bracket, and the moment as a line.

function drawOverview(
  pen: Pen,
  layout: OverviewLayout,
  theme: Theme,
  width: number,
  height: number,
): void {
  pen.globalAlpha = 1;
  pen.clearRect(0, 0, width, height);
  const [x0, x1] = layout.window;
  pen.fillStyle = mix(theme.ink, theme.paper, 0.07);
  pen.fillRect(x0, layout.top - 2, Math.max(3, x1 - x0), layout.bottom - layout.top + 4);
  for (const band of layout.bands) drawBand(pen, layout, band, theme);
  drawBracket(pen, layout, theme);
  pen.fillStyle = theme.ink;
  pen.fillRect(
    Math.round(layout.momentX) - 0.75,
    layout.top - 2,
    1.5,
    layout.bottom - layout.top + 4,
  );
  if (layout.flagX !== null) {
    pen.fillStyle = theme.soft;
    for (let y = layout.top; y < layout.axisY + 4; y += 6)
      pen.fillRect(Math.round(layout.flagX) - 0.5, y, 1, 2);
  }
  if (layout.axis) drawAxis(pen, layout, theme);
}

function drawAxis(pen: Pen, layout: OverviewLayout, theme: Theme): void {
  pen.font = `400 13px ${theme.font}`;
  pen.textBaseline = 'middle';
  pen.fillStyle = theme.soft;
  pen.textAlign = 'right';
  if (layout.titles) pen.fillText(layout.aligned, layout.left - 12, layout.axisY + 12);
  for (const [i, tick] of layout.ticks.entries()) {
    if (tick.x > layout.right - 18 && i > 0) pen.textAlign = 'right';
    else pen.textAlign = i === 0 ? 'left' : 'center';
    pen.fillText(tick.label, tick.x, layout.axisY + 12);
  }
}

function drawBand(pen: Pen, layout: OverviewLayout, band: Band, theme: Theme): void {
  const base = band.top + band.height;
  if (layout.titles) {
    pen.fillStyle = theme.soft;
    pen.font = `400 13px ${theme.font}`;
    pen.textAlign = 'right';
    pen.textBaseline = 'middle';
    pen.fillText(band.title, layout.left - 12, band.top + band.height / 2 + 1);
  }
  pen.fillStyle = theme.rule;
  pen.fillRect(layout.left, base, layout.right - layout.left, 1);
  pen.fillStyle = mix(theme.work, theme.paper, 0.75);
  for (const bar of band.bars) {
    const h = bar.work > 0 ? Math.max(1, bar.work * band.height) : 0;
    pen.fillRect(bar.x, base - h, Math.max(1, bar.w - 0.5), h);
  }
  pen.fillStyle = theme.wait;
  for (const bar of band.bars) {
    const below = bar.work > 0 ? Math.max(1, bar.work * band.height) : 0;
    const h = bar.wait > 0 ? Math.max(1, bar.wait * band.height) : 0;
    pen.fillRect(bar.x, base - below - h, Math.max(1, bar.w - 0.5), h);
  }
  pen.strokeStyle = theme.hazard;
  pen.lineWidth = 1.5;
  pen.beginPath();
  for (const x of band.lossXs) {
    const y = band.top + 4;
    pen.moveTo(x - 3, y - 3);
    pen.lineTo(x + 3, y + 3);
    pen.moveTo(x + 3, y - 3);
    pen.lineTo(x - 3, y + 3);
  }
  pen.stroke();
}

/** Draw the window as a bracket whose feet are wide enough to grab. */
function drawBracket(pen: Pen, layout: OverviewLayout, theme: Theme): void {
  const [x0, wide] = layout.window;
  const x1 = Math.max(wide, x0 + 3);
  const top = layout.top - 2;
  const bottom = layout.bottom + 2;
  pen.fillStyle = theme.soft;
  for (const [x, dir] of [
    [x0, 1],
    [x1, -1],
  ] as const) {
    pen.fillRect(x - (dir > 0 ? 1.5 : 0), top, 1.5, bottom - top);
    pen.fillRect(dir > 0 ? x - 1.5 : x - 3, top, 4.5, 1.5);
    pen.fillRect(dir > 0 ? x - 1.5 : x - 3, bottom - 1.5, 4.5, 1.5);
  }
}

/** A window narrower than this, px, is dragged as a unit, because single moments in it are too small to select. */
const narrowPx = 40;

const fill: CSSProperties = { position: 'absolute', inset: 0, width: '100%', height: '100%' };

export function Overview({
  runIndex,
  lesson,
  frame,
  theme,
  onWindow,
  onView,
  onSeek,
  moment = 0,
  words = '',
}: Pick<CanvasProps, 'runIndex' | 'lesson' | 'frame' | 'theme'> & {
  readonly onWindow: (start: number) => void;
  /** The user zoomed, moved or brushed the window (frame time, ns). */
  readonly onView: (start: number, span: number) => void;
  readonly onSeek: (moment: number) => void;
  /** The moment as text, for screen readers. */
  readonly moment?: number;
  readonly words?: string;
}) {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const size = useSize(box);
  const titleOf = useMemo(() => {
    const titles = new Map(lesson.arms.map((arm) => [arm.name, arm.title]));
    return (arm: string) => titles.get(arm) ?? arm;
  }, [lesson]);
  const draw = useCallback<Draw>(
    (ctx, s) => {
      drawOverview(
        ctx,
        layoutOverview(runIndex, frame.get(), s, titleOf, lesson.operation.name),
        theme,
        s.width,
        s.height,
      );
    },
    [runIndex, lesson, frame, theme, titleOf],
  );
  useCanvas(canvas, size, draw, frame.subscribe);
  /**
   * What the user drags: 'moment', or the window. For the window, the number is the distance from the window's start to
   * the pointer, ns.
   */
  const grip = useRef<number | 'moment' | null>(null);
  const point = (event: PointerEvent<Element>) => {
    if (size === null) return { t: 0, nsPerPx: 1 };
    const { left, nsPerPx } = layoutOverview(runIndex, frame.get(), size, titleOf);
    const rect = event.currentTarget.getBoundingClientRect();
    return { t: (event.clientX - rect.left - left) * nsPerPx, nsPerPx };
  };
  const gestures: GestureOptions = {
    axis: () => {
      if (size === null) return null;
      const { start, span, offset } = frame.get();
      const { left, right, end } = layoutOverview(runIndex, frame.get(), size, titleOf);
      const window = { start, span };
      return { left, right, start: 0, span: end, window, end: frameEnd(runIndex, offset) };
    },
    // A drag on the strip changes the moment, but a drag that starts on a narrow window moves the window.
    drags: () => false,
    onWindow: onView,
    onGesture: (busy) => {
      if (busy) grip.current = null;
    },
  };
  const length = lengthOf(runIndex, frame.get().offset);
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const { moment: now } = frame.get();
    const step = keyStep(length, frame.get());
    const to = { ArrowLeft: now - step, ArrowRight: now + step };
    const at = { ...to, Home: 0, End: length }[event.key];
    if (at === undefined) return;
    onSeek(at);
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div
      ref={box}
      style={fill}
      role="slider"
      tabIndex={0}
      aria-label={tr('Moment in the run, all lanes')}
      aria-valuemin={0}
      aria-valuemax={Math.round(length)}
      aria-valuenow={Math.max(0, Math.min(Math.round(length), Math.round(moment)))}
      aria-valuetext={words}
      data-testid="scrubber"
      onKeyDown={onKeyDown}
    >
      <canvas ref={canvas} style={fill} />
      <GestureOverlay
        size={size}
        gestures={gestures}
        style={{ cursor: 'grab', touchAction: 'none' }}
        onPointerDown={(event) => {
          if (event.shiftKey) return;
          const { t, nsPerPx } = point(event);
          const { start, span } = frame.get();
          const inside = t >= start && t <= start + span;
          grip.current = inside && span / nsPerPx < narrowPx ? t - start : 'moment';
          event.currentTarget.setPointerCapture(event.pointerId);
          if (grip.current === 'moment') onSeek(t);
        }}
        onPointerMove={(event) => {
          const { t } = point(event);
          if (grip.current === 'moment') onSeek(t);
          else if (grip.current !== null) onWindow(t - grip.current);
        }}
        onPointerUp={() => {
          grip.current = null;
        }}
        onPointerCancel={() => {
          grip.current = null;
        }}
      />
    </div>
  );
}
