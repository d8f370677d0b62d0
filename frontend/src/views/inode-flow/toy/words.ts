// SPDX-License-Identifier: GPL-2.0-or-later
/** What the toy says of the race, on the kernels that differ most. */

import { formatNs } from '../../../base/units.ts';
import type { Play } from '../../../toys/types.ts';
import { type Fate, isOld, type Race, waitAtRecycle } from './rule.ts';

export interface Fates {
  readonly stock: Fate;
  readonly recycle: Fate;
  readonly worker: Fate;
  readonly rcu: Fate;
}

/** A create waits, or waits longer, for a reader who never saw the old file. */
export function innocent(race: Race, { recycle }: Fates): boolean {
  const alone = waitAtRecycle({ ...race, reader: { from: -2, to: -1 } });
  const length = ({ wait }: Fate) => (wait === null ? 0 : wait.to - wait.from);
  return !isOld(race) && length(recycle) > length(alone);
}

export function outcome(race: Race, fates: Fates): Play['outcome'] {
  const { wait } = fates.recycle;
  if (fates.stock.wrong) {
    const long = formatNs(race.reader.to - race.create);
    const instead =
      wait === null
        ? ''
        : ` On wait at recycle whoever creates the file sleeps ${formatNs(wait.to - wait.from)}, and the reader is gone.`;
    return {
      face: 'hazard',
      words: `On stock the reader looks at the wrong file for ${long}: it found the inode under its old name.${instead}`,
    };
  }
  if (innocent(race, fates))
    return {
      face: 'wait',
      words:
        'The reader came after the unlink and cannot have the old file. RCU knows no files: a grace period that begins while anybody is inside waits for him.',
    };
  if (wait === null)
    return {
      face: 'gain',
      words:
        'The shadow is over when the file is created: on wait at recycle nobody waits, and nothing would have gone wrong on stock either.',
    };
  return {
    face: 'wait',
    words: `Nothing goes wrong on stock. On wait at recycle whoever creates the file sleeps ${formatNs(wait.to - wait.from)} all the same, since nobody knows that no reader is left.`,
  };
}

export function says(race: Race, fates: Fates): Readonly<Record<string, string>> {
  const { from, to } = race.reader;
  const began = isOld(race) ? 'found the file before the unlink' : 'comes after the unlink';
  const left =
    to <= race.unlink
      ? 'gone before it'
      : to <= race.create
        ? 'gone before the next file'
        : 'still there when the next file comes';
  const end = fates.stock.wrong
    ? 'on stock it sees the wrong file'
    : 'on stock it sees no wrong file';
  const { wait } = fates.recycle;
  const sleeps =
    wait === null ? 'nobody waits' : `the create waits ${formatNs(wait.to - wait.from)}`;
  return {
    reader: `${began}, ${left}; ${end}`,
    end: `inside for ${formatNs(to - from)}, ${left}; ${end}`,
    create: `${formatNs(race.create - race.unlink)} after the unlink; on wait at recycle ${sleeps}; ${end}`,
  };
}
