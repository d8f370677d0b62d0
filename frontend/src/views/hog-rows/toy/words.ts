// SPDX-License-Identifier: GPL-2.0-or-later
/** What the toy says of each kernel, and of the race as a whole. */

import { formatNs } from '../../../base/units.ts';
import type { Play } from '../../../toys/types.ts';
import { type Fate, type Race, srcu, waitOf } from './rule.ts';

export function rwsemWords(race: Race, fate: Fate): string {
  if (fate.walked === 0)
    return 'nobody waits: the reader finds the lock taken, gives up and frees nothing';
  if (waitOf(fate) === 0) return 'nobody waits: they do not meet';
  const part =
    fate.walked === race.shrinkers
      ? 'the reader was in its last shrinker'
      : `the reader leaves early, after ${fate.walked} of ${race.shrinkers} shrinkers`;
  return `the umount waits ${formatNs(waitOf(fate))}; ${part}`;
}

/** Without any reader it waits as long for ticks alone. */
export function alone(race: Race): number {
  return waitOf(srcu({ ...race, reader: { from: -2, to: -1 } }));
}

export function srcuWords(race: Race, fate: Fate): string {
  const ticks = alone(race);
  const more = waitOf(fate) - ticks;
  const reader =
    more > 0 ? `${formatNs(more)} more for the reader, looking rarely` : 'no look finds the reader';
  return `the umount waits ${formatNs(ticks)} for ticks; ${reader}`;
}

export function urgentWords(fate: Fate): string {
  if (fate.spins === null) return `the umount waits ${formatNs(waitOf(fate))} for the one look`;
  const { from, to } = fate.spins;
  const later = fate.looks.length > 1 ? ', then more rarely' : '';
  return `the umount waits ${formatNs(waitOf(fate))}; looks again and again for ${formatNs(to - from)}${later}: that is CPU time`;
}

export function countedWords(race: Race, fate: Fate): string {
  if (waitOf(fate) > 0)
    return `the umount waits ${formatNs(waitOf(fate))}: the reader is in this very shrinker`;
  return fate.walked < race.shrinkers
    ? 'nobody waits: the reader is elsewhere on the list, and passes this shrinker over'
    : 'nobody waits: they do not meet';
}

/** The reader came when the shrinker was off the list, and is waited for all the same. */
export function innocent(race: Race, fate: Fate): boolean {
  return race.reader.from >= race.umount + race.hold && waitOf(fate) > alone(race);
}

export function outcome(race: Race, lock: Fate, grace: Fate): Play['outcome'] {
  const more = waitOf(grace) > alone(race);
  if (innocent(race, grace))
    return {
      face: 'wait',
      words:
        'The reader came when the shrinker was off the list already and cannot have it. SRCU does not know that: whoever is inside at the first look is waited for.',
    };
  if (lock.walked === 0)
    return {
      face: 'hazard',
      words:
        'On rwsem the reader finds the lock taken and gives up: nothing is freed, and nobody waits. On SRCU it walks on as if nothing were.',
    };
  if (more)
    return {
      face: 'wait',
      words: `On SRCU the reader is inside when the first look comes, and each further look comes later than the one before: the umount waits ${formatNs(waitOf(grace))} for a reader who was gone ${formatNs(grace.to - race.reader.to)} before the wake.`,
    };
  return {
    face: 'mechanism',
    words: `No look on SRCU finds the reader, and the umount sleeps ${formatNs(waitOf(grace))} all the same: to the next tick for the look, and one more for the news.`,
  };
}

export function says(race: Race, grace: Fate): Readonly<Record<string, string>> {
  const { from, to } = race.reader;
  const asked = race.umount + race.hold;
  const place =
    to <= race.umount
      ? 'gone before the umount'
      : from >= grace.looks[0]!
        ? 'comes after the first look'
        : from >= asked
          ? 'comes after the shrinker is off the list, before the first look'
          : from >= race.umount
            ? 'comes while the umount has the lock'
            : 'inside when the umount begins';
  const wait = `on SRCU the umount waits ${formatNs(waitOf(grace))}`;
  return {
    reader: `${place}; ${wait}`,
    end: `the reader is inside for ${formatNs(to - from)}; ${wait}`,
    umount: `${formatNs(grace.looks[0]! - race.umount)} before the next tick; ${wait}`,
  };
}
