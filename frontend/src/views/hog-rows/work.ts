// SPDX-License-Identifier: GPL-2.0-or-later
/** What the grace periods of a lane cost: the worker's looks for readers and its runs of callbacks, so far. */

import { firstAbove } from '../../base/columns.ts';
import { t as tr } from '../../base/lang/t.ts';
import { formatNs } from '../../base/units.ts';
import { figure } from '../../derive/figures.ts';
import { opsUpTo, perVersion, spansIn } from '../../derive/query.ts';
import type { LaneIndex, RunIndex } from '../../derive/types.ts';
import { plated } from '../timeline/easel.ts';
import type { Extra } from '../timeline/score.ts';

export interface Work {
  readonly checks: number;
  readonly wakes: number;
  /** Looking and waking, ns. */
  readonly ns: number;
}

interface Sums {
  /** When each piece of work ended, rising, and what there was up to it. */
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

/** "180 checks and 104 wakes so far, 11.4 ms of work: 29 µs for each umount"; see plated() for the `|`. */
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
    wakes: far('wakes', wakes, tr('{wakes, plural, one {# wake} other {# wakes}}', { wakes })),
  });
  const each = ns / ops;
  const share =
    ops === 0
      ? ''
      : tr(': {each} for each {operation}', {
          each: far('work each', each, formatNs(each)),
          operation,
        });
  return tr('{done} so far|, {ns} of work{share}', {
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
