// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * How each reader's walk over the shrinkers ends, where the list stands under shrinker_rwsem (mm/vmscan.c,
 * shrink_slab() of 6.1). The reader only tries to take the lock, which fails while anybody is in line for it; inside,
 * it breaks off after the shrinker at hand as soon as somebody is. Both follow from who sleeps for the lock when a
 * walk begins and while it goes on. How many objects a walk has freed is what shrink_slab() returns (point `freed`);
 * runs that were recorded without that probe do not say.
 */

import { firstAtLeast } from '../../base/columns.ts';
import { t as tr } from '../../base/lang/t.ts';
import { figure } from '../../derive/figures.ts';
import {
  laneOf,
  perVersion,
  type SpanRecord,
  spanAt,
  spansIn,
  threadRows,
} from '../../derive/query.ts';
import type { LaneIndex, Mark, RunIndex } from '../../derive/types.ts';
import { fitting, type Pen } from '../paints.ts';
import { faintness, plated } from '../timeline/easel.ts';
import type { Extra, ExtraAt } from '../timeline/score.ts';

export type Fate = 'gave_up' | 'cut_short' | 'whole';

export interface Walk {
  readonly t0: number;
  readonly t1: number;
  readonly row: number;
  readonly id: number;
  readonly fate: Fate;
  /** Objects; null: not traced. */
  readonly freed: number | null;
}

/** Two return probes of one function stand so near, ns. */
const together = 200_000;

/** What shrink_slab() returned at t; null: not traced. */
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

/** Kernels whose readers take the lock. */
const locked = /^rwsem/;

function isLock(index: RunIndex, state: SpanRecord | null): boolean {
  return state !== null && index.kinds[state.kind]?.name === 'wait_lock';
}

/** Is some thread in line at t: asleep for the lock, or woken and not yet run since? */
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

/** Walks of a lane that have ended, in order of their ends. */
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
  /** Objects that all these walks have freed; null: not traced. */
  readonly freed: number | null;
}

/** Walks that ended at or before t since the start. */
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

/** "10 walks so far: 5 to the end, 3 cut short, 2 gave up; 412 objects freed"; empty without any. */
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
  cut_short: tr(' Cut short: somebody came to wait for the lock, so it breaks off.'),
  gave_up: tr(' Gave up: somebody was in line for the lock, so it does not begin.'),
};

/** Why the walk ended that a mark is; empty for other marks. */
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

/** A walk that was cut short: a bar across its end. One that did not begin: the sign that says no entry. */
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

function draw(pen: Pen, at: ExtraAt): void {
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
  // Where there is no room the objects go first, then how the walks ended.
  pen.font = `500 ${Math.round(13 * theme.em)}px ${theme.font}`;
  const wordings = [said, said.split(';')[0]!, said.split(':')[0]!];
  plated(pen, theme, fitting(pen, wordings, right - left), left, top + height / 2, right - left);
}

export const walks: Extra = {
  part: 'walks',
  label: tr("reclaim's walks"),
  height: 17,
  on: (index, lane) => walksOf(index, lane).length > 0,
  draw,
};
