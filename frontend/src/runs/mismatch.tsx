// SPDX-License-Identifier: GPL-2.0-or-later
/** When the run on the stage is not what the step speaks of: what differs, and two ways out. */

import { t } from '../base/lang/t.ts';
import { differs, workloadOf } from '../derive/recording.ts';
import { knobWords, sceneParams } from '../navigation/knobs.ts';
import type { Lesson, Scene } from '../protocol/lesson.ts';
import type { RunMessage } from '../protocol/messages.ts';
import { useDenied } from '../store/hooks.tsx';
import { off as offBecause } from '../ui/parts.tsx';

interface Props {
  readonly lesson: Lesson;
  readonly scene: Scene;
  readonly run: RunMessage;
  /** Titles of arms of the step that the run has not. */
  readonly missing: readonly string[];
  /** Why the step cannot be run now; empty when it can. */
  readonly blocked: string;
  readonly onRun: () => void;
  /** Null where there is no recording to go back to. */
  readonly onRecording: (() => void) | null;
}

export function Mismatch({ lesson, scene, run, missing, onRun, onRecording, ...props }: Props) {
  const blocked = useDenied('run') || props.blocked;
  const off = differs(lesson, { params: sceneParams(scene, run.clock) }, run.params);
  const wanted = workloadOf(lesson, scene);
  const title = (name: string) => lesson.workloads[name]?.title ?? name;
  const other = run.workload !== wanted && scene.workload != null;
  if (off.length === 0 && missing.length === 0 && !other) return null;
  const what = t('{source, select, recorded {recording} other {run}}', { source: run.source });
  return (
    <div className="mismatch" data-testid="mismatch">
      {missing.length > 0 && (
        <p>
          {t('This step shows {list}, which the {what} on the stage has not.', {
            list: missing.join(' and '),
            what,
          })}
        </p>
      )}
      {other && (
        <p>
          {t('This step shows “{wanted}”; the {what} on the stage is “{workload}”.', {
            wanted: title(wanted),
            what,
            workload: title(run.workload),
          })}
        </p>
      )}
      {off.length > 0 && (
        <p>
          {t('This step speaks of {list}; the {what} on the stage has {list2}.', {
            list: off.map((d) => knobWords(lesson, d.name, d.wanted)).join(', '),
            what,
            list2: off.map((d) => knobWords(lesson, d.name, d.got)).join(', '),
          })}
        </p>
      )}
      <button
        type="button"
        className="button"
        onClick={onRun}
        data-testid="run-step"
        {...offBecause(blocked)}
      >
        {t('run this step live')}
      </button>{' '}
      {onRecording && (
        <button type="button" className="button" onClick={onRecording} data-testid="show-recording">
          {t('show the recording')}
        </button>
      )}
    </div>
  );
}
