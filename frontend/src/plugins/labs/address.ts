// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * `?lab=SLUG` in an address: a lesson page shows the tasks of a lab. With `scores=1` the address opens the grader's
 * page.
 */

import { leaveOnFront } from '../../navigation/place.ts';

// The front page belongs to no lab.
leaveOnFront('lab', 'scores');

const slug = /^[a-z0-9][a-z0-9-]{0,63}$/;

export interface LabAddress {
  readonly lab: string;
  /** Whether the address opens the page on which instructors grade. */
  readonly scores: boolean;
}

export function readLab(search: string): LabAddress | null {
  const q = new URLSearchParams(search);
  const lab = q.get('lab');
  if (lab === null || !slug.test(lab)) return null;
  return { lab, scores: q.get('scores') === '1' };
}
