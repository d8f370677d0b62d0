// SPDX-License-Identifier: GPL-2.0-or-later
/** The toy for the rows: drag a reader across an umount and across the checks that wait for readers. */

import { quantile } from '@page/base/columns.ts';
import { t as tr } from '@page/base/lang/t.ts';
import { formatNs, millisecond } from '@page/base/units.ts';
import { spansIn } from '@page/derive/query.ts';
import type { Layer, RunIndex } from '@page/derive/types.ts';
import type { Item, Limits, Play, Row, Setting, Times, Toy } from '@page/toys/types.ts';

// An umount removes its shrinker while a reader walks the list. This model finds which task waits on each kernel, and
// for how long. Pure. All times are in ns.
//
// On rwsem, the reader acquires shrinker_rwsem with a trylock (shrink_slab() in mm/vmscan.c).
// The reader on rwsem stops after the current shrinker once a task wants to write.
// SRCU follows srcu_advance_state() and srcu_get_delay() in kernel/rcu/srcutree.c.
// The first check on SRCU comes with the next tick.
// If a grace period is e ticks old, SRCU checks it again after e more ticks, but after at most 10 more ticks.
// SRCU checks an expedited grace period again after e - 1 ticks, so the recheck is immediate while e is 1.
// The callbacks take one more tick, or none if the grace period is expedited.
// The reference count follows the patch refcount-rcu of this lesson.

export interface Race {
  readonly tick: number;
  /** How long an umount holds the lock. On SRCU, how long an umount works before it requests a grace period. */
  readonly hold: number;
  /** Time from an expedited request to the first check, and also from the end of the grace period to the wake-up. */
  readonly quick: number;
  /** Number of shrinkers on the list. The umount removes the newest one, which is last in the list. */
  readonly shrinkers: number;
  readonly reader: { readonly from: number; readonly to: number };
  readonly umount: number;
}

/** The outcome of a race on one kernel. */
interface Fate {
  /** The umount sleeps from `from` to `to`. If these times are equal, the umount does not sleep. */
  readonly from: number;
  readonly to: number;
  /** Times of the checks for readers; empty on kernels without checks. */
  readonly looks: readonly number[];
  /** The interval in which the check retries without a delay. */
  readonly spins: { readonly from: number; readonly to: number } | null;
  /** Number of shrinkers that the reader visited. */
  readonly walked: number;
  /** Time at which the reader left. */
  readonly left: number;
}

export const waitOf = (fate: Fate) => fate.to - fate.from;

/** Return the number of shrinkers that the reader has finished at t. Each shrinker takes an equal share of the walk. */
function doneAt({ reader, shrinkers }: Race, t: number): number {
  return Math.floor(((t - reader.from) / (reader.to - reader.from)) * shrinkers);
}

export function rwsem(race: Race): Fate {
  const { reader, umount, hold, shrinkers } = race;
  const base = { from: umount, to: umount, looks: [], spins: null };
  if (reader.from >= umount && reader.from < umount + hold)
    return { ...base, walked: 0, left: reader.from };
  if (reader.from > umount || reader.to <= umount)
    return { ...base, walked: shrinkers, left: reader.to };
  const walked = Math.min(shrinkers, doneAt(race, umount) + 1);
  const left = reader.from + ((reader.to - reader.from) * walked) / shrinkers;
  return { ...base, to: left, walked, left };
}

/** Model SRCU while other hogs keep it busy, so that it does not expedite grace periods automatically. */
export function srcu(race: Race): Fate {
  const { reader, tick, shrinkers } = race;
  const asked = race.umount + race.hold;
  const armed = Math.floor(asked / tick);
  const looks = [(armed + 1) * tick];
  // The grace period does not wait for readers that begin after the first check (srcu_flip()).
  if (reader.from < looks[0]!)
    while (looks.at(-1)! < reader.to) {
      const age = looks.at(-1)! / tick - armed;
      looks.push(looks.at(-1)! + Math.min(10, age) * tick);
    }
  const to = looks.at(-1)! + tick;
  return { from: asked, to, looks, spins: null, walked: shrinkers, left: reader.to };
}

export function expedited(race: Race): Fate {
  const { reader, tick, shrinkers, quick } = race;
  const asked = race.umount + race.hold;
  const armed = Math.floor(asked / tick);
  const first = asked + quick;
  const base = { from: asked, walked: shrinkers, left: reader.to };
  if (reader.from >= first || reader.to <= first)
    return { ...base, to: first + quick, looks: [first], spins: null };
  // Rechecks have no delay until the grace period is two ticks old.
  const patience = (armed + 2) * tick;
  const spins = { from: first, to: Math.min(reader.to, patience) };
  if (reader.to <= patience) return { ...base, to: reader.to + quick, looks: [reader.to], spins };
  const looks = [patience];
  while (looks.at(-1)! < reader.to) {
    const age = looks.at(-1)! / tick - armed;
    looks.push(looks.at(-1)! + Math.min(10, age - 1) * tick);
  }
  return { ...base, to: looks.at(-1)! + quick, looks, spins };
}

/** Model the reference count: a walk holds a reference only to the shrinker that it is visiting. */
export function counted(race: Race): Fate {
  const { reader, umount, shrinkers } = race;
  const last = reader.to - (reader.to - reader.from) / shrinkers;
  const inside = umount >= last && umount < reader.to;
  const skipped = umount >= reader.from && umount < last;
  return {
    from: umount,
    to: inside ? reader.to : umount,
    looks: [],
    spins: null,
    walked: skipped ? shrinkers - 1 : shrinkers,
    left: skipped ? last : reader.to,
  };
}

// Finds median durations in a run: a reader's walk, an umount's hold of the lock, and the wait for a tick.

/** Length of the time axis, in ticks. */
export const ticksShown = 14;
/** The tick that the umount waits for in the initial setting. */
const umountTick = 2;

/** Durations that are used if there is no run, ns. */
const chosen = { tick: 4 * millisecond, reader: 6 * millisecond, hold: 20_000, quick: 40_000 };

function raceTimes(index: RunIndex | null): Times {
  const tick = index?.tickNs ?? chosen.tick;
  const lengths = (arm: string, layer: Layer, kind: string): readonly number[] => {
    const lane = index?.lanes.find((one) => one.arm === arm);
    if (!index || !lane) return [];
    return [...spansIn(lane, layer, 0, Number.POSITIVE_INFINITY)]
      .filter((span) => !span.open && index.kinds[span.kind]?.name === kind)
      .map((span) => span.t1 - span.t0);
  };
  const readers = lengths('srcu', 'function', 'reader');
  // An `unregister` span includes waits for a reader. Most umounts meet no reader, so the median contains no such wait.
  const holds = lengths('rwsem', 'function', 'unregister');
  const armed = lengths('srcu', 'track', 'gp_armed');
  const urgent = lengths('srcu-expedited', 'track', 'gp_armed');
  const median = (all: readonly number[], usual: number) =>
    all.length > 0 ? quantile(all, 0.5) : usual;
  const reader = median(readers, chosen.reader);
  const hold = Math.min(tick / 8, median(holds, chosen.hold));
  // A request that finds SRCU idle is answered immediately, without a tick.
  const waited = armed.filter((length) => length > tick / 10 && length < tick * 0.95);
  const found = readers.length > 0 && holds.length > 0;
  const ask = median(waited, tick / 2);
  const quick = Math.min(tick / 8, median(urgent, chosen.quick));
  return {
    at: { tick, reader, hold, quick, umount: umountTick * tick - ask },
    span: ticksShown * tick,
    from: found
      ? `${formatNs(hold)} with the lock${waited.length > 0 ? `, ${formatNs(ask)} from a request to its tick` : ''}, medians; ticks of ${formatNs(tick)}. Its readers are inside for ${formatNs(reader)}; yours is longer at first, to be visible`
      : null,
  };
}

// Describes in words the outcome on each kernel, and the outcome of the race.

function rwsemWords(race: Race, fate: Fate): string {
  if (fate.walked === 0)
    return tr('no task waits: the reader finds the lock taken, gives up and frees nothing');
  if (waitOf(fate) === 0) return tr('no task waits: the reader and the umount do not meet');
  const part =
    fate.walked === race.shrinkers
      ? tr('the reader was in its last shrinker')
      : tr('the reader leaves early, after {walked} of {shrinkers} shrinkers', {
          walked: fate.walked,
          shrinkers: race.shrinkers,
        });
  return tr('the umount waits {fate}; {part}', { fate: formatNs(waitOf(fate)), part });
}

/** Return how long an umount waits for ticks if there is no reader. */
function alone(race: Race): number {
  return waitOf(srcu({ ...race, reader: { from: -2, to: -1 } }));
}

function srcuWords(race: Race, fate: Fate): string {
  const ticks = alone(race);
  const more = waitOf(fate) - ticks;
  const reader =
    more > 0
      ? tr('the wait for the reader adds {more}, because checks become rare', {
          more: formatNs(more),
        })
      : tr('no check finds the reader');
  return tr('the umount waits for ticks, {ticks} in total; {reader}', {
    ticks: formatNs(ticks),
    reader,
  });
}

function urgentWords(fate: Fate): string {
  if (fate.spins === null)
    return tr('the umount waits {fate} for the only check', { fate: formatNs(waitOf(fate)) });
  const { from, to } = fate.spins;
  const later = fate.looks.length > 1 ? tr(', then more rarely') : '';
  return tr(
    'the umount waits {fate}; SRCU checks again and again for {to}{later}, which costs CPU time',
    {
      fate: formatNs(waitOf(fate)),
      to: formatNs(to - from),
      later,
    },
  );
}

function countedWords(race: Race, fate: Fate): string {
  if (waitOf(fate) > 0)
    return tr("the umount waits {fate}: the reader is inside the umount's shrinker", {
      fate: formatNs(waitOf(fate)),
    });
  return fate.walked < race.shrinkers
    ? tr('no task waits: the reader is at another place in the list and skips this shrinker')
    : tr('no task waits: the reader and the umount do not meet');
}

/** Tell whether the umount waits for a reader that came after the shrinker had left the list. */
function innocent(race: Race, fate: Fate): boolean {
  return race.reader.from >= race.umount + race.hold && waitOf(fate) > alone(race);
}

function outcome(race: Race, lock: Fate, grace: Fate): Play['outcome'] {
  const more = waitOf(grace) > alone(race);
  if (innocent(race, grace))
    return {
      face: 'wait',
      words: tr(
        'The reader came after the shrinker had left the list, so it cannot use this shrinker. SRCU does not know that. It waits for every reader that is inside at the first check.',
      ),
    };
  if (lock.walked === 0)
    return {
      face: 'hazard',
      words: tr(
        'On rwsem, the reader finds the lock taken and gives up: nothing is freed, and no task waits. On SRCU, the reader simply continues its walk.',
      ),
    };
  if (more)
    return {
      face: 'wait',
      words: tr(
        'On SRCU, the reader is inside at the first check, and the gaps between checks grow: the umount waits {grace} for a reader that left {to} before the wake-up.',
        { grace: formatNs(waitOf(grace)), to: formatNs(grace.to - race.reader.to) },
      ),
    };
  return {
    face: 'mechanism',
    words: tr(
      'No check on SRCU finds the reader, but the umount still sleeps for {grace}: the check comes at the next tick, and the callback one tick later.',
      { grace: formatNs(waitOf(grace)) },
    ),
  };
}

function says(race: Race, grace: Fate): Readonly<Record<string, string>> {
  const { from, to } = race.reader;
  const asked = race.umount + race.hold;
  const place =
    to <= race.umount
      ? tr('left before the umount began')
      : from >= grace.looks[0]!
        ? tr('comes after the first check')
        : from >= asked
          ? tr('comes after the shrinker left the list, before the first check')
          : from >= race.umount
            ? tr('comes while the umount holds the lock')
            : tr('inside when the umount begins');
  const wait = tr('on SRCU, the umount waits {grace}', { grace: formatNs(waitOf(grace)) });
  return {
    reader: `${place}; ${wait}`,
    end: tr('the reader is inside for {to}; {wait}', { to: formatNs(to - from), wait }),
    umount: tr('{looks} before the next tick; {wait}', {
      looks: formatNs(grace.looks[0]! - race.umount),
      wait,
    }),
  };
}

// Builds the toy's rows: the reader and the umount, which can be dragged, and the outcome on each kernel.

function inputRow({ reader }: Race): Row {
  return {
    name: 'reader',
    title: tr('a reader walks the list'),
    items: [
      {
        ...{ kind: 'stretch', from: reader.from, to: reader.to, label: 'shrink_slab()' },
        ...{ face: 'hazard', look: 'solid', handle: 'reader' },
      },
      { kind: 'step', at: reader.to, label: '', face: 'hazard', handle: 'end', aside: true },
    ],
  };
}

function umountRow({ umount }: Race): Row {
  const label = 'unregister_shrinker()';
  return {
    name: 'umount',
    title: tr('an umount'),
    items: [{ kind: 'step', at: umount, label, code: true, face: 'work', handle: 'umount' }],
  };
}

function laneRow(name: string, title: string, race: Race, fate: Fate, verdict: string): Row {
  const waits = waitOf(fate);
  const items: Item[] = [];
  if (waits > 0) {
    const label = tr('the umount waits {waits}', { waits: formatNs(waits) });
    items.push({
      kind: 'stretch',
      from: fate.from,
      to: fate.to,
      label,
      face: 'wait',
      look: 'hatched',
      terse: true,
    });
  }
  if (fate.spins) {
    const { from, to } = fate.spins;
    items.push({ kind: 'stretch', from, to, label: '', face: 'mechanism', look: 'solid' });
  }
  fate.looks.forEach((at) => {
    items.push({ kind: 'step', at, label: 'check', face: 'mechanism' });
  });
  const quits = fate.walked === 0;
  if (quits)
    items.push({ kind: 'step', at: race.reader.from, label: tr('gives up'), face: 'hazard' });
  return { name, title, items, verdict, face: waits > 0 ? 'wait' : quits ? 'hazard' : 'gain' };
}

/** Number of shrinkers on the list: more than one, so that a walk can be cut short. Runs do not record this number. */
const shrinkers = 8;
/** Least initial duration of the reader, in ticks. Most readers in a run are too short to be visible. */
const seen = 1;
/** Duration of the shortest reader, as a share of a tick. */
const shortest = 0.1;
/** Tick of the last check on the axis. The checks come at ticks 1, 2, 4 and 8, and the wake-up at tick 9. */
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

/** Return the latest end of a reader for which the wake-up is still on the axis. */
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

/** Move a handle. A reader keeps its length, and is moved to an earlier time if it would leave too late. */
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

/** Number of positions per tick that are tried to find the least wait. */
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
  title: tr('What waits for the reader'),
  ask: tr(
    'A reader walks all shrinkers while an umount removes one of them. Drag the reader, the end of its walk and the umount past each other, and see on four kernels which task waits, and for what.',
  ),
  leavesOut: tr(
    'This model has one umount and one reader. Other hogs keep SRCU busy, so SRCU does not answer immediately. A walk visits eight shrinkers and reaches the newest shrinker last.',
  ),
  handles: [
    { name: 'reader', title: tr('the reader') },
    { name: 'end', title: tr("the end of the reader's walk") },
    { name: 'umount', title: tr('the umount') },
  ],
  switches: [],
  goals: [
    {
      name: 'quits',
      title: tr('On rwsem, make the reader give up.'),
      can: ({ at }) =>
        tr('Yes: the umount holds the lock for {at}, and the reader must come during this time.', {
          at: formatNs(at['hold']!),
        }),
    },
    {
      name: 'innocent',
      title: tr('On SRCU, make the umount wait for a reader that cannot use its shrinker.'),
      can: () =>
        tr(
          'Yes: a reader that comes between the request and the first check counts as an old reader.',
        ),
    },
    {
      name: 'twice',
      title: tr(
        'On SRCU, make the umount wait at least twice as long as the reader is inside. The reader must be inside for at least one tick.',
      ),
      can: () =>
        tr(
          'Yes: checks come at 1, 2, 4 and 8 ticks. Let the reader leave just after one of these checks.',
        ),
    },
    {
      name: 'nobody',
      title: tr('On rwsem and on SRCU, make sure that no task waits.'),
      can: (times) =>
        tr(
          'No: wherever the reader and the umount are placed, the umount on SRCU waits {times} or longer.',
          {
            times: formatNs(leastWait(times)),
          },
        ),
    },
  ],
  times: raceTimes,
  start,
  limits,
  move,
  play,
};
