// SPDX-License-Identifier: GPL-2.0-or-later
/** What a measured table proves, a few words for each row. Pure. */

import { t } from '../../base/lang/t.ts';
import type { MeasuredMessage } from '../../protocol/messages.ts';

type Row = MeasuredMessage['rows'][number];

/** A verdict that is as short as a cell stands there; a longer one is a reason, below the table. */
const shortest = 24;

/** "-89.9 %, worse", "no difference proven", "no verdict"; empty of the row that others are compared with. */
export function verdictOf(row: Row, better: MeasuredMessage['better']): string {
  if (row.verdict) return row.verdict.length <= shortest ? row.verdict : t('no verdict');
  const change = row.change_percent;
  if (change === null || change === undefined) return '';
  const gains = better === 'higher' ? change > 0 : better === 'lower' ? change < 0 : null;
  const sign = change > 0 ? '+' : change < 0 ? '−' : '';
  const words = `${sign}${Math.abs(change).toFixed(1)} %`;
  return gains === null ? words : `${words}, ${gains ? 'better' : 'worse'}`;
}

/** Why there are no verdicts, each reason once, and what is not of one patch. */
export function reasonsOf({ rows, warnings }: Pick<MeasuredMessage, 'rows' | 'warnings'>) {
  const long = rows.map((row) => row.verdict ?? '').filter((words) => words.length > shortest);
  const reasons = [...new Set(long)].map((words) => t('No verdict: {words}.', { words }));
  return [
    ...reasons,
    ...warnings.map((words) => t('More than one patch apart: {words}', { words })),
  ];
}
