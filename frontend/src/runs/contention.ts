// SPDX-License-Identifier: GPL-2.0-or-later
/** Whether the host gave a run the CPU time that it wanted, and what to say of it. Pure. */

import { t } from '../base/lang/t.ts';
import type { Lesson, Prediction } from '../protocol/lesson.ts';
import type { Contention, LaneMessage, RunMessage } from '../protocol/messages.ts';

/** Of all lanes of a run together: lanes of one run wait for each other as well. */
export interface Contended {
  /** Waiting as a part of the CPU time that the vCPUs wanted, 0 to 1. */
  readonly share: number;
  /** Lengths and counts of the run are distorted. */
  readonly distorted: boolean;
}

/**
 * Null where nothing was measured (the count clock), and where the axis counts points: a picture of
 * counted accesses has no lengths that a busy host could stretch.
 */
export function contendedOf(
  lesson: Pick<Lesson, 'axis'>,
  run: Pick<RunMessage, 'clock' | 'workload'> | null,
  lanes: readonly Pick<LaneMessage, 'contention'>[],
): Contended | null {
  const found = lanes.map((lane) => lane.contention).filter((one) => one !== null);
  const first = found[0];
  if (run?.clock !== 'wall' || first === undefined || counts(lesson, run.workload)) return null;
  const ran = found.reduce((sum, one) => sum + one.ran_s, 0);
  const waited = found.reduce((sum, one) => sum + one.waited_s, 0);
  const share = ran + waited > 0 ? waited / (ran + waited) : 0;
  return { share, distorted: share > first.bound };
}

function counts({ axis }: Pick<Lesson, 'axis'>, workload: string): boolean {
  return axis !== null && (axis.workloads.length === 0 || axis.workloads.includes(workload));
}

export function shareOf(one: Contention): number {
  const wanted = one.ran_s + one.waited_s;
  return wanted > 0 ? one.waited_s / wanted : 0;
}

export function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

/** Why the prediction is not judged on the run; empty where it may be. */
export function unjudged(
  found: Contended | null,
  prediction: Pick<Prediction, 'judged_when_busy'>,
): string {
  if (!found?.distorted || prediction.judged_when_busy) return '';
  return t(
    'Not judged on this run: the host was busy, and its vCPUs waited {share} of their time for a CPU.',
    { share: percent(found.share) },
  );
}
