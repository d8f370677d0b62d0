// SPDX-License-Identifier: GPL-2.0-or-later
/** The run on the stage in a line, and what the next one would have instead. Pure. */

import { t } from '../base/lang/t.ts';
import { formatFigure } from '../base/units.ts';
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
  return t('first {seconds} s recorded', {
    seconds: formatFigure(Number(kept.toPrecision(1))),
  });
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
    const other = now === next ? '' : t('next run: {param}', { param: valueWords(param, next) });
    const more = [cut, other].filter((part) => part !== '').join('; ');
    return [`${knobWords(lesson, name, now)}${more && ` (${more})`}`];
  });
  const clock = shown?.clock ?? knobs.clock;
  const other =
    clock === knobs.clock ? '' : t(' (next run: {clock} clock)', { clock: knobs.clock });
  return [
    t('{arms, plural, one {# kernel} other {# kernels}}', { arms: knobs.arms.length }),
    ...words,
    t('{clock} clock{other}', { clock, other }),
  ].join(', ');
}
