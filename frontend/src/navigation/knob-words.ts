// SPDX-License-Identifier: GPL-2.0-or-later
/** The run on the stage in a line, and what the next one would have instead. Pure. */

import { plural } from '../base/units.ts';
import type { Lesson } from '../protocol/lesson.ts';
import { type Knobs, knobWords, valueWords } from './knobs.ts';

/** What is known of a run that is shown; knobs that a lesson has got since are not in its params. */
type Shown = Pick<Knobs, 'params' | 'clock'>;

/**
 * "2 kernels, 2 vCPUs (next run: 4), 1 s, wall clock": of the run on the stage, else of the next one. A knob that is at
 * its default is left out unless it has a role, and one that is `inSight` elsewhere unless the next run differs.
 */
export function runLine(
  lesson: Pick<Lesson, 'params'>,
  shown: Shown | null,
  knobs: Knobs,
  inSight: string,
): string {
  const words = Object.entries(lesson.params).flatMap(([name, param]) => {
    const next = knobs.params[name];
    if (param.applies === 'model' || next === undefined) return [];
    const now = shown?.params[name] ?? next;
    const usual = param.role == null && now === param.default;
    if (now === next && (usual || name === inSight)) return [];
    const one = knobWords(lesson, name, now);
    return [now === next ? one : `${one} (next run: ${valueWords(param, next)})`];
  });
  const clock = shown?.clock ?? knobs.clock;
  const other = clock === knobs.clock ? '' : ` (next run: ${knobs.clock} clock)`;
  return [plural(knobs.arms.length, 'kernel'), ...words, `${clock} clock${other}`].join(', ');
}
