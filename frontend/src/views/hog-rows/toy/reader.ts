// SPDX-License-Identifier: GPL-2.0-or-later
/** The toy of the rows: a reader is dragged across an umount and the looks that wait for readers. */

import { t as tr } from '../../../base/lang/t.ts';
import { formatNs } from '../../../base/units.ts';
import type { Limits, Play, Setting, Times, Toy } from '../../../toys/types.ts';
import { inputRow, laneRow, umountRow } from './rows.ts';
import { counted, expedited, type Fate, type Race, rwsem, srcu, waitOf } from './rule.ts';
import { raceTimes } from './times.ts';
import {
  alone,
  countedWords,
  innocent,
  outcome,
  rwsemWords,
  says,
  srcuWords,
  urgentWords,
} from './words.ts';

/** On the list, so that a walk can be cut short; the run does not say how many there were. */
const shrinkers = 8;
/** The reader at first, in ticks at least: most readers of a run are too short to be seen beside a tick. */
const seen = 1;
/** The shortest reader, as a share of a tick. */
const shortest = 0.1;
/** An SRCU that has looked at 1, 2, 4 and 8 ticks is woken at 9. */
const lastLook = 8;

export function raceOf({ at }: Times, setting: Setting): Race {
  const { tick, hold, quick } = at as { tick: number; hold: number; quick: number };
  const { reader, end, umount } = setting.at as { reader: number; end: number; umount: number };
  return { tick, hold, quick, shrinkers, reader: { from: reader, to: end }, umount };
}

function start({ at }: Times): Setting {
  const { tick, reader, umount } = at as { tick: number; reader: number; umount: number };
  const length = Math.max(seen * tick, Math.min(reader, 6 * tick));
  const from = Math.max(0, umount - 1.25 * length);
  return { at: { umount, reader: from, end: from + length }, on: {} };
}

/** A reader leaves in time for the wake to be seen. */
function latest(times: Times, setting: Setting): number {
  const tick = times.at['tick']!;
  const asked = setting.at['umount']! + times.at['hold']!;
  return (Math.floor(asked / tick) + lastLook) * tick;
}

function limits(times: Times, setting: Setting, handle: string): Limits {
  const tick = times.at['tick']!;
  const { reader, end } = setting.at as { reader: number; end: number };
  const last = latest(times, setting);
  if (handle === 'umount') return { min: tick * 0.25, max: tick * 3.75 };
  if (handle === 'end') return { min: reader + shortest * tick, max: last };
  return { min: 0, max: last - (end - reader) };
}

/** A reader is moved as it is long; one that would outstay the line is cut. */
function move(times: Times, setting: Setting, handle: string, to: number): Setting {
  const at = { ...setting.at, [handle]: to };
  if (handle === 'reader') at['end'] = to + setting.at['end']! - setting.at['reader']!;
  const next = { ...setting, at };
  const over = at['end']! - latest(times, next);
  if (handle === 'umount' && over > 0) {
    at['reader'] = Math.max(0, at['reader']! - over);
    at['end'] = at['end']! - over;
  }
  return next;
}

function play(times: Times, setting: Setting): Play {
  const race = raceOf(times, setting);
  const fates = {
    rwsem: rwsem(race),
    srcu: srcu(race),
    urgent: expedited(race),
    counted: counted(race),
  };
  const guides = Array.from({ length: Math.floor(times.span / race.tick) + 1 }, (_, k) => ({
    at: k * race.tick,
    ...(k === 0 ? {} : { label: k === 1 ? tr('tick 1') : `${k}` }),
  }));
  return {
    guides,
    rows: [
      inputRow(race),
      umountRow(race),
      laneRow('rwsem', 'rwsem', race, fates.rwsem, rwsemWords(race, fates.rwsem)),
      laneRow('srcu', 'SRCU', race, fates.srcu, srcuWords(race, fates.srcu)),
      laneRow('urgent', tr('SRCU expedited'), race, fates.urgent, urgentWords(fates.urgent)),
      laneRow(
        'counted',
        tr('refcount and RCU'),
        race,
        fates.counted,
        countedWords(race, fates.counted),
      ),
    ],
    says: says(race, fates.srcu),
    outcome: outcome(race, fates.rwsem, fates.srcu),
    reached: reached(race, fates.rwsem, fates.srcu),
  };
}

function reached(race: Race, lock: Fate, grace: Fate): readonly string[] {
  const length = race.reader.to - race.reader.from;
  return [
    ...(lock.walked === 0 ? ['quits'] : []),
    ...(innocent(race, grace) ? ['innocent'] : []),
    ...(waitOf(grace) > alone(race) && waitOf(grace) >= 2 * length && length >= race.tick
      ? ['twice']
      : []),
    ...(waitOf(lock) === 0 && waitOf(grace) === 0 ? ['nobody'] : []),
  ];
}

/** Places that are tried for a proof, in steps of a twentieth of a tick. */
const grain = 20;

function leastWait(times: Times): number {
  const tick = times.at['tick']!;
  let least = Number.POSITIVE_INFINITY;
  for (let u = 0.25 * grain; u <= 3.75 * grain; u++) {
    const umount = (u / grain) * tick;
    for (let r = 0; r < 8 * grain; r++) {
      const from = (r / grain) * tick;
      const setting = { at: { umount, reader: from, end: from + shortest * tick }, on: {} };
      least = Math.min(least, waitOf(srcu(raceOf(times, setting))));
    }
  }
  return least;
}

export const reader: Toy = {
  title: tr('Who waits for the reader'),
  ask: tr(
    'Somebody walks all shrinkers while an umount takes one of them away. Drag the reader, its end and the umount across each other, and see on four kernels who waits, and for what.',
  ),
  leavesOut: tr(
    'One umount and one reader; others keep SRCU in use, so that it does not answer at once on its own account. A walk over eight shrinkers, the newest last.',
  ),
  handles: [
    { name: 'reader', title: tr('the reader') },
    { name: 'end', title: tr('the end of the reader') },
    { name: 'umount', title: tr('the umount') },
  ],
  switches: [],
  goals: [
    {
      name: 'quits',
      title: tr('On rwsem, make the reader give up.'),
      can: ({ at }) =>
        tr('Yes: it must come within the {at} that the umount has the lock.', {
          at: formatNs(at['hold']!),
        }),
    },
    {
      name: 'innocent',
      title: tr('On SRCU, have the umount wait for a reader who cannot have its shrinker.'),
      can: () =>
        tr(
          'Yes: whoever comes between the question and the first look is counted with the old readers.',
        ),
    },
    {
      name: 'twice',
      title: tr(
        'On SRCU, have it wait at least twice as long as a reader of a tick or more reads.',
      ),
      can: () =>
        tr('Yes: looks come at 1, 2, 4 and 8 ticks. Let the reader leave just after one of them.'),
    },
    {
      name: 'nobody',
      title: tr('Let nobody wait, on rwsem and on SRCU.'),
      can: (times) =>
        tr('No: wherever reader and umount stand, the umount on SRCU waits {times} or more.', {
          times: formatNs(leastWait(times)),
        }),
    },
  ],
  times: raceTimes,
  start,
  limits,
  move,
  play,
};
