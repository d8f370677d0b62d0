// SPDX-License-Identifier: GPL-2.0-or-later
/** Two runs of a lesson: what they differ in, stated first, then their figures side by side by arm. */

import { useState } from 'react';
import { locale, rich, t } from '../base/lang/t.ts';
import { formatNs } from '../base/units.ts';
import { recordingId, runNameOf } from '../derive/recording.ts';
import { frontPage, writePlace } from '../navigation/place.ts';
import { readComparison } from '../protocol/contract.checks.gen.ts';
import type { Lesson } from '../protocol/lesson.ts';
import { HeadRow, off } from '../ui/parts.tsx';
import { day, when } from '../ui/words.ts';
import { ask, type Comparison, type FigurePair, type SavedRun, savedId } from './saved-list.ts';

interface Choice {
  readonly id: string;
  readonly title: string;
}

interface FoundProps {
  readonly lesson: Lesson;
  readonly found: Comparison;
}

interface Props {
  readonly lesson: Lesson;
  readonly saved: readonly SavedRun[];
  readonly shown: string | null;
}

/** What can be compared: saved runs, then the lesson's recordings. */
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

export function Compare({ lesson, saved, shown }: Props) {
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
    setSaid(t('Both are being read…'));
    try {
      const query = new URLSearchParams({ first: one, second: other });
      setFound(await ask(`api/compare?${query}`, readComparison));
      setSaid('');
    } catch (cause) {
      setSaid(cause instanceof Error ? cause.message : String(cause));
    }
  };
  return (
    <section className="compare" aria-label={t('Compare two runs')} data-testid="compare">
      <h3>{t('Compare two runs')}</h3>
      <p className="compare-choice">
        <Pick label={t('first')} value={one} choices={choices} onPick={setFirst} />
        <Pick label={t('second')} value={other} choices={choices} onPick={setSecond} />
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
              {t('see their lanes beside each other')}
            </a>
          </p>
          <Figures lesson={lesson} found={found} />
        </div>
      )}
    </section>
  );
}

/** Where both stand beside each other. */
export function besideAddress(lesson: Lesson, first: string, second: string): string {
  const [run, beside] = [runNameOf(lesson, first), runNameOf(lesson, second)];
  return writePlace({ ...frontPage, lesson: lesson.slug, run, beside });
}

function Pick(props: {
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

/** What two runs differ in; before any figure and any lane. */
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
                {rich('<b>{of}:</b> {what}{more}: {recorded} in the first, {now} in the second', {
                  of: d.of,
                  b: (words) => <b>{words}</b>,
                  what: d.what,
                  more: d.arm && t(' of {arm}', { arm: title(d.arm) }),
                  recorded: d.recorded,
                  now: d.now,
                })}
              </li>
            ))}
          </ul>
        </>
      )}
      {Object.entries(found.only).map(([arm, which]) => (
        <p key={arm} className="small">
          {t('{arm} is in the {which} alone.', { arm: title(arm), which })}
        </p>
      ))}
    </>
  );
}

/** Their figures by arm, and what these are worth. */
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

/** Rates of traced runs would look like a verdict; those come from measured tables alone. */
function isCount({ figure }: FigurePair): boolean {
  return figure !== 'ops_per_s';
}

/** metrics.wait_ns.p50 -> "wait, p50"; the unit stands with the value. */
export function figureWords(name: string): string {
  // A recording may be a window of the run; the workload counted all of it.
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
