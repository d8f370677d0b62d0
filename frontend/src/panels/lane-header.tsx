// SPDX-License-Identifier: GPL-2.0-or-later
/** The header of a lane: the kernel, its state, and the number of operations up to the moment. */

import { useEffect, useRef, useState } from 'react';
import { rich, t } from '../base/lang/t.ts';
import { formatCount } from '../base/units.ts';
import { axisWords } from '../derive/align.ts';
import { jumpWords } from '../derive/jumps.ts';
import type { RunIndex } from '../derive/types.ts';
import { type Playback, usePlayback } from '../playback/hooks.tsx';
import type { Arm, Lesson } from '../protocol/lesson.ts';
import type { BuildMessage, LaneMessage } from '../protocol/messages.ts';
import { lanePhase } from '../runs/phase.ts';
import { percent, shareOf } from '../runs/runs-line.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { CrossIcon } from '../ui/parts.tsx';
import { viewOf } from '../views/registry.ts';

interface LaneHeaderProps {
  readonly arm: Arm;
  readonly lane: LaneMessage | null;
  readonly build: BuildMessage | null;
  readonly recorded: boolean;
  /** Whether a live run is being prepared while the recording is shown. */
  readonly pending: boolean;
  /** Whether the run on the stage lacks this lane. */
  readonly missing: boolean;
  /** Whether the host was too busy for this run. */
  readonly distorted?: boolean;
  /** Number of operations up to the moment. */
  readonly ops: number | null;
  /** Number of operations in the run so far, independent of the moment. The number increases while the run is live. */
  readonly total: number | null;
  readonly operation: { readonly name: string; readonly plural: string };
  readonly lost: number;
  readonly lines: readonly string[];
  readonly onLoss: () => void;
}

const roleWords: Readonly<Record<Arm['role'], string>> = {
  before: t('without the change that the lesson is about'),
  after: t('with the change that the lesson is about'),
  alternative: t('another way to do it, for comparison'),
  mainline: t('what a later Linux version does instead'),
};

export function LaneHeader(props: LaneHeaderProps) {
  const { arm, lane, build, recorded, ops, total, operation, lost, lines } = props;
  const [details, setDetails] = useState(false);
  const phase = lanePhase(lane, build, recorded, props.pending, props.missing);
  const tail = [build?.error?.detail, lane?.detail, lines.join('\n')].filter(Boolean).join('\n\n');
  return (
    <div className="lane-header" data-testid={`lane-${arm.name}`} data-phase={phase.name}>
      <h3>{arm.title}</h3>
      <span className="role" title={roleWords[arm.role]}>
        {t(
          '{role, select, before {before} after {after} alternative {alternative} other {mainline}}',
          { role: arm.role },
        )}
      </span>
      <span className="lane-summary" title={arm.summary}>
        {arm.summary}
      </span>
      <span className="lane-state">
        {phase.bad && <CrossIcon />}
        <span data-volatile data-bad={phase.bad ? '' : undefined} data-testid={`phase-${arm.name}`}>
          {phase.words}
        </span>
        {phase.progress !== null && (
          <span className="meter lane-meter">
            <span style={{ width: `${Math.round(phase.progress * 100)}%` }} />
          </span>
        )}
        {(phase.bad || tail !== '') && (
          <button
            type="button"
            className="link small lane-details"
            onClick={() => setDetails(true)}
            data-testid={`details-${arm.name}`}
          >
            {t('details')}
          </button>
        )}
      </span>
      {props.distorted && (
        <span
          className="badge"
          data-tone="hazard"
          title={t(
            'vCPUs of this run waited for a host CPU longer than they ran; times and counts are distorted',
          )}
          data-testid={`distorted-${arm.name}`}
          data-volatile
        >
          {rich('{icon} times distorted{more}', {
            icon: <CrossIcon />,
            more:
              lane?.contention &&
              t(': waited {contention}', { contention: percent(shareOf(lane.contention)) }),
          })}
        </span>
      )}
      {lost > 0 && (
        <button
          type="button"
          className="badge"
          data-tone="hazard"
          onClick={props.onLoss}
          data-testid={`lost-${arm.name}`}
        >
          {rich('{icon} {lost, plural, one {# event} other {# events}} lost', {
            icon: <CrossIcon />,
            lost,
          })}
        </button>
      )}
      {ops !== null && (
        <span
          className="lane-count number"
          title={t('{plural} up to the moment, of all {plural} counted so far', {
            plural: operation.plural,
          })}
          data-volatile
        >
          <b data-testid={`ops-${arm.name}`}>{formatCount(ops)}</b>
          <span className="lane-of">
            {total !== null && (
              <>
                {t(' of ')}
                <span data-testid={`total-${arm.name}`}>{formatCount(total)}</span>
              </>
            )}{' '}
            {(total ?? ops) === 1 ? operation.name : operation.plural}
          </span>
        </span>
      )}
      <Dialog
        title={t('{title}: guest output', { title: arm.title })}
        open={details}
        onClose={() => setDetails(false)}
        testId="details"
      >
        {phase.sentence && <p>{phase.sentence}</p>}
        {phase.remedy && <p className="quiet">{phase.remedy}</p>}
        <p className="small quiet">
          {[
            lane?.kernel && `Linux ${lane.kernel}`,
            lane?.accel && t('accelerator {accel}', { accel: lane.accel }),
            lane?.pid != null && t('process {pid}', { pid: lane.pid }),
            lane?.boot_s != null &&
              (lane.cloned
                ? t('copied from a template in {ms} ms', {
                    ms: (lane.boot_s * 1000).toFixed(0),
                  })
                : t('booted in {seconds} s', { seconds: lane.boot_s.toFixed(1) })),
            lane?.contention &&
              t('vCPUs waited {share} of their time for a host CPU', {
                share: percent(shareOf(lane.contention)),
              }),
          ]
            .filter(Boolean)
            .join(', ')}
        </p>
        <pre className="console">{tail || t('There were no messages.')}</pre>
      </Dialog>
    </div>
  );
}

// A line below the lanes that states what their common axis counts and how they are aligned.

interface AxisLineProps {
  readonly lesson: Lesson;
  readonly index: RunIndex | null;
  readonly playback: Playback;
}

export function AxisLine({ lesson, index, playback }: AxisLineProps) {
  if (index === null) return null;
  const { title } = axisWords(index, playback.frame.get(), lesson);
  return (
    <p className="axis-line small quiet" data-testid="axis-line">
      {t('axis: {title}', { title })}
    </p>
  );
}

// A sentence about the moment to which the viewer has jumped, shown over the lanes until the next action.

interface JumpLineProps {
  readonly lesson: Lesson;
  readonly index: RunIndex | null;
  /** Why the difference between lanes is hidden; empty if it is shown. */
  readonly withheld?: string;
}

export function JumpLine({ lesson, index, withheld = '' }: JumpLineProps) {
  const { state, frame } = usePlayback();
  const { jumped } = state;
  const line = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    if (jumped !== null && line.current) bring(line.current);
  }, [jumped]);
  if (jumped === null || index === null) return null;
  const hidden = jumped.what === 'divergence' ? withheld : '';
  return (
    <p ref={line} className="stage-unseen" role="status" data-testid="jump-words">
      {hidden ||
        jumpWords(
          jumped.what,
          jumped.from,
          index,
          frame.get(),
          lesson,
          viewOf(lesson.view).entryWords,
        )}
    </p>
  );
}

/** On a scrolling page the button may be visible while the lanes are not, so scroll this line into view. */
function bring(line: HTMLElement): void {
  line.scrollIntoView?.({ block: 'nearest' });
  const foot = document.querySelector('.transport')?.getBoundingClientRect().top ?? innerHeight;
  if (line.getBoundingClientRect().bottom > foot) line.scrollIntoView?.({ block: 'start' });
}
