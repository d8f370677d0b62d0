// SPDX-License-Identifier: GPL-2.0-or-later
/** Live runs beside the one on the stage: what one waits for, one's own, and others' to watch. */

import { useEffect, useState } from 'react';
import { rich, t } from '../base/lang/t.ts';
import { paramWords } from '../navigation/knobs.ts';
import type { Lesson } from '../protocol/lesson.ts';
import type { LiveRun, RunsMessage, WaitingRun } from '../protocol/messages.ts';
import { LiveSign } from '../ui/parts.tsx';

interface Props {
  readonly lesson: Lesson;
  /** `at`: the page's time when it came. */
  readonly runs: RunsMessage & { readonly at: number };
  /** The run on the stage, or on its way there. */
  readonly shown: string | null;
  readonly onWatch: (runId: string) => void;
  /** Withdraws a waiting request, or stops one's own measurement. */
  readonly onCancel: (runId: string) => void;
  /** Back from somebody's live run; null where there is nothing to go back from or to. */
  readonly onRecording: (() => void) | null;
  /** To a recording of what one waits for; null where there is none, or it is on the stage. */
  readonly onEqual?: (() => void) | null;
}

/** So many lines at most; more live runs than this are counted only. */
const most = 2;

export function RunsLine(props: Props) {
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
            ? t('Your measurement has the machine for itself; live runs wait.')
            : t('A measurement has the machine for itself; live runs wait until it is over.')}
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
              t(' Your {nouns} comes after it.', { nouns: nouns[waiting.behind] }),
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

/** "next of 3", "number 2 of 3"; alone it is just next. */
export function ordinalWords({ place, waiting }: Pick<WaitingRun, 'place' | 'waiting'>): string {
  const of = waiting > 1 ? t(' of {waiting}', { waiting }) : '';
  return place === 1 ? t('next{of}', { of }) : t('number {place}{of}', { place, of });
}

/** An estimate of the server, as rough as it is. */
export function waitWords(seconds: number): string {
  if (seconds < 5) return t('any moment now');
  if (seconds < 55) return t('in about {seconds} s', { seconds: Math.ceil(seconds / 5) * 5 });
  return t('in about {seconds} min', { seconds: Math.round(seconds / 60) || 1 });
}

/** "9 hogs, 2 lanes, wall clock" */
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
