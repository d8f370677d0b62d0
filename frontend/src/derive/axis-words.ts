// SPDX-License-Identifier: GPL-2.0-or-later
/** What the common axis of the lanes counts, and where they are laid over each other, in words. */

import type { Axis, Lesson } from '../protocol/lesson.ts';
import { together } from './align.ts';
import type { Frame, Nanos, RunIndex } from './types.ts';

type Names = Pick<Lesson, 'operation' | 'arms'>;

export interface AxisWords {
  /** "guest time since the workload's start" */
  readonly title: string;
  /** The moment that all lanes share, and its name: "umount 100"; null: the start of the workload. */
  readonly flag: { readonly t: Nanos; readonly words: string } | null;
}

function counted(axis: Axis | null): string {
  return axis === null ? 'guest time' : axis.plural;
}

/** The moment that all lanes share, and its name; null where each has its own time. */
export function axisFlag(index: RunIndex, frame: Frame, operation: string): AxisWords['flag'] {
  const { by, n, at = together(index, by, n).at } = frame.aligned ?? { by: 'time', n: 1 };
  return at === null ? null : { t: at, words: nthWords(operation, n) };
}

function nthWords(operation: string, n: number): string {
  return `${operation} ${n.toLocaleString('en-US')}`;
}

/** The axis of a frame, in words. */
export function axisWords(index: RunIndex, frame: Frame, lesson: Names): AxisWords {
  const { by, n } = frame.aligned ?? { by: 'time', n: 1 };
  const since = `${counted(index.axis)} since the workload's start`;
  if (by === 'time') return { title: since, flag: null };
  const { at, last, lacking } = together(index, by, n);
  const what = nthWords(lesson.operation.name, n);
  if (at === null || last === null)
    return { title: `${since}; no lane has ${what} yet`, flag: null };
  const title = (arm: string) => lesson.arms.find((a) => a.name === arm)?.title ?? arm;
  const happens = by === 'begin' ? 'begins' : 'ends';
  const own = index.lanes.length > 1 ? ` of ${title(last)}` : '';
  const not = lacking.map(title).join(' and ');
  const left = lacking.length === 0 ? '' : `; ${not} ${lacking.length === 1 ? 'has' : 'have'} none`;
  return {
    title: `${counted(index.axis)}${own}; ${what} ${happens} on every lane at once${left}`,
    flag: { t: at, words: what },
  };
}
