// SPDX-License-Identifier: GPL-2.0-or-later
/** Where the object lies on its lines, in words. */

import { t } from '../../base/lang/t.ts';
import { figure } from '../../derive/figures.ts';
import type { LaneIndex } from '../../derive/types.ts';
import { lineBytes, type Struct } from './fields.ts';

/** " The name begins at byte 56, the count at 88, in line 1 of 3 lines of 64 bytes." */
export function placeWords({ arm }: LaneIndex, { name, hot, lead, lines }: Struct): string {
  const given = (what: string, n: number, text = String(n)) => figure('setup', arm, what, n, text);
  const among = t('{lines} of {bytes} bytes', {
    lines: given('lines', lines, t('{lines, plural, one {# line} other {# lines}}', { lines })),
    bytes: lineBytes,
  });
  if (hot === null) return t(' It lies on {among}.', { among });
  const place = given('place of the count', hot.at - lead);
  const { line } = hot;
  const at = name
    ? t('at {place}, in line {line} of {among}', { place, line, among })
    : t('at byte {place}, in line {line} of {among}', { place, line, among });
  if (name === null) return t(' The {words} begins {at}.', { words: hot.words, at });
  const begin = given('place of the name', name.compared[0] - lead);
  return t(' The name begins at byte {begin}, the {words} {at}.', { begin, words: hot.words, at });
}
