// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The timeline's look for this lesson. A function is marked only in steps whose focus contains its kind. Extra lines
 * below the rows of threads show reclaim's walks, the ticks that end delays, and the work of SRCU's worker.
 */

import { firstAbove, firstAtLeast } from '@page/base/columns.ts';
import { t as tr } from '@page/base/lang/t.ts';
import { formatFigure, formatNs } from '@page/base/units.ts';
import { figure } from '@page/derive/figures.ts';
import {
  laneOf,
  opsUpTo,
  perVersion,
  type SpanRecord,
  spanAt,
  spansIn,
  threadRows,
} from '@page/derive/query.ts';
import type { LaneIndex, Mark, RunIndex } from '@page/derive/types.ts';
import { fitting, type Pen } from '@page/views/paints.ts';
import { busyAt, drawTicks, type Grid, gridOfTicks } from '@page/views/tick-marks.ts';
import { faintness, plated } from '@page/views/timeline/easel.ts';
import type { Extra, ExtraAt, Look, Part } from '@page/views/timeline/score.ts';

// Finds how each reader's walk ends if shrinker_rwsem protects the list: shrink_slab() in mm/vmscan.c, 6.1.
// The reader acquires the lock with a trylock, which fails while a task is waiting for the lock.
// Once a task waits during the walk, the reader stops after the current shrinker.
// A reader gives up if a task waits for the lock when the walk starts. A walk is cut short if a task waits later.
// The number of freed objects is the return value of shrink_slab() (point `freed`).
// Older recordings do not have the point `freed`.

export type Fate = 'gave_up' | 'cut_short' | 'whole';

export interface Walk {
  readonly t0: number;
  readonly t1: number;
  readonly row: number;
  readonly id: number;
  readonly fate: Fate;
  /** Number of freed objects; null if it was not traced. */
  readonly freed: number | null;
}

/** Largest time between two return probes of the same call, ns. */
const together = 200_000;

/** Return the value that shrink_slab() returned at t; null if it was not traced. */
function freedAt(lane: LaneIndex, t: number): number | null {
  const { order, length } = lane.pointsOf('freed');
  const { points } = lane;
  const next = firstAtLeast(length, (k) => points.t[order[k]!]!, t);
  let best: number | null = null;
  let least = together;
  for (const k of [next - 1, next]) {
    if (k < 0 || k >= length) continue;
    const far = Math.abs(points.t[order[k]!]! - t);
    if (far < least) [least, best] = [far, points.a[order[k]!]!];
  }
  return best;
}

/** Names of the arms whose readers acquire the lock. */
const locked = /^rwsem/;

function isLock(index: RunIndex, state: SpanRecord | null): boolean {
  return state !== null && index.kinds[state.kind]?.name === 'wait_lock';
}

/** Tell whether a thread is waiting for the lock at t, either asleep, or woken but not yet running. */
function somebodyInLine(index: RunIndex, lane: LaneIndex, t: number): boolean {
  return threadRows(lane).some(({ row }) => {
    const state = spanAt(lane, row, 'state', t - 1);
    if (state === null) return false;
    if (index.kinds[state.kind]?.name !== 'runnable') return isLock(index, state);
    return isLock(index, spanAt(lane, row, 'state', state.t0 - 1));
  });
}

function fateOf(index: RunIndex, lane: LaneIndex, { t0, t1 }: SpanRecord): Fate {
  if (!locked.test(lane.arm)) return 'whole';
  if (somebodyInLine(index, lane, t0)) return 'gave_up';
  for (const state of spansIn(lane, 'state', t0, t1))
    if (state.t0 > t0 && state.t0 < t1 && isLock(index, state)) return 'cut_short';
  return 'whole';
}

/** Walks of a lane that have ended, sorted by their ends. */
export const walksOf = perVersion((index, lane): readonly Walk[] => {
  const reader = index.kinds.findIndex((kind) => kind.name === 'reader');
  const walks: Walk[] = [];
  for (const span of spansIn(lane, 'function', 0, Number.POSITIVE_INFINITY)) {
    if (span.kind !== reader || span.open) continue;
    const { t0, t1, row, id } = span;
    walks.push({ t0, t1, row, id, fate: fateOf(index, lane, span), freed: freedAt(lane, t1) });
  }
  return walks.sort((a, b) => a.t1 - b.t1);
});

export interface Score extends Readonly<Record<Fate, number>> {
  /** Number of objects that all these walks have freed; null if it was not traced. */
  readonly freed: number | null;
}

/** Count the walks of the run that ended by t. */
export function scoreAt(index: RunIndex, lane: LaneIndex, t: number): Score {
  const score = { gave_up: 0, cut_short: 0, whole: 0 };
  let freed: number | null = null;
  for (const walk of walksOf(index, lane)) {
    if (walk.t1 > t) continue;
    score[walk.fate] += 1;
    if (walk.freed !== null) freed = (freed ?? 0) + walk.freed;
  }
  return { ...score, freed };
}

const words: Readonly<Record<Fate, string>> = {
  whole: tr('to the end'),
  cut_short: tr('cut short'),
  gave_up: tr('gave up'),
};

/** Write "10 walks so far: 5 to the end, 3 cut short, 2 gave up; 412 objects freed", or '' before the first walk. */
export function scoreWords(arm: string, score: Score): string {
  const all = score.whole + score.cut_short + score.gave_up;
  if (all === 0) return '';
  const parts = (['whole', 'cut_short', 'gave_up'] as const).map(
    (fate) => `${figure('far', arm, `walks ${fate}`, score[fate])} ${words[fate]}`,
  );
  const { freed } = score;
  const gain =
    freed === null
      ? ''
      : tr('; {arm} freed', {
          arm: figure(
            'far',
            arm,
            'freed',
            freed,
            tr('{freed, plural, one {# object} other {# objects}}', { freed }),
          ),
        });
  return tr('{arm} so far: {list}{gain}', {
    arm: figure(
      'far',
      arm,
      'walks',
      all,
      tr('{all, plural, one {# walk} other {# walks}}', { all }),
    ),
    list: parts.join(', '),
    gain,
  });
}

const why: Readonly<Record<Fate, string>> = {
  whole: '',
  cut_short: tr(' Cut short: a task began to wait for the lock, so the reader stops.'),
  gave_up: tr(' Gave up: a task was waiting for the lock, so the reader does not start.'),
};

/** Say why the walk of a mark ended early, and how much it freed. Return '' for marks that are not walks. */
export function fateWords(index: RunIndex, { arm, table, kind, id }: Mark): string {
  const lane = laneOf(index, arm);
  if (lane === null || table !== 'spans' || index.kinds[kind]?.name !== 'reader') return '';
  const walk = walksOf(index, lane).find((one) => one.id === id);
  return walk === undefined ? '' : `${why[walk.fate]}${freedWords(arm, walk)}`;
}

function freedWords(arm: string, { freed, id }: Walk): string {
  if (freed === null) return '';
  return tr(' It freed {arm}.', {
    arm: figure(
      'mark',
      arm,
      `freed by walk ${id}`,
      freed,
      tr('{freed, plural, one {# object} other {# objects}}', { freed }),
    ),
  });
}

/** Draw a bar across the end of a walk that was cut short, or a no-entry sign for a walk that gave up. */
export function brushFate(pen: Pen, fate: Fate, x: number, y: number, r: number, paper: string) {
  if (fate === 'cut_short') {
    pen.fillRect(x - 1.5, y - r - 2, 3, 2 * r + 4);
    return;
  }
  pen.beginPath();
  pen.arc(x + r, y, r, 0, 2 * Math.PI);
  pen.fill();
  const own = pen.fillStyle;
  pen.fillStyle = paper;
  pen.fillRect(x + r - r * 0.6, y - r * 0.2, r * 1.2, Math.max(1.5, r * 0.4));
  pen.fillStyle = own;
}

function drawWalks(pen: Pen, at: ExtraAt): void {
  const { index, lane, from, to, now, x, left, right, top, height, theme } = at;
  pen.fillStyle = theme.hazard;
  for (const { t0, t1, row, fate } of walksOf(index, lane)) {
    const line = at.rows.find((one) => one.row === row);
    if (fate === 'whole' || line === undefined || t1 < from || t0 > to) continue;
    const px = x(fate === 'cut_short' ? t1 : t0);
    pen.globalAlpha = px <= at.revealX ? 1 : faintness;
    const r = Math.min(7, Math.max(4, line.height / 2));
    brushFate(pen, fate, px, line.top + line.height / 2, r, theme.paper);
  }
  pen.globalAlpha = 1;
  const score = scoreAt(index, lane, now);
  const said = scoreWords(lane.arm, score) || tr('no walk so far');
  pen.fillStyle = score.gave_up + score.cut_short > 0 ? theme.hazard : theme.soft;
  // If there is not enough room, leave out the number of objects first, then the outcomes of the walks.
  pen.font = `500 ${Math.round(13 * theme.em)}px ${theme.font}`;
  const wordings = [said, said.split(';')[0]!, said.split(':')[0]!];
  plated(pen, theme, fitting(pen, wordings, right - left), left, top + height / 2, right - left);
}

const walks: Extra = {
  part: 'walks',
  label: tr("reclaim's walks"),
  height: 17,
  on: (index, lane) => walksOf(index, lane).length > 0,
  draw: drawWalks,
};

// Sums what a lane's grace periods have cost so far: the worker's checks for readers and its runs of callbacks.

export interface Work {
  readonly checks: number;
  readonly wakes: number;
  /** Total time of the checks and wake-ups, ns. */
  readonly ns: number;
}

interface Sums {
  /** Ends of the checks and wake-ups in ascending order, and the total work up to each end. */
  readonly ends: Float64Array;
  readonly upTo: readonly Work[];
}

const none: Work = { checks: 0, wakes: 0, ns: 0 };

const sumsOf = perVersion((index, lane): Sums => {
  const pieces = [...spansIn(lane, 'track', 0, Number.POSITIVE_INFINITY)]
    .map(({ kind, t0, t1, open }) => ({ name: index.kinds[kind]?.name ?? '', t0, t1, open }))
    .filter(({ name, open }) => !open && (name === 'gp_check' || name === 'cb_wake'))
    .sort((a, b) => a.t1 - b.t1);
  let sum = none;
  const upTo = pieces.map(({ name, t0, t1 }) => {
    const check = name === 'gp_check';
    const { checks, wakes, ns } = sum;
    sum = { checks: checks + Number(check), wakes: wakes + Number(!check), ns: ns + t1 - t0 };
    return sum;
  });
  return { ends: Float64Array.from(pieces, ({ t1 }) => t1), upTo };
});

export function workAt(index: RunIndex, lane: LaneIndex, t: number): Work {
  const { ends, upTo } = sumsOf(index, lane);
  return upTo[firstAbove(ends.length, (i) => ends[i]!, t) - 1] ?? none;
}

/** Write "180 checks and 104 wake-ups so far|: 0.72 for each umount, 11.4 ms of work". plated() explains the `|`. */
export function workWords(
  arm: string,
  { checks, wakes, ns }: Work,
  ops: number,
  operation: string,
) {
  const far = (what: string, value: number, text: string) => figure('far', arm, what, value, text);
  const done = tr('{checks} and {wakes}', {
    checks: far(
      'checks',
      checks,
      tr('{checks, plural, one {# check} other {# checks}}', { checks }),
    ),
    wakes: far(
      'wakes',
      wakes,
      tr('{wakes, plural, one {# wake-up} other {# wake-ups}}', { wakes }),
    ),
  });
  const each = (checks + wakes) / ops;
  const share =
    ops === 0
      ? ''
      : tr(': {each} for each {operation}', {
          each: far('work each', each, formatFigure(Number(each.toPrecision(2)))),
          operation,
        });
  return tr('{done} so far|{share}, {ns} of work', {
    done,
    ns: far('work', ns, formatNs(ns)),
    share,
  });
}

export const work: Extra = {
  part: 'work',
  label: tr("SRCU's worker"),
  height: 17,
  on: (index, lane) => sumsOf(index, lane).ends.length > 0,
  draw(pen, { index, lane, now, left, right, top, height, theme, operation }) {
    const said = workWords(lane.arm, workAt(index, lane, now), opsUpTo(lane, now), operation);
    pen.fillStyle = theme.mechanism;
    plated(pen, theme, said, left, top + height / 2, right - left);
  },
};

// Derives the ticks of a lane from delays: a delay of at least half a tick ends at a tick.

const most = 256;
const second = 1e9;
const delays: ReadonlySet<string> = new Set(['gp_armed', 'cb_delay']);

/** Return the tick period of a lane, ns. The name of an arm with its own HZ ends with this HZ. */
function lengthOf(index: RunIndex, lane: LaneIndex): number {
  const hz = /-hz(\d+)$/.exec(lane.arm)?.[1];
  return hz === undefined ? index.tickNs : second / Number(hz);
}

/** Yield the ends of delays that waited for a tick and that overlap [a, b), in the lane's own time. */
function* endsIn(index: RunIndex, lane: LaneIndex, every: number, a: number, b: number) {
  for (const { kind, open, t0, t1 } of spansIn(lane, 'track', a, b))
    if (!open && t1 - t0 >= every / 2 && delays.has(index.kinds[kind]?.name ?? '')) yield t1;
}

/** The tick grid of a lane, which is the same for all CPUs; null if its phase is unknown. */
export const ticksOf = perVersion((index, lane): Grid | null => {
  const every = lengthOf(index, lane);
  const ends = [...endsIn(index, lane, every, 0, Number.POSITIVE_INFINITY)];
  return gridOfTicks(lane.startNs, ends.slice(-most), every);
});

function drawGrid(
  pen: Pen,
  { index, lane, from, to, x, top, height, revealX, theme }: ExtraAt,
): void {
  const grid = ticksOf(index, lane);
  if (grid === null) return;
  const alpha = (px: number) => (px <= revealX ? 1 : faintness);
  pen.fillStyle = theme.mechanism;
  const ends = endsIn(index, lane, grid.every, from - grid.every, to);
  const busy = (t: number) => busyAt(index, lane, t);
  drawTicks(pen, grid, ends, { from, to, x, top, height, alpha, busy });
}

const ticks: Extra = {
  part: 'ticks',
  label: tr('ticks'),
  height: 13,
  on: (index, lane) => ticksOf(index, lane) !== null,
  draw: drawGrid,
};

const optional: readonly Part[] = ['tracks', 'links'];

export const hogLook: Look = {
  functions: 'brackets',
  shown: (show) =>
    new Set(['functions', ...optional.filter((part) => show === undefined || show.includes(part))]),
  margin: 140,
  ticks: ticksOf,
  extras: [walks, ticks, work],
};
