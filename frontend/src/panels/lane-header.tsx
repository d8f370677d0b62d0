// SPDX-License-Identifier: GPL-2.0-or-later
/** Over each lane: which kernel this is, in which state, and how many operations at the moment. */

import { useState } from 'react';
import { formatCount, plural } from '../base/units.ts';
import type { Arm } from '../protocol/lesson.ts';
import type { BuildMessage, LaneMessage } from '../protocol/messages.ts';
import { percent, shareOf } from '../runs/contention.ts';
import { lanePhase } from '../runs/phase.ts';
import { Dialog } from '../ui/dialog.tsx';
import { CrossIcon } from '../ui/icons.tsx';

interface Props {
  readonly arm: Arm;
  readonly lane: LaneMessage | null;
  readonly build: BuildMessage | null;
  readonly recorded: boolean;
  /** A live run is on its way while the recording is shown. */
  readonly pending: boolean;
  /** The run on the stage has no such lane. */
  readonly missing: boolean;
  /** The host was too busy for the run that it is part of. */
  readonly distorted?: boolean;
  /** Operations up to the moment. */
  readonly ops: number | null;
  /** Operations of the whole run so far; grows while it is live. */
  readonly total: number | null;
  readonly operation: { readonly name: string; readonly plural: string };
  readonly lost: number;
  readonly lines: readonly string[];
  readonly onLoss: () => void;
}

const roleWords: Readonly<Record<Arm['role'], string>> = {
  before: 'without the change that the lesson is about',
  after: 'with the change that the lesson is about',
  alternative: 'another way to do it, for comparison',
  mainline: 'what Linux does about it in a later version',
};

export function LaneHeader(props: Props) {
  const { arm, lane, build, recorded, ops, total, operation, lost, lines } = props;
  const [details, setDetails] = useState(false);
  const phase = lanePhase(lane, build, recorded, props.pending, props.missing);
  const tail = [build?.error?.detail, lane?.detail, lines.join('\n')].filter(Boolean).join('\n\n');
  return (
    <div className="lane-header" data-testid={`lane-${arm.name}`} data-phase={phase.name}>
      <h3>{arm.title}</h3>
      <span className="role" title={roleWords[arm.role]}>
        {arm.role}
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
            details
          </button>
        )}
      </span>
      {props.distorted && (
        <span
          className="badge"
          data-tone="hazard"
          title="vCPUs of this run waited for a CPU of the host longer than they ran; lengths and counts are distorted"
          data-testid={`distorted-${arm.name}`}
          data-volatile
        >
          <CrossIcon /> shapes distorted
          {lane?.contention && `: waited ${percent(shareOf(lane.contention))}`}
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
          <CrossIcon /> {plural(lost, 'event')} lost
        </button>
      )}
      {ops !== null && (
        <span
          className="lane-count number"
          title={`${operation.plural} up to the moment, of all that are counted so far`}
          data-volatile
        >
          <b data-testid={`ops-${arm.name}`}>{formatCount(ops)}</b>
          <span className="lane-of">
            {total !== null && (
              <>
                {' of '}
                <span data-testid={`total-${arm.name}`}>{formatCount(total)}</span>
              </>
            )}{' '}
            {(total ?? ops) === 1 ? operation.name : operation.plural}
          </span>
        </span>
      )}
      <Dialog
        title={`${arm.title}: what the guest said`}
        open={details}
        onClose={() => setDetails(false)}
        testId="details"
      >
        {phase.sentence && <p>{phase.sentence}</p>}
        {phase.remedy && <p className="quiet">{phase.remedy}</p>}
        <p className="small quiet">
          {[
            lane?.kernel && `Linux ${lane.kernel}`,
            lane?.accel && `accelerator ${lane.accel}`,
            lane?.pid != null && `process ${lane.pid}`,
            lane?.boot_s != null &&
              (lane.cloned
                ? `copied from a parked guest in ${(lane.boot_s * 1000).toFixed(0)} ms`
                : `booted in ${lane.boot_s.toFixed(1)} s`),
            lane?.contention &&
              `vCPUs waited ${percent(shareOf(lane.contention))} of their time for a CPU of the host`,
          ]
            .filter(Boolean)
            .join(', ')}
        </p>
        <pre className="console">{tail || 'Nothing was said.'}</pre>
      </Dialog>
    </div>
  );
}
