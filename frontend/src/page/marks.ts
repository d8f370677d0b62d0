// SPDX-License-Identifier: GPL-2.0-or-later
/** A mark that was pointed at, as its drawer and answers name it. Pure. */

import { type Behind, behindMark } from '../derive/behind.ts';
import { laneOf } from '../derive/query.ts';
import type { Frame, Mark, RunIndex } from '../derive/types.ts';
import type { Pointed } from '../panels/predict.ts';
import type { Lesson } from '../protocol/lesson.ts';
import { viewOf } from '../views/registry.ts';

export function pointedAt(index: RunIndex, mark: Mark): Pointed {
  const lane = laneOf(index, mark.arm);
  const guest = (t: number) => lane?.guestTime(t) ?? t;
  return {
    run: index.runId,
    arm: mark.arm,
    kind: index.kinds[mark.kind]?.name ?? '',
    t0_ns: guest(mark.t0),
    t1_ns: guest(mark.t1),
    at: new Date().toISOString(),
  };
}

/** What a mark was made from, by its view, or as any lane has it. */
export function behindOf(index: RunIndex, frame: Frame, lesson: Lesson, mark: Mark): Behind | null {
  const own = viewOf(lesson.view).behind;
  return own ? own(index, frame, lesson, mark) : behindMark(index, lesson, mark);
}
