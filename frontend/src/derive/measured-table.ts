// SPDX-License-Identifier: GPL-2.0-or-later
/** Which measured table fits a scene. Pure. */

import type { Lesson, Scene } from '../protocol/lesson.ts';
import type { MeasuredMessage } from '../protocol/messages.ts';

/**
 * The table beside a scene: what somebody measured now stands; of recorded tables the first with all arms of the scene,
 * if the one at hand lacks some.
 */
export function tableFor(
  atHand: MeasuredMessage | null,
  lesson: Pick<Lesson, 'slug' | 'measured'>,
  scene: Pick<Scene, 'arms'>,
): MeasuredMessage | null {
  const own = atHand?.lesson === lesson.slug ? atHand : null;
  const fits = ({ rows }: Pick<MeasuredMessage, 'rows'>) =>
    scene.arms.every((arm) => rows.some((row) => row.arm === arm));
  if (own?.source === 'live' || (own && fits(own))) return own;
  const other = lesson.measured.find(fits);
  return other ? { ...other, type: 'measured' } : own;
}
