// SPDX-License-Identifier: GPL-2.0-or-later
/** The lock path in figures, phase by phase, and why it feeds itself or does not. */

import { t } from '../../base/lang/t.ts';
import { formatCount } from '../../base/units.ts';
import type { LaneIndex, RunIndex } from '../../derive/types.ts';
import { armTitle } from '../../derive/words.ts';
import type { PanelProps } from '../contract.ts';
import { phaseWords } from './draw-lock.ts';
import { intervalsOf, phasesOf, rateOf, shareIn, slowShare } from './lock.ts';
import { burstWords, phaseFigures } from './lock-figures.ts';
import { stillRead } from './so-far.ts';

export interface PhaseRow {
  readonly phase: string;
  readonly slow: string;
  readonly rate: string;
  readonly retries: string;
}

export function phaseRows(lane: LaneIndex, index: RunIndex): PhaseRow[] {
  const intervals = intervalsOf(lane);
  return phasesOf(index).map(({ name, t0, t1 }) => {
    if (!lane.ended && lane.watermark < t1)
      return { phase: phaseWords[name], slow: stillRead, rate: stillRead, retries: stillRead };
    const share = shareIn(intervals, t0, t1);
    const rate = rateOf(share);
    const [percent, per] = phaseFigures(lane, name, true, slowShare(share), rate);
    return {
      phase: phaseWords[name],
      slow: percent,
      rate: per,
      retries: rate === null ? '–' : formatCount(share.retries),
    };
  });
}

/** Why a lock that is taken once stays taken. */
const feeds = [
  t('Somebody holds the lock of the word, if only for an instant.'),
  t('Whoever comes by now finds it locked. He may not swap; so he takes the lock, too.'),
  t(
    'While he waits and while he holds it, the next one comes by, and finds it locked because of him.',
  ),
  t(
    'It ends only when an operation finds nobody before it. As long as they come faster than the lock is handed on, that moment does not come.',
  ),
];

/** Why it does not, where nobody stands in a queue. */
const recovers = [
  t('Somebody holds the lock of the word, if only for an instant.'),
  t('Whoever comes by now finds it locked. He may not swap; so he tries to take the lock, too.'),
  t('Nobody stands in a queue: the lock is free until one of them is awake and tries again.'),
  t(
    'An operation that comes by in such a moment finds it free, and swaps. So it ends with what began it.',
  ),
];

/** What this run shows, if it is known: with most operations under the lock after the storm, the state feeds itself. */
export function stepsOf(lane: LaneIndex, index: RunIndex): readonly string[] {
  const after = phasesOf(index).find(({ name }) => name === 'after');
  if (after === undefined) return feeds;
  const slow = slowShare(shareIn(intervalsOf(lane), after.t0, after.t1));
  return slow !== null && slow < 0.5 ? recovers : feeds;
}

export function PathPanel({ runIndex, lesson }: PanelProps) {
  return (
    <>
      {runIndex.lanes.map((lane) => (
        <table key={lane.arm} className="table small" data-testid={`path-${lane.arm}`}>
          <caption className="small quiet">
            {t('{name}, whole phases', { name: armTitle(lesson, lane) })}
          </caption>
          <thead>
            <tr>
              <th scope="col">{t('phase')}</th>
              <th scope="col" className="right">
                {t('under the lock')}
              </th>
              <th scope="col" className="right">
                {t('a second')}
              </th>
            </tr>
          </thead>
          <tbody>
            {phaseRows(lane, runIndex).map(({ phase, slow, rate, retries }) => (
              <tr key={phase} title={t('failed compare-and-swaps: {retries}', { retries })}>
                <th scope="row">{phase}</th>
                <td className="right">{slow}</td>
                <td className="right">{rate}</td>
              </tr>
            ))}
          </tbody>
        </table>
      ))}
      {runIndex.lanes.map((lane) => {
        const words = lane.ended ? burstWords(lane, runIndex).trim() : '';
        return (
          words && (
            <p key={lane.arm} className="small" data-testid={`burst-${lane.arm}`}>
              {words}
            </p>
          )
        );
      })}
      <ol className="small">
        {(runIndex.lanes[0] ? stepsOf(runIndex.lanes[0], runIndex) : feeds).map((step) => (
          <li key={step}>{step}</li>
        ))}
      </ol>
      <p className="small quiet">
        {t('Rates are of a traced run on vCPUs that share the host: read the share, not the rate.')}
      </p>
    </>
  );
}
