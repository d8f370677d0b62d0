// SPDX-License-Identifier: GPL-2.0-or-later
/** What the common axis of the lanes counts, and where they are laid over each other, in words. */

import { locale, t } from '../base/lang/t.ts';
import type { Axis, Lesson } from '../protocol/lesson.ts';
import { together } from './align.ts';
import type { Frame, Nanos, RunIndex } from './types.ts';
import { list } from './words.ts';

type Names = Pick<Lesson, 'operation' | 'arms'>;

export interface AxisWords {
  /** "guest time since the workload's start" */
  readonly title: string;
  /** The moment that all lanes share, and its name: "umount 100"; null: the start of the workload. */
  readonly flag: { readonly t: Nanos; readonly words: string } | null;
}

function counted(axis: Axis | null): string {
  return axis === null ? t('guest time') : axis.plural;
}

/** The moment that all lanes share, and its name; null where each has its own time. */
export function axisFlag(index: RunIndex, frame: Frame, operation: string): AxisWords['flag'] {
  const { by, n, at = together(index, by, n).at } = frame.aligned ?? { by: 'time', n: 1 };
  return at === null ? null : { t: at, words: nthWords(operation, n) };
}

function nthWords(operation: string, n: number): string {
  return `${operation} ${n.toLocaleString(locale())}`;
}

/** The axis of a frame, in words. */
export function axisWords(index: RunIndex, frame: Frame, lesson: Names): AxisWords {
  const { by, n } = frame.aligned ?? { by: 'time', n: 1 };
  const since = t("{axis} since the workload's start", { axis: counted(index.axis) });
  if (by === 'time') return { title: since, flag: null };
  const { at, last, lacking } = together(index, by, n);
  const what = nthWords(lesson.operation.name, n);
  if (at === null || last === null)
    return { title: t('{since}; no lane has {what} yet', { since, what }), flag: null };
  const title = (arm: string) => lesson.arms.find((a) => a.name === arm)?.title ?? arm;
  const happens = by === 'begin' ? t('begins') : t('ends');
  const own = index.lanes.length > 1 ? t(' of {last}', { last: title(last) }) : '';
  const not = list(lacking.map(title));
  const left =
    lacking.length === 0
      ? ''
      : t('; {not} {lacking} none', { not, lacking: lacking.length === 1 ? t('has') : t('have') });
  return {
    title: t('{axis}{own}; {what} {happens} on every lane at once{left}', {
      axis: counted(index.axis),
      own,
      what,
      happens,
      left,
    }),
    flag: { t: at, words: what },
  };
}
