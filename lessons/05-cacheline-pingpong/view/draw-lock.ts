// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Draws the second act: lockref operations over time, in three phases. One chart has the shares by compare-and-swap and
 * under the lock, the other chart has the rate.
 */

import { t, t as tr } from '@page/base/lang/t.ts';
import { formatCount, formatNs, ns, second } from '@page/base/units.ts';
import { laneTime } from '@page/derive/align.ts';
import type { LaneIndex, Mark } from '@page/derive/types.ts';
import { armTitle, capital } from '@page/derive/words.ts';
import { kindNumber, type Lesson } from '@page/protocol/lesson.ts';
import { msTicks } from '@page/views/axis.ts';
import type { Box, Drawing, Row } from '@page/views/contract.ts';
import { fitting, type Pen, type TileMaker } from '@page/views/paints.ts';
import { bisector } from 'd3-array';
import { type Brushes, brushesFor, dashedBox } from './brush.ts';
import { noPath } from './counted.ts';
import { drawPhase } from './easel.ts';
import {
  type Interval,
  intervalsOf,
  type LockLane,
  type LockLayout,
  type Phase,
  pathFigures,
  phasesOf,
  rateHeight,
  rateOf,
  shareIn,
  slowShare,
} from './lock.ts';

interface Easel {
  readonly pen: Pen;
  readonly laid: LockLane;
  readonly drawing: Drawing;
  readonly lane: LaneIndex;
  readonly brushes: Brushes;
  readonly fontSize: number;
  /** The current moment on the lane's axis. */
  readonly now: number;
  readonly x: (t: number) => number;
}

export const phaseWords: Readonly<Record<Phase['name'], string>> = {
  before: tr('no task lists the directory'),
  listing: tr('a task lists the directory'),
  after: tr('no task lists the directory any more'),
};

const phaseShort: Readonly<Record<Phase['name'], string>> = {
  before: 'nobody',
  listing: 'listed',
  after: 'nobody',
};

export function drawLock(
  pen: Pen,
  layout: LockLayout,
  drawing: Drawing,
  pointed: Mark | null,
  tiles: TileMaker,
): void {
  const { size, frame, theme } = drawing;
  pen.clearRect(0, 0, size.width, size.height);
  const brushes = brushesFor(theme, tiles);
  for (const laid of layout.lanes) {
    const lane = drawing.index.lanes.find((one) => one.arm === laid.arm);
    if (lane === undefined) continue;
    const now = laneTime(frame.offset, lane.arm, frame.moment);
    const x = timeScale(laid, drawing);
    pen.save();
    pen.textBaseline = 'alphabetic';
    const easel = { pen, laid, drawing, lane, brushes, fontSize: layout.fontSize, now, x };
    drawLane(easel);
    drawPhase(pen, laid, drawing, x);
    for (const mark of [frame.selection, pointed]) {
      if (mark?.arm !== laid.arm) continue;
      for (const { x: left, y, w, h } of boxesOf(layout, drawing, mark)) {
        const rim = { x: left - 1, y: y - 2, w: w + 2, h: h + 2 };
        dashedBox(pen, rim, theme.ink, 1.5, []);
      }
    }
    pen.restore();
  }
}

/** Convert a lane's guest time to px. */
export function timeScale(laid: LockLane, { frame }: Drawing): (t: number) => number {
  const start = laneTime(frame.offset, laid.arm, frame.start);
  return (t) => laid.share.x + ((t - start) / Math.max(1, frame.span)) * laid.share.w;
}

function drawLane(easel: Easel): void {
  const { pen, laid, drawing, lane, now, x } = easel;
  const { theme } = drawing;
  headline(easel);
  axes(easel);
  phases(easel);
  const intervals = intervalsOf(lane);
  if (intervals.length === 0) {
    text(
      easel,
      noPath(lane) ?? tr("The kernel's counters were read only once, so no rate can be computed."),
      laid.share.x + 8,
      laid.share.y + 28,
    );
    return;
  }
  columns(easel);
  rates(easel);
  const at = x(now);
  const { share, rate } = laid;
  if (at >= share.x && at <= share.x + share.w) {
    pen.fillStyle = theme.ink;
    pen.fillRect(at - 0.75, share.y - 4, 1.5, rate.y + rate.h - share.y + 8);
  }
}

function text(
  { pen, drawing, fontSize }: Easel,
  words: string,
  x: number,
  y: number,
  more: { colour?: string; weight?: number; size?: number; align?: CanvasTextAlign } = {},
): number {
  pen.font = `${more.weight ?? 400} ${more.size ?? fontSize}px ${drawing.theme.font}`;
  pen.fillStyle = more.colour ?? drawing.theme.soft;
  pen.textAlign = more.align ?? 'left';
  pen.fillText(words, x, y);
  return pen.measureText(words).width;
}

/** Draw the headline: "In the last 250 ms: 0 % under the lock, 41,200 operations a second." */
function headline(easel: Easel): void {
  const { laid, drawing, lane, now, fontSize } = easel;
  const { theme } = drawing;
  const recent = shareIn(intervalsOf(lane), now - second / 4, now, now);
  const slow = slowShare(recent);
  const rate = rateOf(recent);
  const big = Math.round(fontSize * 1.45);
  const y = laid.headlineY + big;
  const narrow = drawing.size.width < fontSize * 44;
  let at = text(easel, narrow ? tr('last 250 ms:') : tr('In the last 250 ms:'), 0, y) + 9;
  const [words, per] = pathFigures(lane, 'recent', '', slow, rate);
  at += text(easel, words, at, y, { size: big, weight: 700, colour: theme.ink }) + 7;
  at += text(easel, tr('under the lock'), at, y, { weight: 600, colour: theme.ink }) + 22;
  // If the headline has no room for the rate, only the rate's chart shows it.
  easel.pen.font = `700 ${big}px ${theme.font}`;
  const rest = at + easel.pen.measureText(per).width + 7;
  easel.pen.font = `400 ${fontSize}px ${theme.font}`;
  const room = drawing.size.width - rest;
  const noun = fitting(easel.pen, [tr('operations per second'), tr('per second')], room);
  if (easel.pen.measureText(noun).width > room) return;
  text(easel, per, at, y, { size: big, weight: 700, colour: theme.ink });
  at = rest + text(easel, noun, rest, y);
  if (drawing.size.width > fontSize * 62)
    text(easel, tr(', counted in a traced run, so no verdict'), at, y);
}

function axes(easel: Easel): void {
  const { pen, laid, drawing, fontSize } = easel;
  const { theme, frame } = drawing;
  const { share, rate } = laid;
  pen.fillStyle = theme.sunk;
  pen.fillRect(share.x, share.y, share.w, share.h);
  pen.fillRect(rate.x, rate.y, rate.w, rate.h);
  for (const part of [0, 0.5, 1]) {
    const y = share.y + share.h * (1 - part);
    text(easel, `${part * 100} %`, share.x - 8, y + fontSize * 0.35, { align: 'right' });
  }
  text(easel, tr('operations, by how they were done'), share.x, share.y - fontSize * 0.5, {
    colour: theme.soft,
  });
  text(easel, tr('operations per second'), rate.x, rate.y - fontSize * 0.5);
  for (const per of [1, 100, 10_000, 1_000_000]) {
    const y = rate.y + rate.h * (1 - rateHeight(per));
    pen.fillStyle = theme.rule;
    pen.fillRect(rate.x, Math.round(y), rate.w, 1);
    text(easel, formatCount(per), rate.x - 8, y + fontSize * 0.35, { align: 'right' });
  }
  const window = { start: frame.start, span: frame.span, left: share.x, right: share.x + share.w };
  for (const tick of msTicks(window, fontSize * 6)) {
    pen.fillStyle = theme.staff;
    pen.fillRect(Math.round(tick.x), rate.y + rate.h, 1, 5);
    if (tick.x < rate.x + rate.w - fontSize)
      text(
        easel,
        frame.span >= second ? formatNs(tick.t) : `${tick.label} ms`,
        tick.x,
        rate.y + rate.h + fontSize * 1.5,
        { align: 'center' },
      );
  }
}

function phases(easel: Easel): void {
  const { pen, laid, drawing, fontSize, x, now } = easel;
  const { theme, index } = drawing;
  const { share, rate } = laid;
  const right = share.x + share.w;
  const y = share.y - fontSize * 1.95;
  for (const phase of phasesOf(index)) {
    const [a, b] = [Math.max(share.x, x(phase.t0)), Math.min(right, x(phase.t1))];
    if (b <= a) continue;
    const on = now >= phase.t0 && now < phase.t1;
    pen.fillStyle = phase.name === 'listing' ? theme.ink : theme.staff;
    pen.fillRect(a + 1, y + 4, b - a - 2, phase.name === 'listing' ? 3 : 2);
    if (phase.t0 > 0) {
      pen.strokeStyle = theme.faint;
      pen.lineWidth = 1;
      pen.setLineDash([3, 4]);
      pen.beginPath();
      pen.moveTo(Math.round(a) + 0.5, y + 4);
      pen.lineTo(Math.round(a) + 0.5, rate.y + rate.h);
      pen.stroke();
      pen.setLineDash([]);
    }
    const weight = on ? 650 : 400;
    pen.font = `${weight} ${fontSize}px ${theme.font}`;
    text(
      easel,
      fitting(pen, [phaseWords[phase.name], phaseShort[phase.name]], b - a - 6),
      a + 4,
      y,
      {
        weight,
        colour: on ? theme.ink : theme.soft,
      },
    );
  }
}

/**
 * Draw a column for each interval between two samples. Its lower part is the share by compare-and-swap, its upper part
 * the share under the lock.
 */
function columns(easel: Easel): void {
  const { pen, laid, drawing, lane, brushes, x, now } = easel;
  const { theme, frame } = drawing;
  const shade = (kind: string) => (frame.focus.size > 0 && !frame.focus.has(kind) ? 0.35 : 1);
  const { share } = laid;
  const right = share.x + share.w;
  for (const one of intervalsOf(lane)) {
    if (one.t1 > now) break;
    const [a, b] = [Math.max(share.x, x(one.t0)), Math.min(right, x(one.t1))];
    if (b <= a) continue;
    const slow = slowShare(one);
    if (slow === null) {
      pen.fillStyle = brushes.fog;
      pen.fillRect(a, share.y, b - a, share.h);
      continue;
    }
    const wide = Math.max(1, b - a - (b - a > 4 ? 1 : 0));
    const high = share.h * slow;
    pen.globalAlpha = shade('by_cas');
    pen.fillStyle = brushes.bytes.count.fill;
    pen.fillRect(a, share.y + high, wide, share.h - high);
    pen.fillStyle = theme.mechanism;
    if (share.h - high > 1) pen.fillRect(a, share.y + high, wide, Math.min(2, share.h - high));
    pen.globalAlpha = shade('under_lock');
    pen.fillStyle = wide >= 6 ? brushes.slow : theme.wait;
    if (high > 0) pen.fillRect(a, share.y, wide, Math.max(1, high));
    pen.globalAlpha = 1;
  }
}

function rates(easel: Easel): void {
  const { pen, laid, drawing, lane, x, now } = easel;
  const { rate } = laid;
  pen.strokeStyle = drawing.theme.ink;
  pen.lineWidth = 1.75;
  pen.beginPath();
  let open = false;
  for (const one of intervalsOf(lane)) {
    if (one.t1 > now) break;
    const [a, b] = [x(one.t0), x(one.t1)];
    if (b < rate.x || a > rate.x + rate.w) continue;
    const per = rateOf({ ...one, over: one.t1 - one.t0 }) ?? 0;
    const y = rate.y + rate.h * (1 - rateHeight(per));
    if (open) pen.lineTo(Math.max(rate.x, a), y);
    else pen.moveTo(Math.max(rate.x, a), y);
    pen.lineTo(Math.min(rate.x + rate.w, b), y);
    open = true;
  }
  if (open) pen.stroke();
}

// The marks of the second act, which are columns of its charts.

export type LockKind = 'by_cas' | 'under_lock';

export function intervalMark(
  lane: LaneIndex,
  lesson: Pick<Lesson, 'kinds'>,
  row: number,
  kind: LockKind,
): Mark | null {
  const one = intervalsOf(lane)[row];
  if (one === undefined) return null;
  const times = { t0: ns(one.t0), t1: ns(one.t1) };
  return {
    arm: lane.arm,
    table: 'samples',
    id: row + 1,
    row,
    kind: kindNumber(lesson, kind),
    ...times,
  };
}

/**
 * Return three rows per lane: operations under the lock, operations by compare-and-swap, and rates. A mark in the row
 * of rates has the kind `under_lock` if at least half of the operations took the lock, otherwise `by_cas`.
 */
export function rowsOf(layout: LockLayout, drawing: Drawing): readonly Row[] {
  const { lesson, index, frame } = drawing;
  return layout.lanes.flatMap((laid): Row[] => {
    const lane = index.lanes.find((one) => one.arm === laid.arm);
    if (lane === undefined) return [];
    const { arm, share, rate } = laid;
    const x = timeScale(laid, drawing);
    const now = laneTime(frame.offset, arm, frame.moment);
    const all = intervalsOf(lane);
    const known = bisector((one: Interval) => one.t1).right(all, now);
    const ends = bisector((one: Interval) => x(one.t1));
    const row = (
      area: Box,
      kind: (slow: number) => LockKind,
      part: (slow: number) => Pick<Box, 'y' | 'h'>,
      pointerOnly = false,
    ): Row => ({
      ...{ arm, area },
      items(x0, x1) {
        const from = ends.left(all, x0, 0, known);
        const to = Math.min(known, ends.right(all, x1, from, known) + 1);
        return all.slice(from, to).flatMap((one, i) => {
          const slow = slowShare(one) ?? 0;
          const mark = intervalMark(lane, lesson, from + i, kind(slow));
          const box = { x: x(one.t0), w: x(one.t1) - x(one.t0), ...part(slow) };
          return mark === null ? [] : [{ mark, box, pointerOnly }];
        });
      },
    });
    const foot = share.y + share.h;
    const below = { ...share, y: foot, h: rate.y + rate.h - foot };
    return [
      row(
        share,
        () => 'under_lock',
        (slow) => ({ y: share.y, h: share.h * slow }),
      ),
      row(
        share,
        () => 'by_cas',
        (slow) => ({ y: foot - share.h * (1 - slow), h: share.h * (1 - slow) }),
      ),
      row(
        below,
        (slow) => (slow >= 0.5 ? 'under_lock' : 'by_cas'),
        () => below,
        true,
      ),
    ];
  });
}

/** The mark of the first lane's newest column. */
export function firstMark(layout: LockLayout, drawing: Drawing): Mark | null {
  const lane = drawing.index.lanes.find(({ arm }) => arm === layout.lanes[0]?.arm);
  if (lane === undefined) return null;
  const now = laneTime(drawing.frame.offset, lane.arm, drawing.frame.moment);
  const last = intervalsOf(lane).findLastIndex(({ t1 }) => t1 <= now);
  return intervalMark(lane, drawing.lesson, last, 'under_lock');
}

/** Box of an interval's column, which extends through both charts. */
export function boxesOf(layout: LockLayout, drawing: Drawing, mark: Mark): readonly Box[] {
  const laid = layout.lanes.find((one) => one.arm === mark.arm);
  if (laid === undefined || mark.table !== 'samples') return [];
  const x = timeScale(laid, drawing);
  const { share, rate } = laid;
  const box = { x: x(mark.t0), y: share.y, w: x(mark.t1) - x(mark.t0) };
  return [{ ...box, h: rate.y + rate.h - share.y }];
}

export function describeLock(lane: LaneIndex, mark: Mark, lesson: Lesson): string {
  const one = intervalsOf(lane)[mark.row];
  if (one === undefined) return '';
  const slow = slowShare(one);
  const where = t('{name}, {t0} to {t1}', {
    name: capital(armTitle(lesson, lane)),
    t0: formatNs(one.t0),
    t1: formatNs(one.t1),
  });
  if (slow === null) return t('{where}: no operation ended.', { where });
  const [share, rate] = pathFigures(
    lane,
    'mark',
    `in interval ${mark.row}`,
    slow,
    rateOf({ ...one, over: one.t1 - one.t0 }) ?? 0,
  );
  const [fast, under] = [formatCount(one.fast), formatCount(one.slow)];
  return t(
    '{where}: {fast} by compare-and-swap, {under} under the lock ({share}); {rate} per second.',
    { where, fast, under, share, rate },
  );
}
