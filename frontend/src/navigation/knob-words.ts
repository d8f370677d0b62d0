// SPDX-License-Identifier: GPL-2.0-or-later
/** The run on the stage in a line, and what the next one would have instead. Pure. */

import { formatFigure, plural } from '../base/units.ts';
import type { RunIndex } from '../derive/types.ts';
import type { Lesson } from '../protocol/lesson.ts';
import type { RunMessage } from '../protocol/messages.ts';
import { type Knobs, knobWords, valueWords } from './knobs.ts';

/** What is known of a run that is shown; knobs that a lesson has got since are not in its params. */
type Shown = Pick<Knobs, 'params' | 'clock'>;

/** How much guest time a recording has of its longest lane, ns; null: it may still grow, or nothing is there. */
export function recordedNs(
  run: Pick<RunMessage, 'source'> | null,
  index: Pick<RunIndex, 'lanes'> | null,
): number | null {
  if (run?.source !== 'recorded' || index === null || index.lanes.length === 0) return null;
  return Math.max(...index.lanes.map((lane) => lane.watermark));
}

/** A lane that ends so near to its seconds was recorded whole. */
const whole = 0.95;

/** "first 0.5 s recorded", of a recording that was cut (docs/RECORDINGS.md); else empty. */
function cutWords(seconds: number, recorded: number | null): string {
  const kept = recorded === null ? seconds : recorded / 1e9;
  if (kept <= 0 || kept >= whole * seconds) return '';
  return `first ${formatFigure(Number(kept.toPrecision(1)))} s recorded`;
}

/**
 * "2 kernels, 2 vCPUs (next run: 4), 1 s, wall clock": of the run on the stage, else of the next one. A knob that is at
 * its default is left out unless it has a role, and one that is `inSight` elsewhere unless the next run differs.
 *
 * @param recorded see recordedNs()
 */
export function runLine(
  lesson: Pick<Lesson, 'params'>,
  shown: Shown | null,
  knobs: Knobs,
  inSight: string,
  recorded: number | null = null,
): string {
  const words = Object.entries(lesson.params).flatMap(([name, param]) => {
    const next = knobs.params[name];
    if (param.applies === 'model' || next === undefined) return [];
    const now = shown?.params[name] ?? next;
    const usual = param.role == null && now === param.default;
    if (now === next && (usual || name === inSight)) return [];
    const cut = param.role === 'duration' && shown !== null ? cutWords(now, recorded) : '';
    const other = now === next ? '' : `next run: ${valueWords(param, next)}`;
    const more = [cut, other].filter((part) => part !== '').join('; ');
    return [`${knobWords(lesson, name, now)}${more && ` (${more})`}`];
  });
  const clock = shown?.clock ?? knobs.clock;
  const other = clock === knobs.clock ? '' : ` (next run: ${knobs.clock} clock)`;
  return [plural(knobs.arms.length, 'kernel'), ...words, `${clock} clock${other}`].join(', ');
}
