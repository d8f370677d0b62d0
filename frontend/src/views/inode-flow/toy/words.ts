// SPDX-License-Identifier: GPL-2.0-or-later
/** What the toy says of the race, on the kernels that differ most. */

import { t } from '../../../base/lang/t.ts';
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
        : t(' On wait at recycle whoever creates the file sleeps {time}, and the reader is gone.', {
            time: formatNs(wait.to - wait.from),
          });
    return {
      face: 'hazard',
      words: t(
        'On stock the reader looks at the wrong file for {long}: it found the inode under its old name.{instead}',
        { long, instead },
      ),
    };
  }
  if (innocent(race, fates))
    return {
      face: 'wait',
      words: t(
        'The reader came after the unlink and cannot have the old file. RCU knows no files: a grace period that begins while anybody is inside waits for him.',
      ),
    };
  if (wait === null)
    return {
      face: 'gain',
      words: t(
        'The shadow is over when the file is created: on wait at recycle nobody waits, and nothing would have gone wrong on stock either.',
      ),
    };
  return {
    face: 'wait',
    words: t(
      'Nothing goes wrong on stock. On wait at recycle whoever creates the file sleeps {time} all the same, since nobody knows that no reader is left.',
      { time: formatNs(wait.to - wait.from) },
    ),
  };
}

export function says(race: Race, fates: Fates): Readonly<Record<string, string>> {
  const { from, to } = race.reader;
  const began = isOld(race) ? t('found the file before the unlink') : t('comes after the unlink');
  const left =
    to <= race.unlink
      ? t('gone before it')
      : to <= race.create
        ? t('gone before the next file')
        : t('still there when the next file comes');
  const end = fates.stock.wrong
    ? t('on stock it sees the wrong file')
    : t('on stock it sees no wrong file');
  const { wait } = fates.recycle;
  const sleeps =
    wait === null
      ? t('nobody waits')
      : t('the create waits {time}', { time: formatNs(wait.to - wait.from) });
  return {
    reader: t('{began}, {left}; {end}', { began, left, end }),
    end: t('inside for {time}, {left}; {end}', { time: formatNs(to - from), left, end }),
    create: t('{create} after the unlink; on wait at recycle {sleeps}; {end}', {
      create: formatNs(race.create - race.unlink),
      sleeps,
      end,
    }),
  };
}
