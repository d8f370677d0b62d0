// SPDX-License-Identifier: GPL-2.0-or-later
/** Where scenes look: one whole stat, the time after the cold begin, all phases of a storm. */

import { ns, second } from '../../base/units.ts';
import { type Finder, type Place, spanOf } from '../../derive/moments.ts';
import { stepNs } from '../../derive/retime.ts';
import type { LaneIndex, RunIndex } from '../../derive/types.ts';
import { phasesOf } from './lock.ts';
import { modelOf, transfersPerStat } from './model.ts';
import { settingsOf } from './settings.ts';
import { countedOf } from './streams.ts';

function window(start: number, span: number): Place {
  return { start: ns(start), span, moment: ns(start), follows: false, known: true };
}

/** Accesses of a stat on the lane that has the most. */
function perStat(index: RunIndex): number {
  return Math.ceil(Math.max(0, ...index.lanes.map((lane) => countedOf(lane).perOp)));
}

/** Of the transfers that a stat of the whole run takes: so near are those so far, once the cold begin is made up for. */
const near = 1 / 20;

/** The access of a lane from which on each figure so far is near that of the whole run; 0: nothing is known of it. */
function warmFrom(lane: LaneIndex, params: RunIndex['params']): number {
  const model = modelOf(lane, settingsOf(params, { params: {} }));
  if (model === null) return 0;
  const { transfers } = model.sums;
  const { perOp } = model.counted;
  const whole = transfersPerStat(model);
  for (let k = model.trace.log.length; k > 0; k--)
    if (Math.abs((transfers[k]! / k) * perOp - whole) > whole * near) return k + 1;
  return 0;
}

/** A place that is near the end of a run would show little. */
const latest = 1 / 2;

/** Stats until the run is warm: of two CPUs at least four, of more ten each, which have fetched their lines by then. */
function warmStats(index: RunIndex, accesses: number): number {
  const cpus = index.params['model_cpus'] ?? 2;
  const least = cpus <= 2 ? 4 : 10 * cpus;
  const from = Math.max(0, ...index.lanes.map((lane) => warmFrom(lane, index.params)));
  const end = Math.min(...index.lanes.map((lane) => countedOf(lane).shown));
  return from > end * latest ? least : Math.max(least, Math.ceil(from / accesses));
}

export const moments: Readonly<Record<string, Finder>> = {
  /** The first two stats, from the very first access. */
  one_stat: (index) => {
    const accesses = perStat(index);
    return accesses === 0 ? null : window(0, (2 * accesses + 1) * stepNs);
  },
  /** When what was fetched first weighs little: figures of the run so far are those of the whole run, or near them. */
  warm: (index, scene) => {
    const accesses = perStat(index);
    if (accesses === 0) return null;
    const start = accesses * warmStats(index, accesses) * stepNs;
    return window(start, spanOf(scene) || 1000 * stepNs);
  },
  /** All phases of a storm, in guest time; the sweep begins with the second, and who stands still sees all. */
  phases: (index, scene) => {
    const ends = phasesOf(index).map((phase) => phase.t1);
    const last = Math.max(...ends);
    const known = Math.max(second, ...index.lanes.map((lane) => lane.watermark));
    if (index.lanes.every((lane) => lane.samples('lockref-counts').length < 2)) return null;
    const span = spanOf(scene) || (Number.isFinite(last) ? last : known);
    const place = { ...window(0, span), moment: ns(span) };
    // What comes before is the same at every moment: it is there when the step begins to play.
    const disturbed = phasesOf(index)[1];
    return disturbed === undefined ? place : { ...place, begin: ns(disturbed.t0) };
  },
};
