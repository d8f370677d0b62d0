// SPDX-License-Identifier: GPL-2.0-or-later
/** Everything that a function needs to draw a part of a lane. */

import { t } from '@page/base/lang/t.ts';
import { laneTime } from '@page/derive/align.ts';
import { stepNs } from '@page/derive/retime.ts';
import type { Box, Drawing } from '@page/views/contract.ts';
import { fitting, type Pen } from '@page/views/paints.ts';
import { sidesOf, strokeRegion } from '@page/views/region.ts';
import type { Brushes } from './brush.ts';
import { runsOf } from './fields.ts';
import { byteBoxes, type LinesLane, type LinesLayout } from './layout.ts';
import { type LockLane, phasesOf } from './lock.ts';
import { type Access, accessAt, happening, type LaneNow } from './now.ts';

export interface Easel {
  readonly pen: Pen;
  readonly layout: LinesLayout;
  readonly laid: LinesLane;
  readonly drawing: Drawing;
  readonly shown: LaneNow;
  readonly brushes: Brushes;
  /** Opacity of a kind: 1 if the kind is in focus, otherwise less. */
  readonly shade: (kind: string) => number;
}

export function write(
  { pen, layout, drawing }: Pick<Easel, 'pen' | 'layout' | 'drawing'>,
  text: string,
  x: number,
  y: number,
  more: { colour?: string; weight?: number; size?: number; align?: CanvasTextAlign } = {},
): number {
  const { theme } = drawing;
  pen.font = `${more.weight ?? 400} ${more.size ?? layout.fontSize}px ${theme.font}`;
  pen.fillStyle = more.colour ?? theme.soft;
  pen.textAlign = more.align ?? 'left';
  pen.fillText(text, x, y);
  return pen.measureText(text).width;
}

/**
 * Fractions of a step, from 0 to 1, at which a copy starts to travel, at which it has arrived, and at which the access
 * has finished.
 */
export const beats = { leaves: 0.08, comes: 0.7, lit: 0.9 } as const;

/** Progress between two fractions of a step, from 0 to 1, with a slow start and end. */
export function between(part: number, from: number, to: number): number {
  const x = Math.max(0, Math.min(1, (part - from) / (to - from)));
  return x * x * (3 - 2 * x);
}

/**
 * The strips at the bottom of a lane. The upper strip has the accesses in the model's merged order, with one row per
 * CPU. The lower strip has the order in which the accesses were executed, which is not a result.
 */

/** First step and number of steps in the window, on the lane's own axis. */
export function windowOf({ drawing, laid }: Pick<Easel, 'drawing' | 'laid'>): {
  readonly from: number;
  readonly steps: number;
} {
  const { frame } = drawing;
  const start = laneTime(frame.offset, laid.arm, frame.start) / stepNs;
  return { from: Math.max(0, Math.round(start)), steps: Math.max(1, frame.span / stepNs) };
}

/** x position of a step in the strips, px. */
export function stepX(easel: Pick<Easel, 'drawing' | 'laid'>, k: number): number {
  const { from, steps } = windowOf(easel);
  const { x, w } = easel.laid.order;
  return x + ((k - from) / steps) * w;
}

/** The step at an x position in the strips; -1 if the position is outside the strips. */
export function stepAt(easel: Pick<Easel, 'drawing' | 'laid'>, x: number): number {
  const { from, steps } = windowOf(easel);
  const { x: left, w } = easel.laid.order;
  if (x < left || x >= left + w) return -1;
  return from + Math.floor(((x - left) / w) * steps);
}

export function drawOrder(easel: Easel): void {
  const { laid, shown, drawing, pen } = easel;
  const { theme } = drawing;
  frameOf(easel, laid.order);
  frameOf(easel, laid.executed);
  if (shown.model !== null) {
    merged(easel);
    if (laid.executed.h > 0) executed(easel);
  }
  const x = stepX(easel, shown.done + shown.part);
  if (x >= laid.order.x - 1 && x <= laid.order.x + laid.order.w + 1) {
    pen.fillStyle = theme.ink;
    pen.fillRect(x - 0.75, laid.order.y - 3, 1.5, laid.order.h + 6);
  }
}

function frameOf({ pen, drawing }: Easel, { x, y, w, h }: Box): void {
  pen.fillStyle = drawing.theme.sunk;
  pen.fillRect(x, y, w, h);
}

/** Row of a CPU within a strip. */
function rowBox(strip: Box, cpu: number, cpus: number): { readonly y: number; readonly h: number } {
  const pitch = strip.h / cpus;
  return { y: strip.y + cpu * pitch, h: Math.max(1, pitch - (pitch > 4 ? 1 : 0)) };
}

function merged(easel: Easel): void {
  const { laid, shown, pen, drawing, brushes, shade } = easel;
  const model = shown.model!;
  const { cpus } = model.trace.log;
  const { from, steps } = windowOf(easel);
  const wide = Math.max(1, laid.order.w / steps - (steps < laid.order.w / 3 ? 1 : 0));
  const struct = shown.struct;
  const last = Math.min(shown.done, from + Math.ceil(steps));
  for (let k = from; k < last; k++) {
    const access = accessAt(shown.lane, model, k);
    const { y, h } = rowBox(laid.order, access.cpu, cpus);
    const x = stepX(easel, k);
    const role = struct?.fields[struct.fieldAt[access.at] ?? -1]?.role ?? 'plain';
    pen.globalAlpha = shade(['read', 'write', 'rmw'][access.kind] ?? 'read');
    pen.fillStyle = brushes.bytes[role].strong;
    // A read is a low mark, and a write has the full height.
    const high = access.kind === 0 ? Math.max(1, h * 0.5) : h;
    pen.fillRect(x, y + h - high, wide, high);
    pen.globalAlpha = 1;
    const what = happening(access);
    if (what !== 'transfer') continue;
    pen.fillStyle = drawing.theme.wait;
    pen.globalAlpha = shade('transfer');
    dashes(easel, x, y, Math.max(2.5, wide), h * 0.42);
    pen.globalAlpha = 1;
  }
}

/** Draw the mark of a transfer above the access that waits for it: two dashes, or one dash if there is little room. */
function dashes({ pen }: Easel, x: number, y: number, w: number, h: number): void {
  if (h < 4) {
    pen.fillRect(x, y, Math.max(1.5, w), Math.max(1, h));
    return;
  }
  const dash = Math.max(1.5, h / 2 - 1);
  pen.fillRect(x, y, w, dash);
  pen.fillRect(x, y + h - dash, w, dash);
}

/** Draw the accesses in the order in which the host executed them. The height of a mark shows its vCPU. */
function executed(easel: Easel): void {
  const { laid, shown, pen, drawing, shade } = easel;
  const { order, length } = shown.lane.pointsOf('access');
  const { cpu } = shown.lane.points;
  const { from, steps } = windowOf(easel);
  const known = shown.counted.cpus;
  const rows = Math.max(1, known.length);
  const last = Math.min(shown.done, length, from + Math.ceil(steps));
  const wide = Math.max(0.8, laid.executed.w / steps);
  pen.globalAlpha = shade('executed');
  pen.fillStyle = drawing.theme.faint;
  for (let k = from; k < last; k++) {
    const row = known.indexOf(cpu[order[k]!]!);
    if (row < 0) continue;
    const { y, h } = rowBox(laid.executed, row, rows);
    pen.fillRect(stepX(easel, k), y, wide, h);
  }
  pen.globalAlpha = 1;
}

export function orderCaptions(easel: Easel): void {
  const { laid, layout, drawing, shown, pen } = easel;
  const { theme } = drawing;
  const { settings } = shown.model ?? {};
  const by = settings?.schedule === 'timed' ? t('by modelled time') : t('at random');
  const up = layout.fontSize * 1.05;
  const tag = (words: string, y: number, colour: string) =>
    write(easel, words, laid.order.x, y + up, { colour });
  const { cpus } = shown.model?.trace.log ?? { cpus: 0 };
  for (let cpu = 0; cpu < cpus && laid.order.h / cpus >= layout.fontSize; cpu++) {
    const { y, h } = rowBox(laid.order, cpu, cpus);
    const words = t('CPU {cpu}', { cpu });
    write(easel, words, laid.left, y + h / 2 + layout.fontSize * 0.35, { colour: theme.soft });
  }
  const all = t("accesses, in the model's order");
  pen.font = `400 ${layout.fontSize}px ${theme.font}`;
  const room = laid.left + laid.width - laid.order.x;
  const caption = fitting(
    pen,
    [t('{all} ({by})', { all, by }), all, t('accesses, modelled order'), t('modelled order')],
    room,
  );
  tag(caption, laid.captions.order, theme.soft);
  const short = laid.width < layout.fontSize * 46;
  const dismissed = short
    ? t("in the order in which QEMU's threads ran, which is not a result")
    : t(
        "in the order in which QEMU's threads happened to run, which depends on the host and is not a result",
      );
  if (laid.executed.h > 0) tag(dismissed, laid.captions.executed, theme.faint);
}

// Parts of the picture that sentences mention: an access, the bytes that all CPUs write, or a phase of the second act.

/** The current access. If there is none, the last access that has finished. */
export function current(shown: LaneNow): Access | null {
  if (shown.under !== null) return shown.under;
  if (shown.done === 0 || shown.model === null) return null;
  return accessAt(shown.lane, shown.model, shown.done - 1);
}

/** The boxes of a part that a sentence mentions. */
export function placesOf({ layout, laid, shown, drawing }: Easel, name: string): readonly Box[] {
  const { struct } = shown;
  if (name === 'hot') {
    const at = struct?.hot?.at ?? -1;
    const run =
      struct &&
      runsOf(struct)
        .flat()
        .find((one) => at >= one.at && at < one.at + one.size);
    return run ? byteBoxes(layout, laid, run.at, run.size) : [];
  }
  const access = name === 'access' ? current(shown) : null;
  if (access === null) return [];
  const bytes = struct === null ? [] : byteBoxes(layout, laid, access.at, access.size);
  const copy = laid.cards[access.cpu]?.slots[access.line];
  const x = stepX({ drawing, laid }, access.k);
  const { order } = laid;
  const inside = x >= order.x - 1 && x <= order.x + order.w;
  const h = order.h / (shown.model?.trace.log.cpus ?? 1);
  const w = Math.max(4, stepX({ drawing, laid }, access.k + 1) - x);
  const step = inside ? [{ x, y: order.y + access.cpu * h, w, h }] : [];
  return [...bytes, ...(copy === undefined ? [] : [copy]), ...step];
}

export function drawSpoken(easel: Easel): void {
  const { frame, theme } = easel.drawing;
  const mine = frame.regions?.filter(({ arm }) => arm === easel.laid.arm) ?? [];
  for (const { name } of mine)
    strokeRegion(
      easel.pen,
      theme,
      placesOf(easel, name).flatMap((box) => sidesOf(box)),
    );
}

/** Outline the phase that contains the current moment, from the phase's start up to that moment. */
export function drawPhase(
  pen: Pen,
  { arm, share }: LockLane,
  { frame, theme, index }: Drawing,
  x: (t: number) => number,
): void {
  if (!frame.regions?.some((one) => one.arm === arm && one.name === 'phase')) return;
  const now = laneTime(frame.offset, arm, frame.moment);
  const phase = phasesOf(index).findLast(({ t0 }) => t0 <= now);
  if (phase === undefined) return;
  const left = Math.max(share.x, x(phase.t0));
  const right = Math.min(share.x + share.w, x(Math.min(now, phase.t1)));
  if (right - left < 2) return;
  strokeRegion(pen, theme, sidesOf({ x: left, y: share.y, w: right - left, h: share.h }, 1));
}
