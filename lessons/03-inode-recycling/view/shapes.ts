// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Lives, shadows, queues and the worker as shapes in a lane's bands. The shapes that are drawn are also those that a
 * pointer can hit.
 */

import { firstAtLeast } from '@page/base/columns.ts';
import { t as tr } from '@page/base/lang/t.ts';
import { spansIn } from '@page/derive/query.ts';
import type { Mark, RunIndex } from '@page/derive/types.ts';
import { markOf as markOfSpan } from './describe.ts';
import { type Band, type LaneBox, type Layout, processesOf, xOf } from './layout.ts';
import {
  type Batch,
  dangerEnd,
  type GraceWait,
  Intervals,
  type Life,
  never,
  type Queues,
} from './lives.ts';

// Finds by bisection which items of a lane are in the window, or in the requested part of the window.

export interface At {
  readonly index: RunIndex;
  readonly layout: Layout;
  readonly box: LaneBox;
  /** The requested times of the lane, first and last; undefined for the whole window. */
  readonly near?: readonly [number, number];
}

/** Return the window in the lane's own time. */
function windowOf({ box, layout }: At): readonly [number, number] {
  return [box.t0, box.t0 + (layout.right - layout.left) * layout.nsPerPx];
}

/** Return the requested part of the window in the lane's own time. */
function askedOf(at: At): readonly [number, number] {
  const [a, b] = windowOf(at);
  return at.near === undefined ? [a, b] : [Math.max(a, at.near[0]), Math.min(b, at.near[1])];
}

const lifeIntervals = new WeakMap<readonly Life[], Intervals<Life>>();

/** Return the lives of an inode that overlap the window, each with its index among the inode's lives. */
function* livesIn(at: At, ino: number): Generator<readonly [Life, number]> {
  const list = at.box.lives.byIno.get(ino) ?? [];
  let intervals = lifeIntervals.get(list);
  if (intervals === undefined) {
    const end = (life: Life) => Math.max(life.next, life.shadowEnd, dangerEnd(life));
    intervals = new Intervals(list, (life) => life.born, end);
    lifeIntervals.set(list, intervals);
  }
  const [a, b] = windowOf(at);
  const { from, to } = intervals.near(...askedOf(at));
  for (let nth = from; nth < to; nth++) {
    const life = list[nth]!;
    if (life.born < b && (life.next >= a || life.shadowEnd >= a)) yield [life, nth];
  }
}

/** The batches and waits of a CPU's worker, sorted by their start. */
interface WorkerIntervals {
  readonly batches: readonly Batch[];
  readonly waits: readonly GraceWait[];
  readonly ofBatches: Intervals<Batch>;
  readonly ofWaits: Intervals<GraceWait>;
}

const workers = new WeakMap<Queues, Map<number, WorkerIntervals>>();

function workerIntervals({ queues, lives }: LaneBox, cpu: number): WorkerIntervals {
  const ofCpu = workers.get(queues) ?? new Map<number, WorkerIntervals>();
  workers.set(queues, ofCpu);
  let found = ofCpu.get(cpu);
  if (found === undefined) {
    const batches = queues.batches.filter((batch) => batch.cpu === cpu);
    const waits = lives.waits.filter((wait) => wait.worker && wait.cpu === cpu);
    const [from, to] = [(one: { t0: number }) => one.t0, (one: { t1: number }) => one.t1] as const;
    const ofBatches = new Intervals<Batch>(batches, from, to);
    found = { batches, waits, ofBatches, ofWaits: new Intervals<GraceWait>(waits, from, to) };
    ofCpu.set(cpu, found);
  }
  return found;
}

/** Return the batches and waits of a CPU's worker that may overlap the requested part. */
function workerIn(at: At, cpu: number): Pick<WorkerIntervals, 'batches' | 'waits'> {
  const { batches, waits, ofBatches, ofWaits } = workerIntervals(at.box, cpu);
  const [a, b] = askedOf(at);
  const [done, waited] = [ofBatches.near(a, b), ofWaits.near(a, b)];
  return { batches: batches.slice(done.from, done.to), waits: waits.slice(waited.from, waited.to) };
}

export interface Shape {
  readonly kind: string;
  readonly x0: number;
  readonly x1: number;
  readonly y: number;
  readonly h: number;
  readonly mark: Mark;
  /** Names from long to short. The first name that fits is written on the shape. */
  readonly words: readonly string[];
}

const shadowRows = 3;

function markOf(at: At, kind: string, id: number, row: number, t0: number, t1: number): Mark {
  return markOfSpan({ index: at.index, lane: at.box.lane }, kind, id, row, t0, t1);
}

function span(at: At, t0: number, t1: number): readonly [number, number] {
  const end = Math.min(t1, at.box.lane.watermark);
  return [xOf(at.layout, at.box, t0), xOf(at.layout, at.box, end)];
}

/** Return the states of a life, in order: alive, queued, free, and the wait of the next create. */
export function statesOf(at: At, life: Life, y: number, h: number): Shape[] {
  const shapes: Shape[] = [];
  const add = (kind: string, id: number, t0: number, t1: number, words: readonly string[]) => {
    if (!(t0 < t1) || t0 === never || t0 > at.box.lane.watermark) return;
    const [x0, x1] = span(at, t0, t1);
    if (x1 < at.layout.left || x0 > at.layout.right) return;
    const mark = markOf(at, kind, id, life.ino, t0, t1);
    shapes.push({ kind, x0, x1, y, h, mark, words });
  };
  add('alive', life.bornId, life.born, life.queued, [tr('alive: has a file'), tr('a file')]);
  add('queued', life.queuedId, life.queued, Math.min(life.inactivated, life.next), [
    tr('queued for the worker'),
    tr('queued'),
  ]);
  const until = life.waitFrom < life.next ? life.waitFrom : life.next;
  add('free', life.queuedId, life.inactivated, until, [tr('free for the next file'), tr('free')]);
  if (life.waitFrom < never)
    add('wait_gp', life.nextId, life.waitFrom, life.next, [
      tr('the create waits for readers'),
      tr('create waits'),
    ]);
  return shapes;
}

/** Return the shadow of a life. Successive shadows are on different rows, so that overlapping shadows stay apart. */
export function shadowOf(at: At, life: Life, nth: number, top: number, h: number): Shape | null {
  if (life.queued === never || life.queued > at.box.lane.watermark) return null;
  const [x0, x1] = span(at, life.queued, life.shadowEnd);
  if (x1 < at.layout.left || x0 > at.layout.right) return null;
  const pitch = h / shadowRows;
  const y = top + (nth % shadowRows) * pitch;
  const mark = markOf(at, 'shadow', life.queuedId, life.ino, life.queued, life.shadowEnd);
  const words = [tr('an old reader may still look'), tr('old reader?')];
  return { kind: 'shadow', x0, x1, y: y + 1, h: pitch - 2, mark, words };
}

/** Return the time in which a new file and old readers share the inode. */
export function dangerOf(at: At, life: Life, nth: number, top: number, h: number): Shape | null {
  if (!life.early) return null;
  const [x0, x1] = span(at, life.born, dangerEnd(life));
  if (x1 < at.layout.left || x0 > at.layout.right) return null;
  const pitch = h / shadowRows;
  const y = top + ((nth - 1 + shadowRows) % shadowRows) * pitch;
  const mark = markOf(at, 'early', life.bornId, life.ino, life.born, dangerEnd(life));
  return {
    kind: 'early',
    x0,
    x1,
    y: y + 1,
    h: pitch - 2,
    mark,
    words: [tr('an old reader would look at the new file'), tr('looks at the new file')],
  };
}

export interface HeroShapes {
  readonly states: readonly Shape[];
  readonly shadows: readonly Shape[];
  readonly dangers: readonly Shape[];
  /** Starts of lives that began after the previous life's shadow had ended. */
  readonly safe: readonly Shape[];
  /** Readers that could have existed, from before the release to the end of the shadow. */
  readonly walkers: readonly Shape[];
  readonly lifeTop: number;
  readonly lifeHeight: number;
  readonly shadowTop: number;
}

/** Return the shapes of the enlarged inode. */
export function heroShapes(at: At, band: Band): HeroShapes {
  const { box } = at;
  const lifeHeight = Math.round(band.height * 0.4);
  const shadowTop = band.top + lifeHeight + 4;
  const shadowHeight = band.top + band.height - shadowTop;
  const found = {
    states: [] as Shape[],
    shadows: [] as Shape[],
    dangers: [] as Shape[],
    safe: [] as Shape[],
    walkers: [] as Shape[],
  };
  for (const [life, nth] of box.hero === null ? [] : livesIn(at, box.hero)) {
    found.states.push(...statesOf(at, life, band.top, lifeHeight));
    const shadow = shadowOf(at, life, nth, shadowTop, shadowHeight);
    if (shadow !== null) found.shadows.push(shadow);
    const walker = shadow === null || life.next === never ? null : walkerOf(at, life, shadow);
    if (walker !== null) found.walkers.push(walker);
    const danger = dangerOf(at, life, nth, shadowTop, shadowHeight);
    if (danger !== null) found.dangers.push(danger);
    const safe = safeOf(at, life, band.top, lifeHeight);
    if (safe !== null) found.safe.push(safe);
  }
  return { ...found, lifeTop: band.top, lifeHeight, shadowTop };
}

/** A modelled reader begins before the release, by a fifth of this share of the window. */
const before = 0.12;

/** Return a modelled reader. It found the inode shortly before the release, and it walks as long as RCU allows. */
function walkerOf(at: At, life: Life, shadow: Shape): Shape | null {
  const t0 = Math.max(
    life.born,
    life.queued - (at.layout.right - at.layout.left) * at.layout.nsPerPx * before * 0.2,
  );
  if (!Number.isFinite(t0) || life.shadowEnd === never) return null;
  const [x0, x1] = span(at, t0, life.shadowEnd);
  const mark = markOf(at, 'walker', life.queuedId, life.ino, t0, life.shadowEnd);
  const words = [tr('a reader that could have been there')];
  return { kind: 'walker', x0, x1, y: shadow.y, h: shadow.h, mark, words };
}

/** Return a mark at the start of a life that began after the end of the previous shadow. */
function safeOf(at: At, life: Life, y: number, h: number): Shape | null {
  if (life.early || life.before === null || life.before.shadowEnd > life.born) return null;
  const x = xOf(at.layout, at.box, life.born);
  if (x < at.layout.left || x > at.layout.right) return null;
  const mark = markOf(at, 'reuse', life.bornId, life.ino, life.born, life.born);
  return { kind: 'reuse', x0: x - 3, x1: x + 3, y, h, mark, words: [] };
}

/** Return the shapes of a CPU's worker. */
export function workerShapes(at: At, band: Band, y: number, h: number): Shape[] {
  const shapes: Shape[] = [];
  const [begin, end] = windowOf(at);
  const add = (kind: string, id: number, t0: number, t1: number) => {
    if (t0 > end || t1 < begin) return;
    const [x0, x1] = span(at, t0, t1);
    const mark = markOf(at, kind, id, band.cpu, t0, t1);
    shapes.push({ kind, x0, x1: Math.max(x1, x0 + 1), y, h, mark, words: [] });
  };
  const { batches, waits } = workerIn(at, band.cpu);
  for (const { id, t0, t1 } of batches) add('batch', id, t0, t1);
  for (const { id, t0, t1 } of waits) add('worker_wait', id, t0, t1);
  return shapes;
}

/** The kind of the time from the start of a grace period until the CPU passes a point without readers. */
const readersKind = 'may_read';
/** Least width of a span of this kind, px. The span lasts only microseconds, but explains the grace period. */
const leastReaders = 4;

function severalCpus({ clock, params }: At['index']): boolean {
  return clock === 'wall' && (params['vcpus'] ?? 1) > 1;
}

/** Tell whether a grace period ends at t. If a span also ends at t, no `cpuqs` event ended the span. */
function endsPeriod({ box }: At, t: number): boolean {
  const { ends } = box.lives.graces;
  return ends[firstAtLeast(ends.length, (i) => ends[i]!, t)] === t;
}

/** Return a layer's spans in the window as shapes of a strip. Processes share the strip's height. */
export function stripShapes(at: At, layer: 'state' | 'track', band: Band): Shape[] {
  const { index, box, layout } = at;
  const shapes: Shape[] = [];
  const rows = layer === 'state' ? processesOf(box.lane).map((row) => row.row) : [];
  const h = (band.height - 2) / Math.max(1, rows.length);
  for (const found of spansIn(box.lane, layer, ...askedOf(at))) {
    const kind = index.kinds[found.kind];
    if (kind === undefined) continue;
    const readers = kind.name === readersKind;
    // The span ends when the first CPU reports, so with several CPUs the span would mean nothing.
    if (readers && (severalCpus(index) || endsPeriod(at, found.t1))) continue;
    const x0 = xOf(layout, box, found.t0);
    const x1 = Math.max(xOf(layout, box, found.t1), readers ? x0 + leastReaders * layout.em : x0);
    const mark: Mark = {
      ...{ arm: box.arm, table: 'spans' as const, id: found.id, row: found.row },
      ...{ kind: found.kind, t0: found.t0, t1: found.t1 },
      ...(found.open ? { open: true } : {}),
    };
    const y = band.top + 1 + Math.max(0, rows.indexOf(found.row)) * h;
    shapes.push({ kind: kind.name, x0, x1, y, h, mark, words: [] });
  }
  return shapes;
}
