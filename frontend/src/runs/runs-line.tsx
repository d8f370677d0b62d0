// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Lists live runs that are not on the stage: this visitor's queued and running runs, and other visitors' runs that this
 * visitor can watch.
 */

import { useEffect, useState } from 'react';
import { rich, t } from '../base/lang/t.ts';
import { differs, workloadOf } from '../derive/recording.ts';
import { knobWords, paramWords, sceneParams } from '../navigation/knobs.ts';
import type { Lesson, Prediction, Scene } from '../protocol/lesson.ts';
import type {
  Contention,
  LaneMessage,
  LiveRun,
  RunMessage,
  RunsMessage,
  WaitingRun,
} from '../protocol/messages.ts';
import { useDenied } from '../store/hooks.tsx';
import { CrossIcon, LiveSign, off, off as offBecause } from '../ui/parts.tsx';

interface RunsLineProps {
  readonly lesson: Lesson;
  /** @param at time at which the message arrived, by this page's clock */
  readonly runs: RunsMessage & { readonly at: number };
  /** The run that is on the stage, or that is being loaded for the stage. */
  readonly shown: string | null;
  readonly onWatch: (runId: string) => void;
  /** Cancel a queued request, or stop this visitor's own measurement. */
  readonly onCancel: (runId: string) => void;
  /** Return from another visitor's live run to the recording; null if the page does not show another visitor's run. */
  readonly onRecording: (() => void) | null;
  /**
   * Open a recording that has the same kernels and knobs as the queued run. Null if there is no such recording, or if
   * this recording is on the stage.
   */
  readonly onEqual?: (() => void) | null;
}

/** Maximum number of runs in the list. If there are more live runs, the line states only their number. */
const most = 2;

export function RunsLine(props: RunsLineProps) {
  const { lesson, runs, shown, onWatch, onCancel, onRecording, onEqual = null } = props;
  const { waiting } = runs;
  const watched = runs.live.find((one) => one.run_id === shown && !one.yours);
  const here = runs.live.filter((one) => one.lesson === lesson.slug && one.purpose === 'explain');
  const others = here.filter((one) => one.run_id !== shown);
  const measure = runs.live.find((one) => one.purpose === 'measure');
  if (!waiting && !watched && others.length === 0 && !measure) return null;
  return (
    <div className="notices" data-testid="live-runs" data-volatile>
      {waiting && <WaitLine waiting={waiting} at={runs.at} onCancel={onCancel} />}
      {waiting?.purpose === 'explain' && onEqual && (
        <Line>
          {rich('A recorded run has the same kernels and knobs.{button}', {
            button: <Button words={t('play it meanwhile')} onPress={onEqual} testId="play-equal" />,
          })}
        </Line>
      )}
      {measure && (
        <Line>
          {measure.yours
            ? t('Your measurement needs the whole machine; live runs wait.')
            : t(
                'A measurement needs the whole machine; live runs wait until the measurement is over.',
              )}
          {measure.yours && (
            <Button
              words={t('stop')}
              onPress={() => onCancel(measure.run_id)}
              testId="stop-measuring"
            />
          )}
        </Line>
      )}
      {watched && onRecording && (
        <Line>
          {rich('This is somebody else’s live run.{button}', {
            button: (
              <Button words={t('back to the recording')} onPress={onRecording} testId="unwatch" />
            ),
          })}
        </Line>
      )}
      {others.slice(0, most).map((run) => (
        <Line key={run.run_id}>
          {run.yours ? t('Your live run goes on') : t('Somebody runs live')}:{' '}
          {liveWords(lesson, run)}.
          <Button
            words={run.yours ? t('show it') : t('watch')}
            onPress={() => onWatch(run.run_id)}
            testId="watch"
          />
        </Line>
      ))}
      {others.length > most && (
        <Line>
          {t('{others, plural, one {# more live run} other {# more live runs}} of this lesson.', {
            others: others.length - most,
          })}
        </Line>
      )}
    </div>
  );
}

function Line({ children }: { readonly children: React.ReactNode }) {
  return (
    <p className="notice" data-calm>
      <LiveSign />
      <span>{children}</span>
    </p>
  );
}

function Button(props: {
  readonly words: string;
  readonly onPress: () => void;
  readonly testId: string;
}) {
  return (
    <>
      {' '}
      <button type="button" className="link" onClick={props.onPress} data-testid={props.testId}>
        {props.words}
      </button>
    </>
  );
}

const nouns = { measure: t('measurement'), explain: t('live run') } as const;

function WaitLine(props: {
  readonly waiting: WaitingRun;
  readonly at: number;
  readonly onCancel: (runId: string) => void;
}) {
  const { waiting, at, onCancel } = props;
  const [now, setNow] = useState(() => performance.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(performance.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  const left = waiting.estimate_s - Math.max(0, now - at) / 1000;
  const what = nouns[waiting.purpose];
  return (
    <p className="notice" data-calm role="status" data-testid="waiting">
      <LiveSign />
      <span>
        {rich(
          'Your {what} waits for a free place on the machine: {waiting}, {left}.{more}{button}',
          {
            what,
            waiting: ordinalWords(waiting),
            left: waitWords(left),
            more:
              waiting.behind &&
              t(' Your {nouns} comes after that.', { nouns: nouns[waiting.behind] }),
            button: (
              <Button
                words={t('cancel')}
                onPress={() => onCancel(waiting.run_id)}
                testId="cancel-run"
              />
            ),
          },
        )}
      </span>
    </p>
  );
}

/** Describe a place in the queue: "next of 3", "number 2 of 3"; only "next" if no other run is queued. */
export function ordinalWords({ place, waiting }: Pick<WaitingRun, 'place' | 'waiting'>): string {
  const of = waiting > 1 ? t(' of {waiting}', { waiting }) : '';
  return place === 1 ? t('next{of}', { of }) : t('number {place}{of}', { place, of });
}

/** Describe the waiting time that the server estimates, as a rounded number. */
export function waitWords(seconds: number): string {
  if (seconds < 5) return t('any moment now');
  if (seconds < 55) return t('in about {seconds} s', { seconds: Math.ceil(seconds / 5) * 5 });
  return t('in about {seconds} min', { seconds: Math.round(seconds / 60) || 1 });
}

/** Describe a live run: "9 hogs, 2 lanes, wall clock". */
function liveWords(lesson: Lesson, run: LiveRun): string {
  const title = lesson.workloads[run.workload]?.title ?? run.workload;
  const knobs = paramWords(lesson, run.params);
  return [
    title,
    ...knobs.slice(0, 3),
    t('{arms, plural, one {# lane} other {# lanes}}', { arms: run.arms.length }),
    t('{clock} clock', { clock: run.clock }),
  ].join(', ');
}

// Appears if the run on the stage does not fit the step. It lists the differences and offers two remedies.

interface MismatchProps {
  readonly lesson: Lesson;
  readonly scene: Scene;
  readonly run: RunMessage;
  /** Titles of the step's arms that are missing in the run. */
  readonly missing: readonly string[];
  /** The reason that the step cannot be run now; empty if the step can be run. */
  readonly blocked: string;
  readonly onRun: () => void;
  /** Return to the recording; null if the step has no recording. */
  readonly onRecording: (() => void) | null;
}

export function Mismatch({
  lesson,
  scene,
  run,
  missing,
  onRun,
  onRecording,
  ...props
}: MismatchProps) {
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
          {t('This step shows {list}, which the {what} on the stage does not have.', {
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
          {t('This step is about {list}; the {what} on the stage has {list2}.', {
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

// Determines whether the host gave a run the CPU time that the run needed. Pure.

/**
 * How much the vCPUs of a run waited for the host's CPUs. All lanes are combined, because lanes also compete with each
 * other.
 */
export interface Contended {
  /** Time that the vCPUs waited for a host CPU, as a share of the CPU time that they wanted, 0 to 1. */
  readonly share: number;
  /** Whether waiting has distorted the run's durations and counts. */
  readonly distorted: boolean;
}

/**
 * Returns null on the count clock, because it measures no time. Also returns null if the axis counts points, because
 * counted accesses have no durations that a busy host could lengthen.
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

/** The reason that the prediction is not judged on this run; empty if it is judged. */
export function unjudged(
  found: Contended | null,
  prediction: Pick<Prediction, 'judged_when_busy'>,
): string {
  if (!found?.distorted || prediction.judged_when_busy) return '';
  return t(
    'Not judged on this run: the host was busy, and the run’s vCPUs waited {share} of their time for a CPU.',
    { share: percent(found.share) },
  );
}

// Warns that the host was too busy for a run on the wall clock. The notice offers the count clock as a remedy.

interface ContendedNoticeProps {
  readonly found: Contended | null;
  /** Whether the step can be run on the count clock. */
  readonly offers: boolean;
  /** The reason that no run can be started now; empty if a run can be started. */
  readonly blocked: string;
  readonly onCount: () => void;
}

export function ContendedNotice({ found, offers, onCount, ...props }: ContendedNoticeProps) {
  const blocked = useDenied('run') || props.blocked;
  if (!found?.distorted) return null;
  return (
    <div className="notices">
      <p className="notice" role="status" data-testid="contended" data-volatile>
        <CrossIcon />
        <span>
          {rich(
            'The host was busy: the vCPUs of this run waited for a host CPU {share} of the time in which they could have run. Times and counts are distorted, and no prediction is judged on this run. <span>{offers}</span>',
            {
              share: percent(found.share),
              offers: offers
                ? t(
                    'The count clock counts instructions instead, and gives the same result on every host.',
                  )
                : t('Run the lesson again when the host is less busy, or with fewer lanes.'),
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

/**
 * Whether the step's workload can run on the count clock. A workload that listens on the network can run only on the
 * wall clock.
 */
export function canCount(lesson: Lesson, scene: Scene): boolean {
  return lesson.clocks.includes('count') && !lesson.workloads[workloadOf(lesson, scene)]?.input;
}
