// SPDX-License-Identifier: GPL-2.0-or-later
/** Badges that describe the picture: recorded or live, clock, lanes, losses, control. */

import type { ReactNode } from 'react';
import { locale, rich, t } from '../base/lang/t.ts';
import { formatCount } from '../base/units.ts';
import { isSavedRun } from '../derive/recording.ts';
import type { Lesson } from '../protocol/lesson.ts';
import type { ControlMessage, LensMessage, RunMessage } from '../protocol/messages.ts';
import { useEventsVersion, useStore } from '../store/hooks.tsx';
import { CrossIcon, LiveSign, RecordedSign } from '../ui/parts.tsx';
import { day, sentenceCase, when } from '../ui/words.ts';
import { ClockTerm, TermMark } from './terms/terms.tsx';

// A badge for each lens (x-ray or microscope). Pressing the badge shows the state of the lens on each lane.

export interface LaneLens {
  readonly title: string;
  readonly lens: LensMessage;
}

const routes: Readonly<Record<LensMessage['route'], string>> = {
  memory: t("the guest's memory is read directly"),
  qmp: t('the guest’s memory is read through QMP text, which is slow'),
  unknown: '',
};

interface LensBadgesProps {
  readonly lanes: readonly LaneLens[];
  readonly onOpen: () => void;
}

const titles: Readonly<Record<LensMessage['lens'], string>> = {
  xray: 'x-ray',
  microscope: 'microscope',
};

/** Badges of the lenses; renders nothing if no lane has a lens. */
function LensBadges({ lanes, onOpen }: LensBadgesProps) {
  return (['xray', 'microscope'] as const).map((name) => (
    <LensBadge
      key={name}
      name={name}
      lanes={lanes.filter(({ lens }) => lens.lens === name && lens.state !== 'off')}
      onOpen={onOpen}
    />
  ));
}

function LensBadge({
  name,
  lanes: there,
  onOpen,
}: LensBadgesProps & { readonly name: LensMessage['lens'] }) {
  if (there.length === 0) return null;
  const bad = there.some(({ lens }) => lens.state === 'failed');
  const sum = (of: (lens: LensMessage) => number) => there.reduce((n, l) => n + of(l.lens), 0);
  const torn = sum((lens) => lens.torn);
  const failed = sum((lens) => lens.failed);
  return (
    <button
      type="button"
      className="badge"
      data-tone={bad ? 'hazard' : undefined}
      onClick={onOpen}
      data-testid={name === 'xray' ? 'lens' : name}
      data-volatile
    >
      {bad && <CrossIcon />} {titles[name]}{' '}
      {/* Rendered as one piece, since badges have gaps between pieces, and a comma must follow the number. */}
      <span>
        <b>{formatCount(sum((lens) => lens.samples))}</b>
        {torn + failed > 0
          ? t(', {torn} torn, {failed} failed', {
              torn: formatCount(torn),
              failed: formatCount(failed),
            })
          : ''}
        {there.some(({ lens }) => lens.state === 'attaching') && t(', attaching')}
      </span>
    </button>
  );
}

/** The state of each lane's x-ray, with the reason if it stopped. */
export function LensList({ lanes }: { readonly lanes: readonly LaneLens[] }) {
  return (
    <div className="loss-list">
      {lanes.map(({ title, lens }) => (
        <section key={`${title} ${lens.lens}`}>
          <h3>
            {title}, {titles[lens.lens]}
          </h3>
          {lens.message && (
            <p>
              {lens.state === 'failed' && <CrossIcon />} {sentenceCase(lens.message)} {lens.remedy}
            </p>
          )}
          {lens.lens === 'xray' ? (
            <p>
              {rich(
                '{samples, plural, one {# sample} other {# samples}}; {torn} torn reads (two reads differed), {failed} failed, {dropped} dropped{more}.',
                {
                  samples: lens.samples,
                  torn: formatCount(lens.torn),
                  failed: formatCount(lens.failed),
                  dropped: formatCount(lens.dropped),
                  more: routes[lens.route] && `; ${routes[lens.route]}`,
                },
              )}
            </p>
          ) : (
            <p>
              {t(
                '{samples, plural, one {# access} other {# accesses}} stored individually; {dropped} more did not fit, but the counts include all accesses.',
                { samples: lens.samples, dropped: formatCount(lens.dropped) },
              )}
            </p>
          )}
        </section>
      ))}
      <p className="small quiet">
        {t(
          'The x-ray reads the running kernel’s memory from the host and never stops the kernel. A sample shows the memory at the sample’s time, within the sample’s error. The microscope observes the loads and stores of chosen functions while QEMU executes them. It counts all these accesses, and stores a limited number individually.',
        )}
      </p>
    </div>
  );
}

interface StateStripProps {
  readonly run: RunMessage | null;
  readonly kernel: string | null;
  readonly lanes: number;
  readonly lost: number;
  readonly gaps: number;
  readonly control: ControlMessage | null;
  readonly pending: string;
  /** Progress of the recording that is being read; empty if no recording is being read. */
  readonly coming?: string;
  readonly lenses: readonly LaneLens[];
  readonly onLoss: () => void;
  readonly onLens: () => void;
  /** Opens the list of saved runs; absent without a server. */
  readonly onRuns?: (() => void) | undefined;
  readonly onControl: (take: boolean) => void;
  /** A button that acts on the lanes, for pages that cannot show the button elsewhere. */
  readonly tool?: ReactNode;
}

export function StateStrip(props: StateStripProps) {
  const { run, kernel, lanes, lost, gaps, pending } = props;
  const control = props.control?.run_id === run?.run_id ? props.control : null;
  return (
    <div className="state-strip" data-testid="state">
      <SourceBadge run={run} kernel={kernel} next={pending !== ''} />
      {run && (
        <span className="badge" data-testid="clock">
          <ClockTerm clock={run.clock}>{t('clock')}</ClockTerm>{' '}
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
          "An event is one line of the guest's trace. If events were lost, the counts are lower bounds.",
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
          title={t('Saved live runs, and comparisons of two runs')}
          data-testid="runs"
        >
          {t('runs')}
        </button>
      )}
      {props.tool}
      <span className="spring" />
      {props.coming && (
        <span className="badge state-coming" role="status" data-testid="coming" data-volatile>
          {props.coming}
        </span>
      )}
      {pending && (
        <span className="badge" data-testid="pending" data-volatile>
          <LiveSign /> {pending}
        </span>
      )}
      <ControlBadge control={control} onControl={props.onControl} />
    </div>
  );
}

/** An arm may behave like an older kernel, but it is not an older kernel. */
const baseWords = t(
  'All lanes run the same Linux version, each with its own patches, unless a lane names another version. Old behaviour comes from old code that a patch restores.',
);

/** Shows whether the run is a recording, with its date and kernel. */
export function SourceBadge({
  run,
  kernel,
  next = false,
}: {
  readonly run: RunMessage | null;
  readonly kernel: string | null;
  /** Whether another run is about to replace this run. */
  readonly next?: boolean;
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
      <LiveSign /> <b>{t('live')}</b> {liveWords(run, next)}{' '}
      {kernel ? t('Linux {kernel}', { kernel }) : ''}
    </span>
  );
}

const said = ({ message }: RunMessage, kernel: string | null) =>
  [message, kernel && baseWords].filter(Boolean).join(' ');

function liveWords(run: RunMessage, next: boolean): string {
  if (next) return t('run, the previous one,');
  if (run.phase === 'done') return t('run, finished,');
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
  // Nobody can control a finished run.
  if (!control || (control.by === 'nobody' && !control.may_take)) return null;
  if (control.by === 'you')
    return (
      <button
        type="button"
        className="badge"
        onClick={() => onControl(false)}
        title={t('You control the live run. Press to give up control.')}
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

// The intervals in which events were lost, for each lane.

interface LaneLoss {
  readonly arm: string;
  readonly title: string;
  readonly events: number;
  readonly losses: readonly {
    readonly t0: number;
    readonly t1: number;
    /** Number of lost events; null if it is unknown. */
    readonly events: number | null;
    readonly where: string;
  }[];
  readonly gapRows: number;
}

export function LossList({ lanes }: { readonly lanes: readonly LaneLoss[] }) {
  return (
    <div className="loss-list">
      {lanes.map((lane) => (
        <section key={lane.arm}>
          <h3>{lane.title}</h3>
          {lane.events === 0 && lane.gapRows === 0 && (
            <p className="quiet">
              {t('Nothing was lost: every event that the kernel wrote is here.')}
            </p>
          )}
          {lane.events > 0 && (
            <p>
              {rich('{icon} {events, plural, one {# event} other {# events}} lost.', {
                icon: <CrossIcon />,
                events: lane.events,
              })}
            </p>
          )}
          <ul>
            {lane.losses.map((loss) => (
              <li key={`${loss.where} ${loss.t0}`}>
                {t('{events} in the {where}, between {from} and {to} ms', {
                  events:
                    loss.events === null
                      ? t('An unknown number of events')
                      : t('{events, plural, one {# event} other {# events}}', {
                          events: loss.events,
                        }),
                  where: loss.where,
                  from: (loss.t0 / 1e6).toFixed(3),
                  to: (loss.t1 / 1e6).toFixed(3),
                })}
              </li>
            ))}
          </ul>
          {lane.gapRows > 0 && (
            <p>
              {t(
                '{gapRows, plural, one {# row} other {# rows}} were not sent to this browser, which was too slow. Reload the page to get them.',
                { gapRows: lane.gapRows },
              )}
            </p>
          )}
        </section>
      ))}
      <p className="small quiet">
        {t(
          'Where events were lost, counts and the numbers in sentences are too low. No measured number comes from such a run.',
        )}
      </p>
    </div>
  );
}

// Data for the badges of all lanes together: losses, lenses, and the kernel.

export function useLosses(lesson: Lesson, arms: readonly string[]): readonly LaneLoss[] {
  const store = useStore();
  useEventsVersion();
  const run = store.shown();
  return lesson.arms
    .filter((arm) => arms.includes(arm.name))
    .map((arm) => {
      const lane = run?.lanes.get(arm.name);
      const lostEvents = lane?.losses.reduce((sum, loss) => sum + (loss.events ?? 1), 0) ?? 0;
      return {
        arm: arm.name,
        title: arm.title,
        events: Math.max(lostEvents, lane?.metrics?.events_lost ?? 0),
        losses: lane?.losses ?? [],
        gapRows: lane?.gaps.reduce((sum, gap) => sum + gap.rows, 0) ?? 0,
      };
    });
}

/** State of each lane's x-ray; lanes without an x-ray are omitted. */
export function useLenses(lesson: Lesson, arms: readonly string[]): readonly LaneLens[] {
  const store = useStore();
  useEventsVersion();
  const run = store.shown();
  return lesson.arms
    .filter((arm) => arms.includes(arm.name))
    .flatMap(({ name, title }) =>
      [...(run?.lanes.get(name)?.lenses.values() ?? [])].map((lens) => ({ title, lens })),
    );
}

/** The releases of the kernels on the stage, as printed by uname; null if none has booted. */
export function useKernel(): string | null {
  const store = useStore();
  useEventsVersion();
  const lanes = [...(store.shown()?.lanes.values() ?? [])];
  const releases = new Set(lanes.flatMap(({ state }) => state?.kernel || []));
  return [...releases].join(', ') || null;
}
