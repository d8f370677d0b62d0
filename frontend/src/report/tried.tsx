// SPDX-License-Identifier: GPL-2.0-or-later
/** The runs that a class tried, with one number each. */

import { t } from '../base/lang/t.ts';
import { formatFigure } from '../base/units.ts';
import { changedWords } from '../classroom/tries.ts';
import type { ClassReport } from '../protocol/contract.gen.ts';
import { HeadRow } from '../ui/parts.tsx';
import { titleOf, type Words } from './report.ts';

type Try = ClassReport['tries'][number];

/** Each run; what failed says why. Nothing without any. */
export function Tried({ report, words }: { report: ClassReport; words: Words }) {
  if (report.tries.length === 0) return null;
  return (
    <section aria-label={t('What the class tried')}>
      <h2>{t('What the class tried')}</h2>
      <table className="report-bars" data-testid="report-tried">
        <HeadRow heads={[t('what'), t('in the step'), t('asked for by'), t('result')]} />
        <tbody>
          {report.tries.map((one) => (
            <tr key={one.number}>
              <th scope="row">{changedWords(one, { params: words?.params ?? {} })}</th>
              <td>{titleOf(words, one.step)}</td>
              <td className="number">
                {t('{makers, plural, one {# member} other {# members}}', { makers: one.makers })}
              </td>
              <td className="number">{resultOf(one, words)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="small quiet">
        {t('Each number is of one traced run: it explains, and proves nothing.')}
      </p>
    </section>
  );
}

/** "rwsem 900, SRCU 180 umounts/s, ×0.2"; of a run without a number how it ended. */
export function resultOf(one: Try, words: Words): string {
  const names = new Map(words?.arms.map(({ name, title }) => [name, title]));
  const lanes = Object.entries(one.values).map(
    ([arm, value]) => `${names.get(arm) ?? arm} ${formatFigure(value)}`,
  );
  if (lanes.length === 0) return one.sentence || one.state;
  const ratio = one.ratio === null ? '' : `, ×${formatFigure(one.ratio)}`;
  return `${lanes.join(', ')} ${one.unit}${ratio}`;
}
