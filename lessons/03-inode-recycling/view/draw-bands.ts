// SPDX-License-Identifier: GPL-2.0-or-later
/** Draws the bands on the time axis: process, enlarged inode, all inodes, queue, ticks, grace periods. */

import { firstAtLeast } from '@page/base/columns.ts';
import { t as tr } from '@page/base/lang/t.ts';
import { formatPlaces } from '@page/base/units.ts';
import type { LaneIndex, RunIndex } from '@page/derive/types.ts';
import type { Lesson } from '@page/protocol/lesson.ts';
import { mix, type Pen } from '@page/views/paints.ts';
import { busyAt, drawTicks, type Grid, gridOfTicks } from '@page/views/tick-marks.ts';
import { bar, cross, type Easel, lookOf, say, sayOn, showsReaders, widthOf } from './ink.ts';
import { type Band, type LaneBox, type Layout, pitchIn, xOf } from './layout.ts';
import {
  dangerEnd,
  empty,
  type Graces,
  type Lives,
  livesIn,
  never,
  type Step,
  stepAt,
} from './lives.ts';
import { heroShapes, type Shape, stripShapes, workerShapes } from './shapes.ts';

// The parts of a wait in cond_synchronize_rcu() of 6.1, which checks the cookie only once: the rest of the current
// grace period, the complete next grace period, and the time until the sleeping task runs.

export interface WaitPart {
  readonly t0: number;
  readonly t1: number;
  /** 1: the rest of the current grace period. 2: the complete next grace period. 3: the time until the task runs. */
  readonly nth: 1 | 2 | 3;
}

/** Return the parts of a wait from `t0` to `t1`, in order. Parts that do not occur are left out. */
export function partsOf({ begins, ends }: Graces, t0: number, t1: number): readonly WaitPart[] {
  const inside = [...ends.keys()].filter((i) => ends[i]! > t0 && ends[i]! <= t1);
  const [first] = inside;
  if (first === undefined) return [];
  const parts: WaitPart[] = [];
  const goesOn = begins[first]! < t0;
  if (goesOn) parts.push({ t0, t1: ends[first]!, nth: 1 });
  const own = goesOn ? inside[1] : first;
  if (own === undefined) return parts;
  parts.push({ t0: goesOn ? ends[first]! : t0, t1: ends[own]!, nth: 2 });
  if (t1 > ends[own]!) parts.push({ t0: ends[own]!, t1, nth: 3 });
  return parts;
}

/** Height of the number of a part, px at 13 px text. */
const numberHigh = 12;
/** Half the height of the plate behind a text, px at 13 px text. */
const halfPlate = 8;

/** Return the x range in which a wait has room for words beside the numbers of its parts, px. */
function clearOf(
  { layout, box }: { readonly layout: Layout; readonly box: LaneBox },
  wait: Shape,
  parts: readonly WaitPart[],
  em: number,
): readonly [from: number, to: number] {
  const high = wait.h >= 2 * (numberHigh + halfPlate) * em || wait.h < numberHigh * em;
  if (parts.length === 0 || high) return [wait.x0, wait.x1];
  const spaces = parts.map(({ t0, t1 }): readonly [number, number] => [
    Math.max(xOf(layout, box, t0), layout.left) + numberHigh * em,
    Math.min(xOf(layout, box, t1), layout.revealX),
  ]);
  return spaces.toSorted(([a, b], [c, d]) => d - c - (b - a))[0]!;
}

/** Draw a line between successive parts of a wait, and a number in each part that is wide enough. */
function drawParts(
  pen: Pen,
  { layout, box }: { readonly layout: Layout; readonly box: LaneBox },
  wait: Shape,
  parts: readonly WaitPart[],
  easel: Easel,
): void {
  const { theme, em } = easel;
  const room = numberHigh * em;
  if (wait.h < room || wait.mark.t1 === never) return;
  for (const { t0, t1, nth } of parts) {
    const [x0, x1] = [xOf(layout, box, t0), xOf(layout, box, t1)];
    if (x1 < layout.left || x0 > layout.revealX) continue;
    if (nth > 1) {
      pen.fillStyle = theme.ink;
      pen.fillRect(Math.round(x0) - 1, wait.y, 2, wait.h);
    }
    // Keep the number away from the line, so that the numbers of a short part and of the next part stay apart.
    const x = Math.max(x0, layout.left) + (nth > 1 ? 3 : 0);
    const wide = Math.min(room - 3, x1 - x - 3);
    if (wide < room * 0.55) continue;
    pen.fillStyle = theme.ink;
    pen.fillRect(x, wait.y + wait.h - room, wide, room);
    const y = wait.y + wait.h - room / 2 + 0.5;
    say(pen, easel, String(nth), x + wide / 2, y, 'center', theme.paper, 600);
  }
}

export interface Scene {
  /** Names of the parts of the picture that the step shows; undefined for all parts. */
  readonly show?: readonly string[] | undefined;
  readonly index: RunIndex;
  readonly layout: Layout;
  readonly box: LaneBox;
  readonly lesson: Lesson;
}

/** Opacity of marks that are not in the step's focus. */
export const mutedness = 0.45;

function strength(easel: Easel, kind: string): number {
  return easel.focus.size === 0 || easel.focus.has(kind) || kind === 'early' ? 1 : mutedness;
}

function paint(pen: Pen, shapes: readonly Shape[], easel: Easel): void {
  for (const shape of shapes) {
    pen.globalAlpha = strength(easel, shape.kind);
    const look = lookOf(shape.kind, easel.theme, easel.tiles);
    if (shape.kind === 'runnable') {
      pen.fillStyle = look.narrow;
      const middle = Math.round(shape.y + shape.h / 2);
      pen.fillRect(shape.x0, middle - 1, Math.max(1, shape.x1 - shape.x0), 2);
    } else bar(pen, look, shape.x0, shape.y, shape.x1, shape.h);
  }
  pen.globalAlpha = 1;
}

/** Write the longest name of a shape that fits between x `from` and x `to`. */
function name(
  pen: Pen,
  shape: Shape,
  layout: Layout,
  easel: Easel,
  plate: boolean,
  from = shape.x0,
  to = shape.x1,
): void {
  if (shape.h < 13 * easel.em) return;
  const x0 = Math.max(from, layout.left);
  // A name that begins before the playhead must end there. A name after the playhead is drawn over the veil.
  const known = x0 + 9 < layout.revealX ? layout.revealX : layout.right;
  const room = Math.min(to, layout.right, known) - x0 - 18;
  const words = shape.words.find((one) => widthOf(pen, easel, one, 500) <= room);
  if (words === undefined) return;
  const y = shape.y + shape.h / 2 + 0.5;
  if (x0 + 9 >= layout.revealX && easel.late) {
    easel.late.push(() => say(pen, easel, words, x0 + 9, y, 'left', easel.theme.soft, 500));
    return;
  }
  const { ink } = lookOf(shape.kind, easel.theme, easel.tiles);
  if (plate) sayOn(pen, easel, words, x0 + 10, y, 'left', ink, 500);
  else say(pen, easel, words, x0 + 9, y, 'left', ink, 500);
}

export function drawThread(pen: Pen, scene: Scene, band: Band, easel: Easel): void {
  const shapes = stripShapes(scene, 'state', band);
  paint(pen, shapes, easel);
}

/** Draw the ends of grace periods as thin lines through a band, because shadows end there. */
function graceLines(pen: Pen, { layout, box }: Scene, band: Band, easel: Easel): void {
  pen.fillStyle = mix(easel.theme.mechanism, easel.theme.paper, 0.4);
  const { ends } = box.lives.graces;
  const from = firstAtLeast(ends.length, (i) => ends[i]!, box.t0);
  for (let i = from; i < ends.length; i++) {
    const x = xOf(layout, box, ends[i]!);
    if (x > layout.right) break;
    pen.fillRect(Math.round(x), band.top - 2, 1, band.height + 4);
  }
}

export function drawHero(pen: Pen, scene: Scene, band: Band, easel: Easel): void {
  const { layout } = scene;
  graceLines(pen, scene, band, easel);
  const shapes = heroShapes(scene, band);
  paint(pen, shapes.shadows, easel);
  const walks = scene.show?.includes('walker') ?? false;
  for (const shape of walks ? [] : shapes.shadows) {
    const over = shapes.dangers.find(
      (one) => one.y === shape.y && one.x1 > shape.x0 && one.x0 < shape.x1,
    );
    name(pen, shape, layout, easel, true, shape.x0, over?.x0 ?? shape.x1);
  }
  paint(pen, shapes.states, easel);
  for (const shape of shapes.states) {
    const crossed = shapes.dangers.some((one) => Math.abs(one.x0 - shape.x0) < 1);
    const parts = shape.kind === 'wait_gp' ? wholeParts(scene, shape) : [];
    drawParts(pen, scene, shape, parts, easel);
    const [from, to] = clearOf(scene, shape, parts, easel.em);
    const aside = crossed ? 9 * easel.em : 0;
    name(pen, shape, layout, easel, shape.kind === 'wait_gp', from + aside, to);
  }
  paint(pen, shapes.dangers, easel);
  const { theme, em } = easel;
  for (const shape of shapes.dangers) {
    if (!walks) name(pen, shape, layout, easel, true);
    // A line connects the new file above with the previous shadow below.
    pen.fillStyle = theme.hazard;
    pen.fillRect(Math.round(shape.x0) - 1, shapes.lifeTop, 2, shape.y + shape.h - shapes.lifeTop);
    const r = Math.min(6 * em, shapes.lifeHeight * 0.26);
    const y = shapes.lifeTop + shapes.lifeHeight / 2;
    pen.fillStyle = theme.paper;
    pen.beginPath();
    pen.arc(shape.x0, y, r + 3, 0, 7);
    pen.fill();
    cross(pen, shape.x0, y, r, theme.hazard, 2.5);
  }
  if (walks) drawWalkers(pen, shapes.walkers, layout, easel);
  for (const shape of shapes.safe) {
    pen.fillStyle = theme.gain;
    pen.fillRect(Math.round(shape.x0 + 3) - 1.5, shape.y - 1, 3, shape.h + 2);
  }
}

function wholeParts({ box }: Scene, { mark }: Shape) {
  return mark.t1 === never ? [] : partsOf(box.lives.graces, mark.t0, mark.t1);
}

/** Draw the modelled readers. Only the longest line in view gets a name. */
function drawWalkers(pen: Pen, shapes: readonly Shape[], layout: Layout, easel: Easel): void {
  const seen = (shape: Shape) =>
    Math.min(shape.x1, layout.revealX) - Math.max(shape.x0, layout.left);
  for (const shape of shapes) drawWalker(pen, shape, layout, easel);
  const longest = shapes.toSorted((a, b) => seen(b) - seen(a))[0];
  if (longest === undefined) return;
  const to = Math.min(longest.x1, layout.revealX);
  name(pen, longest, layout, easel, true, longest.x0 + 10 * easel.em, to);
}

/** Draw a modelled reader as a dashed line, because the run had no such reader. */
function drawWalker(pen: Pen, shape: Shape, layout: Layout, easel: Easel): void {
  const { theme, em } = easel;
  const y = Math.round(shape.y + shape.h * 0.5);
  pen.strokeStyle = theme.ink;
  pen.lineWidth = 2;
  pen.setLineDash([6, 4]);
  pen.beginPath();
  pen.moveTo(Math.max(shape.x0, layout.left), y);
  pen.lineTo(Math.min(shape.x1, layout.right), y);
  pen.stroke();
  pen.setLineDash([]);
  for (const x of [shape.x0, shape.x1]) {
    pen.beginPath();
    pen.arc(x, y, 4 * em, 0, 7);
    pen.fillStyle = theme.paper;
    pen.fill();
    pen.stroke();
  }
}

/** Draw a thin row for each inode. The row shows when the inode is alive, queued, in its shadow, or reused early. */
export function drawWeave(pen: Pen, scene: Scene, band: Band, easel: Easel): void {
  const { layout, box } = scene;
  const { theme } = easel;
  const pitch = pitchIn(band, box.rows.length);
  const h = pitch >= 4 ? pitch - 1 : pitch;
  const rects: Record<Layer, number[]> = { shadow: [], queued: [], alive: [], early: [] };
  const end = box.t0 + (layout.right - layout.left) * layout.nsPerPx;
  const add = (layer: Layer, t0: number, t1: number, y: number) => {
    const to = Math.min(t1, box.lane.watermark);
    if (t0 >= to || t0 > end || to < box.t0) return;
    const x0 = xOf(layout, box, t0);
    rects[layer].push(x0, y, Math.max(0.75, xOf(layout, box, to) - x0), h);
  };
  box.rows.forEach((ino, row) => {
    const y = band.top + row * pitch;
    for (const life of livesIn(box.lives, ino, box.t0, end)) {
      if (life.born > end || (life.next < box.t0 && life.shadowEnd < box.t0)) continue;
      add('alive', life.born, life.queued, y);
      add('queued', life.queued, Math.min(life.inactivated, life.next), y);
      // The shadow is drawn until the next file gets the inode. From then on, `early` marks the rest of the shadow.
      add('shadow', life.queued, Math.min(life.shadowEnd, life.next), y);
      if (life.early) add('early', life.born, Math.min(dangerEnd(life), life.queued), y);
    }
  });
  for (const layer of layers) {
    // The colour of queued inodes is translucent, so that the shadow under it is visible.
    pen.globalAlpha = layer === 'queued' ? 0.75 * strength(easel, 'alive') : strength(easel, layer);
    pen.fillStyle = lookOf(layer, theme, easel.tiles).narrow;
    const at = rects[layer];
    for (let i = 0; i < at.length; i += 4) pen.fillRect(at[i]!, at[i + 1]!, at[i + 2]!, at[i + 3]!);
  }
  pen.globalAlpha = 1;
}

type Layer = 'shadow' | 'queued' | 'alive' | 'early';
const layers: readonly Layer[] = ['shadow', 'queued', 'alive', 'early'];

/**
 * Parts of the queue band. The queue is above the worker's strip; the inodes that the worker has taken are below the
 * strip.
 */
export function queueParts({ deepest: longest, em }: Layout, box: LaneBox, band: Band) {
  const strip = Math.round(9 * em);
  const deepest = Math.max(longest, 40);
  const nears = deepest > box.limit * 0.35;
  const full = nears ? Math.max(deepest, box.limit) * 1.08 : deepest * 1.25;
  const up = (band.height - strip) * 0.64;
  const stripTop = band.top + up;
  return { stripTop, strip, up, down: band.height - up - strip, full, limitInView: nears };
}

export function drawQueue(pen: Pen, scene: Scene, band: Band, easel: Easel): void {
  const { layout, box } = scene;
  const { theme, tiles } = easel;
  const parts = queueParts(layout, box, band);
  const queue = box.queues.cpus.find((one) => one.cpu === band.cpu);
  const px = parts.up / parts.full;
  const rcu = lookOf('rcu', theme, tiles).wide;
  const list = lookOf('listed', theme, tiles).narrow;
  const hands = lookOf('taken', theme, tiles).narrow;
  if (queue !== undefined) {
    const from = firstAtLeast(queue.steps.length, (i) => queue.steps[i]!.t, box.t0);
    let last: Step = stepAt(queue, box.t0);
    let x = layout.left;
    const column = (to: number) => {
      const w = to - x;
      if (w <= 0) return;
      pen.fillStyle = list;
      pen.fillRect(x, parts.stripTop - last.list * px, w, last.list * px);
      if (last.rcu > 0) {
        pen.fillStyle = rcu;
        pen.fillRect(x, parts.stripTop - (last.list + last.rcu) * px, w, last.rcu * px);
      }
      pen.fillStyle = hands;
      const deep = Math.min(parts.down, Math.max(0, last.hands) * px);
      pen.fillRect(x, parts.stripTop + parts.strip, w, deep);
      x = to;
    };
    for (let i = from; i <= queue.steps.length; i++) {
      const step = queue.steps[i];
      const to = Math.min(layout.right, xOf(layout, box, step?.t ?? box.lane.watermark));
      column(to);
      if (step === undefined || to >= layout.right) break;
      last = step;
    }
  }
  pen.fillStyle = theme.rule;
  pen.fillRect(layout.left, parts.stripTop, layout.right - layout.left, parts.strip);
  paint(pen, workerShapes(scene, band, parts.stripTop, parts.strip), easel);
  if (parts.limitInView) drawLimit(pen, scene, parts.stripTop - box.limit * px, easel);
}

function drawLimit(pen: Pen, { layout, box }: Scene, y: number, easel: Easel): void {
  pen.fillStyle = easel.theme.soft;
  for (let x = layout.left; x < layout.right; x += 9) pen.fillRect(x, Math.round(y), 6, 1.5);
  const words = tr('backlog limit {limit}', { limit: box.limit });
  const at = y + 11 * easel.em;
  // The words are drawn late, because the limit's line continues after the playhead and after the end of the run.
  easel.late?.push(() => sayOn(pen, easel, words, layout.right - 8, at, 'right', easel.theme.soft));
}

/** Draw the batches and waits of a worker in a band of their own, without the queue. */
export function drawWorker(pen: Pen, scene: Scene, band: Band, easel: Easel): void {
  const { layout } = scene;
  pen.fillStyle = mix(easel.theme.rule, easel.theme.paper, 0.6);
  const middle = Math.round(band.top + band.height / 2);
  pen.fillRect(layout.left, middle, layout.right - layout.left, 1);
  paint(pen, workerShapes(scene, band, band.top + 1, band.height - 2), easel);
}

export function queueAt(box: LaneBox, cpu: number): Step {
  const queue = box.queues.cpus.find((one) => one.cpu === cpu);
  return queue === undefined ? empty : stepAt(queue, box.now);
}

export function drawGrace(pen: Pen, scene: Scene, band: Band, easel: Easel): void {
  const shapes = stripShapes(scene, 'track', band);
  const periods = shapes.filter(({ kind }) => kind === 'gp');
  paint(pen, periods, easel);
  graceLines(pen, scene, band, easel);
  for (const shape of periods) {
    const words = shape.mark.t1 === never ? [] : [lengthWords(shape)];
    name(pen, { ...shape, words }, scene.layout, easel, false);
  }
  if (!showsReaders(scene.show)) return;
  // `may_read` marks the first part of each grace period, so it is drawn on top of the grace periods.
  paint(
    pen,
    shapes.filter(({ kind }) => kind === 'may_read'),
    easel,
  );
}

function lengthWords(shape: Shape): string {
  return `${formatPlaces((shape.mark.t1 - shape.mark.t0) / 1e6, 1)} ms`;
}

// The ticks of a lane. Grace periods end at ticks, because each CPU waits for a tick before it reports that its readers
// have left.

const known = new WeakMap<Lives, { readonly startNs: number | null; readonly grid: Grid | null }>();

/**
 * Return the times of a lane's ticks. Return null if the ticks are unknown, because the recording has no time of the
 * guest's clock and too few ends of grace periods.
 */
export function gridOf(
  lives: Lives,
  every: number,
  { startNs }: Pick<LaneIndex, 'startNs'>,
): Grid | null {
  const before = known.get(lives);
  if (before?.startNs === startNs) return before.grid;
  const ends = [...lives.graces.ends].filter((t) => t < never).slice(-256);
  const grid = gridOfTicks(startNs, ends, every);
  known.set(lives, { startNs, grid });
  return grid;
}

export function drawTickBand(pen: Pen, { index, layout, box }: Scene, band: Band, easel: Easel) {
  const grid = gridOf(box.lives, index.tickNs, box.lane);
  if (grid === null) return;
  const { ends } = box.lives.graces;
  const from = box.t0;
  const to = from + (layout.right - layout.left) * layout.nsPerPx;
  const first = firstAtLeast(ends.length, (i) => ends[i]!, from - grid.every);
  pen.fillStyle = easel.theme.mechanism;
  const { top, height } = band;
  const x = (t: number) => xOf(layout, box, t);
  const busy = (t: number) => busyAt(index, box.lane, t);
  const place = { from, to, x, top, height, alpha: () => 1, busy };
  drawTicks(pen, grid, ends.subarray(first), place);
}
