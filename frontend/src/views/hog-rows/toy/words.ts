// SPDX-License-Identifier: GPL-2.0-or-later
/** What the toy says of each kernel, and of the race as a whole. */

import { t as tr } from '../../../base/lang/t.ts';
import { formatNs } from '../../../base/units.ts';
import type { Play } from '../../../toys/types.ts';
import { type Fate, type Race, srcu, waitOf } from './rule.ts';

export function rwsemWords(race: Race, fate: Fate): string {
  if (fate.walked === 0)
    return tr('nobody waits: the reader finds the lock taken, gives up and frees nothing');
  if (waitOf(fate) === 0) return tr('nobody waits: they do not meet');
  const part =
    fate.walked === race.shrinkers
      ? tr('the reader was in its last shrinker')
      : tr('the reader leaves early, after {walked} of {shrinkers} shrinkers', {
          walked: fate.walked,
          shrinkers: race.shrinkers,
        });
  return tr('the umount waits {fate}; {part}', { fate: formatNs(waitOf(fate)), part });
}

/** Without any reader it waits as long for ticks alone. */
export function alone(race: Race): number {
  return waitOf(srcu({ ...race, reader: { from: -2, to: -1 } }));
}

export function srcuWords(race: Race, fate: Fate): string {
  const ticks = alone(race);
  const more = waitOf(fate) - ticks;
  const reader =
    more > 0
      ? tr('{more} more for the reader, looking rarely', { more: formatNs(more) })
      : tr('no look finds the reader');
  return tr('the umount waits {ticks} for ticks; {reader}', { ticks: formatNs(ticks), reader });
}

export function urgentWords(fate: Fate): string {
  if (fate.spins === null)
    return tr('the umount waits {fate} for the one look', { fate: formatNs(waitOf(fate)) });
  const { from, to } = fate.spins;
  const later = fate.looks.length > 1 ? tr(', then more rarely') : '';
  return tr('the umount waits {fate}; looks again and again for {to}{later}: that is CPU time', {
    fate: formatNs(waitOf(fate)),
    to: formatNs(to - from),
    later,
  });
}

export function countedWords(race: Race, fate: Fate): string {
  if (waitOf(fate) > 0)
    return tr('the umount waits {fate}: the reader is in this very shrinker', {
      fate: formatNs(waitOf(fate)),
    });
  return fate.walked < race.shrinkers
    ? tr('nobody waits: the reader is elsewhere on the list, and passes this shrinker over')
    : tr('nobody waits: they do not meet');
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
      words: tr(
        'The reader came when the shrinker was off the list already and cannot have it. SRCU does not know that: whoever is inside at the first look is waited for.',
      ),
    };
  if (lock.walked === 0)
    return {
      face: 'hazard',
      words: tr(
        'On rwsem the reader finds the lock taken and gives up: nothing is freed, and nobody waits. On SRCU it walks on as if nothing were.',
      ),
    };
  if (more)
    return {
      face: 'wait',
      words: tr(
        'On SRCU the reader is inside when the first look comes, and each further look comes later than the one before: the umount waits {grace} for a reader who was gone {to} before the wake.',
        { grace: formatNs(waitOf(grace)), to: formatNs(grace.to - race.reader.to) },
      ),
    };
  return {
    face: 'mechanism',
    words: tr(
      'No look on SRCU finds the reader, and the umount sleeps {grace} all the same: to the next tick for the look, and one more for the news.',
      { grace: formatNs(waitOf(grace)) },
    ),
  };
}

export function says(race: Race, grace: Fate): Readonly<Record<string, string>> {
  const { from, to } = race.reader;
  const asked = race.umount + race.hold;
  const place =
    to <= race.umount
      ? tr('gone before the umount')
      : from >= grace.looks[0]!
        ? tr('comes after the first look')
        : from >= asked
          ? tr('comes after the shrinker is off the list, before the first look')
          : from >= race.umount
            ? tr('comes while the umount has the lock')
            : tr('inside when the umount begins');
  const wait = tr('on SRCU the umount waits {grace}', { grace: formatNs(waitOf(grace)) });
  return {
    reader: `${place}; ${wait}`,
    end: tr('the reader is inside for {to}; {wait}', { to: formatNs(to - from), wait }),
    umount: tr('{looks} before the next tick; {wait}', {
      looks: formatNs(grace.looks[0]! - race.umount),
      wait,
    }),
  };
}
