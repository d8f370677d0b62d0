// SPDX-License-Identifier: GPL-2.0-or-later
/** Where scenes look: one whole stat, the time after the cold begin, all phases of a storm. */

import { ns, second } from '../../base/units.ts';
import { type Finder, type Place, spanOf } from '../../derive/moments.ts';
import { stepNs } from '../../derive/retime.ts';
import { phasesOf } from './lock.ts';
import { countedOf } from './streams.ts';

function window(start: number, span: number): Place {
  return { start: ns(start), span, moment: ns(start), follows: false, known: true };
}

/** Accesses of a stat on the lane that has the most. */
function perStat(index: Parameters<Finder>[0]): number {
  return Math.ceil(Math.max(0, ...index.lanes.map((lane) => countedOf(lane).perOp)));
}

export const moments: Readonly<Record<string, Finder>> = {
  /** The first two stats, from the very first access. */
  one_stat: (index) => {
    const accesses = perStat(index);
    return accesses === 0 ? null : window(0, (2 * accesses + 1) * stepNs);
  },
  /** When every CPU has fetched its lines: from the third stat of two CPUs on; of more, when those fetches are few. */
  warm: (index, scene) => {
    const accesses = perStat(index);
    const cpus = index.params['model_cpus'] ?? 2;
    const stats = cpus <= 2 ? 4 : 10 * cpus;
    return accesses === 0
      ? null
      : window(accesses * stats * stepNs, spanOf(scene) || 1000 * stepNs);
  },
  /** All phases of a storm, in guest time; the sweep begins with the second. */
  phases: (index, scene) => {
    const ends = phasesOf(index).map((phase) => phase.t1);
    const last = Math.max(...ends);
    const known = Math.max(second, ...index.lanes.map((lane) => lane.watermark));
    if (index.lanes.every((lane) => lane.samples('lockref-counts').length < 2)) return null;
    const place = window(0, spanOf(scene) || (Number.isFinite(last) ? last : known));
    // What comes before is the same at every moment: it is there when the step begins to play.
    const disturbed = phasesOf(index)[1];
    return disturbed === undefined ? place : { ...place, begin: ns(disturbed.t0) };
  },
};
