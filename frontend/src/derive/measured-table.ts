// SPDX-License-Identifier: GPL-2.0-or-later
/** Which measured table fits a scene. Pure. */

import type { Lesson, Scene } from '../protocol/lesson.ts';
import type { MeasuredMessage } from '../protocol/messages.ts';

/** What the knobs say now. */
interface Asked {
  readonly params: Readonly<Record<string, number>>;
  readonly clock: string;
  readonly workload: string;
}

/**
 * The table beside a scene: what somebody measured now stands. Of recorded tables with all arms of the scene it is the
 * one of these very knobs; else the one at hand; else, if that lacks an arm, the first.
 */
export function tableFor(
  atHand: MeasuredMessage | null,
  lesson: Pick<Lesson, 'slug' | 'measured'>,
  scene: Pick<Scene, 'arms'>,
  asked: Asked,
): MeasuredMessage | null {
  const own = atHand?.lesson === lesson.slug ? atHand : null;
  if (own?.source === 'live') return own;
  const fits = ({ rows }: Pick<MeasuredMessage, 'rows'>) =>
    scene.arms.every((arm) => rows.some((row) => row.arm === arm));
  const fitting = lesson.measured.filter(fits);
  const same = fitting.find(
    ({ clock, workload, params }) =>
      clock === asked.clock &&
      workload === asked.workload &&
      Object.entries(params).every(([name, value]) => value === asked.params[name]),
  );
  const other = same ?? (own && fits(own) ? null : fitting[0]);
  return other ? { ...other, type: 'measured' } : own;
}
