// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Live runs that the server has saved, and comparisons between two runs of a lesson. A viewer can play, download and
 * delete saved runs.
 */

import { useCallback, useEffect, useState } from 'react';
import { locale, rich, t } from '../base/lang/t.ts';
import { siteOf } from '../base/site.ts';
import { formatNs } from '../base/units.ts';
import { recordingId, runNameOf } from '../derive/recording.ts';
import { paramWords } from '../navigation/knobs.ts';
import { frontPage, writePlace } from '../navigation/place.ts';
import { check, list, type Read } from '../protocol/check.ts';
import {
  readComparison,
  readDeleted,
  readFailureBody,
  readSavedRun,
} from '../protocol/contract.checks.gen.ts';
import type * as wire from '../protocol/contract.gen.ts';
import type { Lesson } from '../protocol/lesson.ts';
import { Dialog } from '../ui/dialog.tsx';
import { HeadRow, off } from '../ui/parts.tsx';
import { day, fileSize, sentenceCase, when } from '../ui/words.ts';
import './saved-runs.css';

// Live runs that the server has saved. A viewer can compare each of them with another saved run or with a recording.

/** An entry of the server's list of saved runs. A run whose lesson is missing cannot be opened. */
type SavedRun = wire.SavedRun;
export type Difference = wire.Difference;
type FigurePair = wire.FigurePair;
/** One of the two runs in a comparison, as the run's manifest describes it. */
export type ComparedSide = wire.Side;
/** Two runs in order, and their differences. */
export type Comparison = wire.Comparison;

/** The id of a saved run, which `open` and addresses use. */
function savedId(run: Pick<SavedRun, 'name' | 'lesson'>): string {
  return `kept:${run.lesson}:${run.name}`;
}

/**
 * Request a URL, check the JSON of the response, and return it. If the request fails, throw the server's error
 * sentence.
 */
export async function fetchChecked<T>(
  url: string,
  read: Read<T>,
  init: RequestInit = {},
): Promise<T> {
  const answer = await fetch(url, init).catch((cause: unknown) => {
    if (init.signal?.aborted) throw cause;
    throw new Error(t('The server did not answer. Is it still running?'));
  });
  const body: unknown = await answer.json().catch(() => null);
  if (answer.ok) {
    const checked = check(read, body);
    if (checked.ok) return checked.value;
    throw new Error(
      t(
        "This page does not understand the server's answer: {place} {complaint}. Reload the page.",
        { place: checked.place, complaint: checked.complaint },
      ),
    );
  }
  const failure = check(readFailureBody, body);
  if (!failure.ok) throw new Error(t('The server refused ({status}).', { status: answer.status }));
  const { sentence, remedy } = failure.value.error;
  throw new Error(`${sentenceCase(sentence)} ${remedy}`);
}

interface SavedRunList {
  /** The saved runs; null until the server has responded. */
  readonly runs: readonly SavedRun[] | null;
  readonly failed: string;
  readonly remove: (name: string) => Promise<void>;
}

const readSavedRuns = list(readSavedRun);

const againMs = 3000;

/**
 * The saved runs of one lesson ('' for all lessons). While the list is visible, the page requests it repeatedly,
 * because the server saves a run some seconds after its end.
 */
function useSavedRuns(lesson: string, looking: boolean): SavedRunList {
  const [runs, setRuns] = useState<readonly SavedRun[] | null>(null);
  const [failed, setFailed] = useState('');
  const [asked, setAsked] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a removal asks again
  useEffect(() => {
    if (!looking || siteOf() !== null) return;
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | null = null;
    const look = () =>
      fetchChecked(`api/kept?lesson=${encodeURIComponent(lesson)}`, readSavedRuns, {
        signal: stop.signal,
      })
        .then(
          (runs) => {
            setRuns(runs);
            setFailed('');
          },
          (cause: Error) => setFailed(stop.signal.aborted ? '' : cause.message),
        )
        .finally(() => {
          if (!stop.signal.aborted) timer = setTimeout(look, againMs);
        });
    void look();
    return () => {
      stop.abort();
      if (timer !== null) clearTimeout(timer);
    };
  }, [lesson, looking, asked]);
  const remove = useCallback(async (name: string) => {
    try {
      await fetchChecked(`api/kept/${encodeURIComponent(name)}`, readDeleted, { method: 'DELETE' });
    } catch (cause) {
      setFailed(cause instanceof Error ? cause.message : String(cause));
    }
    setAsked((n) => n + 1);
  }, []);
  return { runs, failed, remove };
}

// A comparison of two runs of a lesson: first their differences, then both runs' figures for each arm.

interface Choice {
  readonly id: string;
  readonly title: string;
}

interface FoundProps {
  readonly lesson: Lesson;
  readonly found: Comparison;
}

interface CompareProps {
  readonly lesson: Lesson;
  readonly saved: readonly SavedRun[];
  readonly shown: string | null;
}

/** The runs that a viewer can compare: the saved runs, followed by the lesson's recordings. */
export function choicesOf(lesson: Lesson, saved: readonly SavedRun[]): readonly Choice[] {
  return [
    ...saved.map((run) => ({
      id: savedId(run),
      title: t('saved run of {when}', { when: when(run.recorded_at ?? '') }),
    })),
    ...lesson.recordings.map((recording) => ({
      id: recordingId(lesson, recording),
      title: t('recording {name}{when}', {
        name: recording.name,
        when: recording.recorded_at ? `, ${day(recording.recorded_at)}` : '',
      }),
    })),
  ];
}

function Compare({ lesson, saved, shown }: CompareProps) {
  const choices = choicesOf(lesson, saved);
  const [first, setFirst] = useState('');
  const [second, setSecond] = useState('');
  const [found, setFound] = useState<Comparison | null>(null);
  const [said, setSaid] = useState('');
  const one = first || (choices.some((c) => c.id === shown) ? shown : null) || choices[0]?.id || '';
  const other = second || choices.find((c) => c.id !== one)?.id || '';
  if (choices.length < 2) return null;
  const compare = async () => {
    setFound(null);
    setSaid(t('Loading both…'));
    try {
      const query = new URLSearchParams({ first: one, second: other });
      setFound(await fetchChecked(`api/compare?${query}`, readComparison));
      setSaid('');
    } catch (cause) {
      setSaid(cause instanceof Error ? cause.message : String(cause));
    }
  };
  return (
    <section className="compare" aria-label={t('Compare two runs')} data-testid="compare">
      <h3>{t('Compare two runs')}</h3>
      <p className="compare-choice">
        <RunPicker label={t('first')} value={one} choices={choices} onPick={setFirst} />
        <RunPicker label={t('second')} value={other} choices={choices} onPick={setSecond} />
        <button
          type="button"
          className="button"
          onClick={compare}
          {...off(one === other && t('Choose two runs that differ.'))}
        >
          {t('compare')}
        </button>
      </p>
      {said && <p role="status">{said}</p>}
      {found && (
        <div data-testid="compared">
          <Differences lesson={lesson} found={found} />
          <p>
            <a href={besideAddress(lesson, one, other)} data-testid="see-lanes">
              {t('see the lanes of both runs side by side')}
            </a>
          </p>
          <Figures lesson={lesson} found={found} />
        </div>
      )}
    </section>
  );
}

/** The address of the page that shows these two runs side by side. */
export function besideAddress(lesson: Lesson, first: string, second: string): string {
  const [run, beside] = [runNameOf(lesson, first), runNameOf(lesson, second)];
  return writePlace({ ...frontPage, lesson: lesson.slug, run, beside });
}

function RunPicker(props: {
  readonly label: string;
  readonly value: string;
  readonly choices: readonly Choice[];
  readonly onPick: (id: string) => void;
}) {
  return (
    <label className="small">
      {props.label}{' '}
      <select value={props.value} onChange={(event) => props.onPick(event.target.value)}>
        {props.choices.map((choice) => (
          <option key={choice.id} value={choice.id}>
            {choice.title}
          </option>
        ))}
      </select>
    </label>
  );
}

/** The differences between two runs. The page shows them before any figure or lane. */
export function Differences({ lesson, found }: FoundProps) {
  const title = (arm: string) => lesson.arms.find((a) => a.name === arm)?.title ?? arm;
  return (
    <>
      {found.differences.length === 0 ? (
        <p>{t('Knobs, kernels, config, patches, host and programs are the same.')}</p>
      ) : (
        <>
          <p>{t('They differ in:')}</p>
          <ul className="small" data-testid="differences">
            {found.differences.map((d) => (
              <li key={`${d.of} ${d.what} ${d.arm}`}>
                {rich(
                  '<b>{of}:</b> {what}{more}: {recorded} in the first run, {now} in the second run',
                  {
                    of: d.of,
                    b: (words) => <b>{words}</b>,
                    what: d.what,
                    more: d.arm && t(' of {arm}', { arm: title(d.arm) }),
                    recorded: d.recorded,
                    now: d.now,
                  },
                )}
              </li>
            ))}
          </ul>
        </>
      )}
      {Object.entries(found.only).map(([arm, which]) => (
        <p key={arm} className="small">
          {t('{arm} is only in the {which} run.', { arm: title(arm), which })}
        </p>
      ))}
    </>
  );
}

/** Both runs' figures for each arm, and what these figures prove. */
export function Figures({ lesson, found }: FoundProps) {
  const title = (arm: string) => lesson.arms.find((a) => a.name === arm)?.title ?? arm;
  return (
    <>
      <table className="table small">
        <HeadRow heads={[t('arm'), t('figure'), t('first'), t('second'), t('change')]} />
        <tbody>
          {found.figures.filter(isCount).map((row) => (
            <tr key={`${row.arm} ${row.figure}`}>
              <td>{title(row.arm)}</td>
              <td>{figureWords(row.figure)}</td>
              <td className="number">{shownFigure(row.figure, row.recorded)}</td>
              <td className="number">{shownFigure(row.figure, row.now)}</td>
              <td className="number">{change(row)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="small quiet">{found.worth}</p>
    </>
  );
}

/**
 * Whether a figure is a count. Rates of traced runs are not shown, because they would look like verdicts, and only
 * measured tables give verdicts.
 */
function isCount({ figure }: FigurePair): boolean {
  return figure !== 'ops_per_s';
}

/** The name of a figure in words: metrics.wait_ns.p50 becomes "wait, p50". The unit is shown with the value. */
export function figureWords(name: string): string {
  // The workload counted operations during the complete run, but a recording may contain only a part of the run.
  if (name === 'ops') return t('operations of the whole run');
  const words = name.split('.').filter((word) => word !== 'metrics' && word !== 'tallies');
  return words.map((word) => word.replace(/_[nu]s$/, '').replaceAll('_', ' ')).join(', ');
}

export function shownFigure(name: string, value: number | null): string {
  if (value === null) return '–';
  if (/_ns(\.|$)/.test(name)) return formatNs(value);
  if (/_us(\.|$)/.test(name)) return formatNs(value * 1000);
  return value.toLocaleString(locale(), { maximumFractionDigits: 2 });
}

function change({ ratio }: FigurePair): string {
  if (ratio === null) return '';
  const percent = 100 * (ratio - 1);
  return `${percent < 0 ? '−' : '+'}${Math.abs(percent).toFixed(1)} %`;
}

interface SavedRunsDialogProps {
  readonly lesson: Lesson;
  readonly open: boolean;
  /** Id of the run that is on the stage. */
  readonly shown: string | null;
  readonly onPlay: (runId: string) => void;
  readonly onClose: () => void;
}

export function SavedRunsDialog({ lesson, open, shown, onPlay, onClose }: SavedRunsDialogProps) {
  const { runs, failed, remove } = useSavedRuns(lesson.slug, open);
  return (
    <Dialog title={t('Saved runs')} open={open} onClose={onClose} testId="saved-runs">
      <p className="small quiet">
        {t(
          'The server saves every live run when the run is over. The newest run is listed first. If there are too many saved runs, the server deletes the oldest. The operator, and the person who started a run, can also delete a run.',
        )}
      </p>
      {failed && <p role="alert">{failed}</p>}
      {runs === null && !failed && <p role="status">{t('Loading the list…')}</p>}
      {runs?.length === 0 && <p>{t('No live run of this lesson is saved yet.')}</p>}
      <ul className="saved-list">
        {runs?.map((run) => (
          <li key={run.name} data-testid={`saved-${run.name}`}>
            <Line lesson={lesson} run={run} />
            <span className="saved-buttons">
              <button
                type="button"
                className="button"
                aria-pressed={shown === savedId(run)}
                onClick={() => onPlay(savedId(run))}
                aria-label={t('Play the run of {when}', {
                  when: when(run.recorded_at ?? ''),
                })}
              >
                {shown === savedId(run) ? t('on the stage') : t('play')}
              </button>
              <a
                className="link small"
                href={`api/runs/${encodeURIComponent(savedId(run))}/bundle`}
                download
              >
                {t('download')}
              </a>
              {run.deletable !== false && (
                <button
                  type="button"
                  className="link small"
                  onClick={() => void remove(run.name)}
                  aria-label={t('Delete the run of {when}', {
                    when: when(run.recorded_at ?? ''),
                  })}
                >
                  {t('delete')}
                </button>
              )}
            </span>
          </li>
        ))}
      </ul>
      <Compare lesson={lesson} saved={runs ?? []} shown={shown} />
    </Dialog>
  );
}

function Line({ lesson, run }: { readonly lesson: Lesson; readonly run: SavedRun }) {
  const titles = run.arms.map((name) => lesson.arms.find((a) => a.name === name)?.title ?? name);
  const workload = lesson.workloads[run.workload ?? '']?.title ?? run.workload;
  const knobs = paramWords(lesson, run.params ?? {});
  return (
    <span>
      <b>{t('saved run of {when}', { when: when(run.recorded_at ?? '') })}</b>
      <small>
        {titles.join(', ')}
        <br />
        {[workload, ...knobs, `${run.clock} clock`, fileSize(run.bytes)].join(' · ')}
      </small>
    </span>
  );
}

/** Links to all saved runs, for the front page. Renders nothing if no runs are saved. */
export function SavedOnHome({
  titles,
}: {
  readonly titles: readonly { readonly slug: string; readonly title: string }[];
}) {
  const { runs } = useSavedRuns('', true);
  const known = (runs ?? []).filter((run) => titles.some((t) => t.slug === run.lesson));
  if (known.length === 0) return null;
  return (
    <details className="saved-front" data-testid="saved-front">
      <summary>
        {t('{known, plural, one {# live run} other {# live runs}} saved on this machine', {
          known: known.length,
        })}
      </summary>
      <ul>
        {known.map((run) => (
          <li key={run.name}>
            <a href={`?lesson=${run.lesson}&run=${savedId(run)}`}>
              {t('saved run of {when}', { when: when(run.recorded_at ?? '') })}
            </a>{' '}
            <span className="quiet small">
              {titles.find((t) => t.slug === run.lesson)?.title}: {run.arms.join(', ')},{' '}
              {fileSize(run.bytes)}
            </span>
          </li>
        ))}
      </ul>
    </details>
  );
}
