// SPDX-License-Identifier: GPL-2.0-or-later
/** The measured table on a wall: each kernel's verdict stands in its row; the page and the terminal have the intervals. */

import { t } from '../../base/lang/t.ts';
import { formatFigure } from '../../base/units.ts';
import { paramWords } from '../../navigation/knobs.ts';
import { metricWords } from '../../panels/mail.ts';
import { inTitles, onScreen, Samples, titleOf } from '../../panels/measured-panel.tsx';
import type { Lesson } from '../../protocol/lesson.ts';
import type { MeasuredMessage } from '../../protocol/messages.ts';
import { day } from '../../ui/words.ts';
import { reasonsOf, verdictOf } from './verdicts.ts';

interface Props {
  readonly lesson: Lesson;
  readonly measured: MeasuredMessage | null;
}

export function MeasuredPart({ lesson, measured }: Props) {
  const rows = measured?.rows ?? [];
  const most = Math.max(1, ...rows.flatMap((r) => [...r.ops_per_s, r.ops_per_s_median ?? 0]));
  const base = rows.find((row) => row.to)?.to ?? null;
  if (measured === null || rows.length === 0)
    return (
      <section className="panel" aria-label={t('Measured')} data-testid="measured">
        <h3 className="eyebrow">{onScreen(metricWords(measured, lesson))}</h3>
        <p className="quiet">{t('Nothing measured yet with these knobs.')}</p>
      </section>
    );
  return (
    <section className="panel" aria-label={t('Measured')} data-testid="measured">
      <h3 className="eyebrow">
        {onScreen(metricWords(measured, lesson))}{' '}
        <span className="evidence">
          {measured.clock === 'count' ? t('counted') : t('measured')}
        </span>
        {measured.source === 'recorded' && (
          <span className="evidence" data-recorded>
            {t('recorded {at}', { at: day(measured.at) })}
          </span>
        )}
      </h3>
      <table className="table measured-table">
        <thead>
          <tr>
            <th scope="col">{t('kernel')}</th>
            <th scope="col" className="right">
              {t('median')}
            </th>
            <th scope="col">{t('all samples')}</th>
            {base !== null && (
              <th scope="col">{t('against {lesson}', { lesson: titleOf(lesson, base) })}</th>
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.arm}>
              <th scope="row">{titleOf(lesson, row.arm)}</th>
              <td className="right strong">
                {row.ops_per_s_median === null ? t('refused') : formatFigure(row.ops_per_s_median)}
              </td>
              <td>
                <Samples values={row.ops_per_s} most={most} median={row.ops_per_s_median} />
              </td>
              {base !== null && <td>{verdictOf(row, measured.better)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
      {reasonsOf(measured).map((reason) => (
        <p key={reason} className="verdict" data-testid="verdict">
          {inTitles(lesson, reason)}
        </p>
      ))}
      <p className="small quiet">
        {t('{list}, {clock} clock, untraced, one kernel after the other, {n} runs each', {
          list: [measured.workload, ...paramWords(lesson, measured.params)].join(', '),
          clock: measured.clock,
          n: rows[0]?.n,
        })}
      </p>
    </section>
  );
}
