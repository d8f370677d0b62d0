// SPDX-License-Identifier: GPL-2.0-or-later
/** One visit in words: which block, what the entry is, and what the scan did with it. */

import { t } from '../../base/lang/t.ts';
import { formatCount } from '../../base/units.ts';
import type { LaneIndex } from '../../derive/types.ts';
import { letterOf } from './block-replay.ts';

const letters = [
  t('of no known kind'),
  t('delayed'),
  t('written'),
  t('a hole'),
  t('unwritten'),
] as const;
const fates = [t('kept'), t('spared'), t('freed')] as const;

export function entryWords({ points }: LaneIndex, i: number): string {
  const block = formatCount(points.b[i]!);
  return t('block {block}, {letter}, {fate}', {
    block,
    letter: letters[letterOf(points.d[i]!)],
    fate: fates[points.e[i]!] ?? fates[0],
  });
}
