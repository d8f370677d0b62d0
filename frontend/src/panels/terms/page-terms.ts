// SPDX-License-Identifier: GPL-2.0-or-later
/** Words of the page itself, in every lesson; a lesson's own term of the same name goes before. */

import { t } from '../../base/lang/t.ts';
import type { Term } from '../../protocol/lesson.ts';

const page = (name: string, says: string, ...also: string[]): Term => ({
  ...{ name, also, says },
  ...{ drawing: '', entry: false, shared: false },
});

const terms: readonly Term[] = [
  page(
    t('arm'),
    t('One of the kernels that a lesson compares. They differ by their own patches alone.'),
    t('arms'),
  ),
  page(t('lane'), t('One kernel at work, and the part of the picture that shows it.'), t('lanes')),
  page(
    t('count clock'),
    t(
      'Guest time is counted in instructions, 1 ns each unless it is said otherwise. It knows no caches and no busy host, so an equal run gives equal times.',
    ),
  ),
  page(
    t('wall clock'),
    t('Guest time is the time of the machine that runs the guest. Another run gives other times.'),
  ),
];

/** The terms of a lesson, and those of the page that it has no word of. */
export function withPageTerms(own: readonly Term[]): readonly Term[] {
  const taken = new Set(own.flatMap(({ name, also }) => [name, ...also]));
  const free = terms.filter(({ name, also }) => ![name, ...also].some((form) => taken.has(form)));
  return [...own, ...free];
}
