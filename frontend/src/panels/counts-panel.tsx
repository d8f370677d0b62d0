// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Counts of the run on the stage, and the share of time spent waiting. It never shows rates, because traced runs give
 * none.
 */

import { rich, t } from '../base/lang/t.ts';
import { formatCount } from '../base/units.ts';
import { laneOf } from '../derive/query.ts';
import { shareText, waitedUpTo } from '../derive/summary.ts';
import { useCounts, useCountTable, useWholeIndex } from '../playback/hooks.tsx';
import type { Lesson } from '../protocol/lesson.ts';
import { useMetrics, useRun } from '../store/hooks.tsx';
import { CountsTable } from '../views/arm-table.tsx';
import type { Counts } from '../views/contract.ts';
import { TermMark } from './terms/terms.tsx';

interface Props {
  readonly lesson: Lesson;
  readonly arms: readonly string[];
  readonly recorded: boolean;
}

/** Shows the counts that the lesson's view defines; by default operations and waits. */
export function CountsPanel({ lesson, arms, recorded }: Props) {
  const own = useCountTable();
  const now = useCounts();
  const cycle = cycleTitle(lesson);
  if (own !== null) return <OwnCounts {...{ lesson, arms, recorded }} counts={own} />;
  return (
    <section className="panel" aria-label={t('Counts')} data-testid="counts">
      <h3 className="eyebrow">
        {recorded ? t('The whole run') : t('The whole run, so far')}{' '}
        <span className="evidence">
          {t('counted{recorded}', { recorded: recorded ? t(', recorded') : '' })}
        </span>
      </h3>
      <table className="table small">
        <thead>
          <tr>
            <th scope="col">
              <TermMark name={t('arm')}>{t('arm')}</TermMark>
            </th>
            <th scope="col" className="right">
              {lesson.operation.plural}
            </th>
            <th scope="col" className="right">
              {cycle ?? t('cycles')}
            </th>
            <th scope="col" className="right">
              {t('share of time spent waiting')}
            </th>
          </tr>
        </thead>
        <tbody data-volatile>
          {lesson.arms
            .filter((arm) => arms.includes(arm.name))
            .map((arm) => (
              <CountRow
                key={arm.name}
                arm={arm.name}
                title={arm.title}
                ops={now.find((one) => one.arm === arm.name)?.ops ?? null}
              />
            ))}
        </tbody>
      </table>
      <TracedNote />
    </section>
  );
}

/** Explains why a traced run gives no rates, and how its lanes ran. */
export function TracedNote() {
  const how = useRun()?.apart ? t('one after another') : t('at the same time');
  return (
    <p className="small quiet" data-testid="traced-note">
      {t(
        'The lanes ran with tracing, {how}. Tracing makes every operation slower; for real costs see the measured tables.',
        { how },
      )}
    </p>
  );
}

function OwnCounts({ lesson, arms, recorded, counts }: Props & { readonly counts: Counts }) {
  const shown = lesson.arms.filter((arm) => arms.includes(arm.name));
  return (
    <section className="panel" aria-label={t('Counts')} data-testid="counts">
      <h3 className="eyebrow">
        {rich('Up to this moment <span>{evidence}{recorded}</span>', {
          evidence: counts.evidence === undefined ? t('counted') : t('as stated for each figure'),
          recorded: recorded ? t(', recorded') : '',
          span: (words) => <span className="evidence">{words}</span>,
        })}
      </h3>
      <CountsTable arms={shown} counts={counts} />
    </section>
  );
}

/** Title of the lesson's first track, whose cycles are counted; null if the lesson has no track. */
function cycleTitle(lesson: Pick<Lesson, 'tracks'>): string | null {
  return lesson.tracks.find((track) => track.lesson)?.title ?? null;
}

interface CountRowProps {
  readonly arm: string;
  readonly title: string;
  /**
   * Number of operations up to the moment, as in the lane's header; null if the moment is later than the known data.
   */
  readonly ops: number | null;
}

function CountRow({ arm, title, ops }: CountRowProps) {
  const metrics = useMetrics(arm);
  const index = useWholeIndex();
  const lane = index && laneOf(index, arm);
  const waited = lane && waitedUpTo(index, lane, lane.watermark);
  return (
    <tr>
      <th scope="row">{title}</th>
      <td className="right">
        {metrics && ops !== null && ops !== metrics.ops && `${formatCount(ops)}${t(' of ')}`}
        {metrics ? formatCount(metrics.ops) : '–'}
      </td>
      <td className="right">{metrics ? formatCount(metrics.cycles) : '–'}</td>
      <td className="right">{waited === null ? '–' : shareText(waited.share)}</td>
    </tr>
  );
}
