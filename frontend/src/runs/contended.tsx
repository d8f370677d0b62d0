// SPDX-License-Identifier: GPL-2.0-or-later
/** That the host was too busy for a run on the wall clock, and the way out: the count clock. */

import { rich, t } from '../base/lang/t.ts';
import { workloadOf } from '../derive/recording.ts';
import type { Lesson, Scene } from '../protocol/lesson.ts';
import { useDenied } from '../store/hooks.tsx';
import { CrossIcon, off } from '../ui/parts.tsx';
import { type Contended, percent } from './contention.ts';

interface Props {
  readonly found: Contended | null;
  /** The step can run on the count clock. */
  readonly offers: boolean;
  /** Why nothing can be started now; empty when it can. */
  readonly blocked: string;
  readonly onCount: () => void;
}

export function ContendedNotice({ found, offers, onCount, ...props }: Props) {
  const blocked = useDenied('run') || props.blocked;
  if (!found?.distorted) return null;
  return (
    <div className="notices">
      <p className="notice" role="status" data-testid="contended" data-volatile>
        <CrossIcon />
        <span>
          {rich(
            'The host was busy: the vCPUs of this run waited {share} of the time in which they could run, for each other and for other work. Lengths and counts are distorted, and no prediction is judged on it. <span>{offers}</span>',
            {
              share: percent(found.share),
              offers: offers
                ? t(
                    'The count clock counts instructions instead, and gives the same on every host.',
                  )
                : t('Run it again when the host has less to do, or with fewer lanes.'),
              span: (words) => <span className="quiet">{words}</span>,
            },
          )}
        </span>
        <span className="spring" />
        {offers && (
          <button
            type="button"
            className="button"
            onClick={onCount}
            data-testid="run-count"
            {...off(blocked)}
          >
            {t('run on the count clock')}
          </button>
        )}
      </p>
    </div>
  );
}

/** A workload that listens needs the wall clock. */
export function canCount(lesson: Lesson, scene: Scene): boolean {
  return lesson.clocks.includes('count') && !lesson.workloads[workloadOf(lesson, scene)]?.input;
}
