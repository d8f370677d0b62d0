// SPDX-License-Identifier: GPL-2.0-or-later
/** What the picture is made of, said at all times: recorded or live, clock, lanes, losses, who controls. */

import type { ReactNode } from 'react';
import { locale, rich, t } from '../base/lang/t.ts';
import { isSavedRun } from '../derive/recording.ts';
import type { ControlMessage, RunMessage } from '../protocol/messages.ts';
import { CrossIcon, LiveSign, RecordedSign } from '../ui/parts.tsx';
import { day, when } from '../ui/words.ts';
import { type LaneLens, LensBadges } from './lens-badge.tsx';
import { TermMark } from './terms/terms.tsx';

interface Props {
  readonly run: RunMessage | null;
  readonly kernel: string | null;
  readonly lanes: number;
  readonly lost: number;
  readonly gaps: number;
  readonly control: ControlMessage | null;
  readonly pending: string;
  readonly lenses: readonly LaneLens[];
  readonly onLoss: () => void;
  readonly onLens: () => void;
  /** Opens the list of saved runs; left out where there is no server. */
  readonly onRuns?: (() => void) | undefined;
  readonly onControl: (take: boolean) => void;
  /** What can be done with the lanes, where nothing else on the page offers it. */
  readonly tool?: ReactNode;
}

export function StateStrip(props: Props) {
  const { run, kernel, lanes, lost, gaps, pending } = props;
  const control = props.control?.run_id === run?.run_id ? props.control : null;
  return (
    <div className="state-strip" data-testid="state">
      <SourceBadge run={run} kernel={kernel} />
      {run && (
        <span className="badge" data-testid="clock">
          <TermMark name={run.clock === 'count' ? t('count clock') : t('wall clock')}>
            {t('clock')}
          </TermMark>{' '}
          <b>{t('{clock, select, count {count} other {wall}}', { clock: run.clock })}</b>
        </span>
      )}
      <span className="badge" data-testid="lanes">
        <b>{lanes}</b> <TermMark name={t('lane')}>{lanes === 1 ? t('lane') : t('lanes')}</TermMark>
      </span>
      <button
        type="button"
        className="badge"
        data-tone={lost + gaps > 0 ? 'hazard' : undefined}
        onClick={props.onLoss}
        title={t(
          "An event is one line of the guest's trace. Where some were lost, counts are the least that it can be.",
        )}
        data-testid="lost"
        data-volatile
      >
        {lost + gaps > 0 && <CrossIcon />}
        {gaps > 0 && lost === 0
          ? rich('rows not sent <b>{count}</b>', {
              count: gaps.toLocaleString(locale()),
              b: (words) => <b>{words}</b>,
            })
          : rich('lost events <b>{count}</b>', {
              count: lost.toLocaleString(locale()),
              b: (words) => <b>{words}</b>,
            })}
      </button>
      <LensBadges lanes={props.lenses} onOpen={props.onLens} />
      {props.onRuns && (
        <button
          type="button"
          className="badge"
          onClick={props.onRuns}
          title={t('Live runs that are saved, and two runs against each other')}
          data-testid="runs"
        >
          {t('runs')}
        </button>
      )}
      {props.tool}
      <span className="spring" />
      {pending && (
        <span className="badge" data-testid="pending" data-volatile>
          <LiveSign /> {pending}
        </span>
      )}
      <ControlBadge control={control} onControl={props.onControl} />
    </div>
  );
}

/** An arm that works as an older kernel did is no older kernel. */
const baseWords = t(
  'All lanes run the same Linux, each with its own patches, unless a lane names another: old behaviour is old code put back into it.',
);

/** A recording is never shown without saying so, with its day and its kernel. */
export function SourceBadge({
  run,
  kernel,
}: {
  readonly run: RunMessage | null;
  readonly kernel: string | null;
}) {
  if (!run) return null;
  if (run.source === 'recorded' && isSavedRun(run.run_id))
    return (
      <span className="badge" data-tone="recorded" data-testid="source">
        {rich('{icon} <b>saved run</b> of {when}{more}', {
          icon: <RecordedSign />,
          b: (words) => <b>{words}</b>,
          when: when(run.recorded_at ?? run.started_at ?? ''),
          more: kernel && t(', Linux {kernel}', { kernel }),
        })}
      </span>
    );
  if (run.source === 'recorded')
    return (
      <span className="badge" data-tone="recorded" data-testid="source" title={said(run, kernel)}>
        <RecordedSign /> <b>{/synthetic/.test(run.message) ? t('synthetic') : t('recorded')}</b>{' '}
        {[run.recorded_at ? day(run.recorded_at) : '', kernel ? `Linux ${kernel}` : '']
          .filter(Boolean)
          .join(', ')}
      </span>
    );
  return (
    <span className="badge" data-testid="source" title={said(run, kernel)}>
      <LiveSign /> <b>{t('live')}</b> {liveWords(run)}{' '}
      {kernel ? t('Linux {kernel}', { kernel }) : ''}
    </span>
  );
}

const said = ({ message }: RunMessage, kernel: string | null) =>
  [message, kernel && baseWords].filter(Boolean).join(' ');

function liveWords(run: RunMessage): string {
  if (run.phase === 'done') return t('run, over,');
  if (run.phase === 'stopped') return t('run, stopped,');
  return run.phase === 'failed' ? t('run, failed,') : '';
}

function ControlBadge({
  control,
  onControl,
}: {
  readonly control: ControlMessage | null;
  readonly onControl: (take: boolean) => void;
}) {
  // Of a run that is over nobody can have control.
  if (!control || (control.by === 'nobody' && !control.may_take)) return null;
  if (control.by === 'you')
    return (
      <button
        type="button"
        className="badge"
        onClick={() => onControl(false)}
        title={t('You control the live run. Press to give it back.')}
        data-testid="control"
      >
        <b>{t('you control')}</b>
      </button>
    );
  const whose = control.by === 'nobody' ? t('nobody controls') : 'watching';
  return control.may_take ? (
    <button
      type="button"
      className="badge"
      onClick={() => onControl(true)}
      title={
        control.by === 'nobody'
          ? t('Nobody controls this live run now.')
          : t('Somebody else controls this live run.')
      }
      data-testid="control"
    >
      {rich('<b>{whose}</b> take control', { whose, b: (words) => <b>{words}</b> })}
    </button>
  ) : (
    <span
      className="badge"
      title={t('Somebody else controls this live run.')}
      data-testid="control"
    >
      <b>{whose}</b>
    </span>
  );
}
