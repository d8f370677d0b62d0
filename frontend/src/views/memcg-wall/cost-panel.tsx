// SPDX-License-Identifier: GPL-2.0-or-later
/** The chart of cost against n. It grows with each run that the viewer makes, and is kept in this browser. */

import { useEffect, useMemo, useState } from 'react';
import { t } from '../../base/lang/t.ts';
import { formatCount, formatNs } from '../../base/units.ts';
import type { Lesson } from '../../protocol/lesson.ts';
import type { PanelProps } from '../contract.ts';
import {
  type CostPoint,
  costOf,
  lastCall,
  type Measure,
  merged,
  parseCosts,
  referencesOf,
} from './cost.ts';
import { CostChart } from './cost-chart.tsx';
import { ofCall } from './figures.ts';

const keyOf = (lesson: Pick<Lesson, 'slug'>) => `duet.cost.${lesson.slug}`;

function useCosts({ runIndex, lesson }: Pick<PanelProps, 'runIndex' | 'lesson'>) {
  const key = keyOf(lesson);
  const now = useMemo(() => costOf(runIndex, lesson), [runIndex, lesson]);
  const [kept, setKept] = useState(() => parseCosts(read(key)));
  const points = useMemo(() => merged(kept, now), [kept, now]);
  useEffect(() => {
    if (points === kept) return;
    write(key, points);
    setKept(points);
  }, [key, points, kept]);
  const forget = () => {
    write(key, now);
    setKept(now);
  };
  return { points, forget };
}

function read(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** A browser that keeps nothing still draws what it has seen. */
function write(key: string, points: readonly CostPoint[]): void {
  try {
    localStorage.setItem(key, JSON.stringify(points));
  } catch {
    // Storage is full or forbidden.
  }
}

/** Visits of a pass; of the run on the stage, where the call has one pass, the sentence says the same. */
function visitsOf({ run, arm, visits, passes }: CostPoint, shown: string): string {
  return run === shown && passes === 1
    ? ofCall(arm, lastCall, 'visits', visits)
    : formatCount(visits);
}

const measures: readonly { readonly of: Measure; readonly words: string }[] = [
  { of: 'visits', words: t('visits') },
  { of: 'ns', words: t('time, traced') },
];

export function CostPanel({ runIndex, lesson, theme }: PanelProps) {
  const { points, forget } = useCosts({ runIndex, lesson });
  const [measure, setMeasure] = useState<Measure>('visits');
  const [at, setAt] = useState<CostPoint | null>(null);
  const title = (arm: string) => lesson.arms.find((a) => a.name === arm)?.title ?? arm;
  const value = (p: CostPoint) => (measure === 'visits' ? formatCount(p.visits) : formatNs(p.ns));
  return (
    <div>
      <fieldset className="segments cost-measure" aria-label={t('What is drawn')}>
        {measures.map(({ of, words }) => (
          <button
            key={of}
            type="button"
            className="button"
            aria-pressed={measure === of}
            onClick={() => setMeasure(of)}
          >
            {words}
          </button>
        ))}
      </fieldset>
      <CostChart
        references={referencesOf(lesson, measure)}
        {...{ points, measure, theme, at }}
        title={title}
      />
      <p className="small quiet" aria-live="polite">
        {at === null
          ? t(
              'One pass of the fifth call, both axes logarithmic. Each run adds its points: choose n above and run.',
            )
          : t(
              '{arm}, n = {n}: {value}, {source, select, live {live} other {recorded}}, {clock} clock.',
              {
                arm: title(at.arm),
                n: formatCount(at.n),
                value: value(at),
                source: at.source,
                clock: at.clock,
              },
            )}
      </p>
      <details className="small">
        <summary>{t('{n} points as a table', { n: points.length })}</summary>
        <table className="table small" data-testid="cost-table">
          <thead>
            <tr>
              <th scope="col" className="right">
                n
              </th>
              <th scope="col">{t('arm')}</th>
              <th scope="col" className="right">
                {t('visits')}
              </th>
              <th scope="col" className="right">
                {t('time')}
              </th>
              <th scope="col">{t('run')}</th>
            </tr>
          </thead>
          <tbody>
            {[...points]
              .sort((a, b) => a.n - b.n || a.arm.localeCompare(b.arm))
              .map((p) => (
                <tr key={`${p.run} ${p.arm}`} data-arm={p.arm} data-n={p.n}>
                  <td className="right">
                    <button
                      type="button"
                      className="link"
                      onFocus={() => setAt(p)}
                      onBlur={() => setAt(null)}
                      onMouseEnter={() => setAt(p)}
                      onMouseLeave={() => setAt(null)}
                    >
                      {formatCount(p.n)}
                    </button>
                  </td>
                  <td>{title(p.arm)}</td>
                  <td className="right">{visitsOf(p, runIndex.runId)}</td>
                  <td className="right">{formatNs(p.ns)}</td>
                  <td>{p.source}</td>
                </tr>
              ))}
          </tbody>
        </table>
        <button type="button" className="link" onClick={forget}>
          {t('forget the others')}
        </button>
      </details>
    </div>
  );
}
