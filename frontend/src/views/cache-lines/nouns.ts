// SPDX-License-Identifier: GPL-2.0-or-later
/** Numbers of what is counted, in words. */

import { t } from '../../base/lang/t.ts';

/** What is counted of one operation. */
export const nouns = {
  line: (n: number) => t('{n, plural, one {# line} other {# lines}}', { n }),
  read: (n: number) => t('{n, plural, one {# read} other {# reads}}', { n }),
  'read-modify-write': (n: number) =>
    t('{n, plural, one {# read-modify-write} other {# read-modify-writes}}', { n }),
  write: (n: number) => t('{n, plural, one {# write} other {# writes}}', { n }),
};
