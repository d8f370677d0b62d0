// SPDX-License-Identifier: GPL-2.0-or-later
/** How this view draws rows: functions only where a step speaks of them, and the ticks that end each grace period. */

import type { Look, Part } from '../timeline/score.ts';
import { ticks, ticksOf } from './ticks.ts';
import { walks } from './walks.ts';
import { work } from './work.ts';

const optional: readonly Part[] = ['tracks', 'links'];

export const hogLook: Look = {
  functions: 'brackets',
  shown: (show) =>
    new Set(['functions', ...optional.filter((part) => show === undefined || show.includes(part))]),
  margin: 140,
  ticks: ticksOf,
  extras: [walks, ticks, work],
};
