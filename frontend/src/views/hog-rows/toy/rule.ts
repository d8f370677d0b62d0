// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * An umount takes its shrinker away while a reader walks the list: who waits, and how long, on each kernel. Pure.
 *
 * rwsem: mm/vmscan.c, shrink_slab() takes shrinker_rwsem with a trylock and leaves after the shrinker at hand once
 * somebody wants to write. SRCU: kernel/rcu/srcutree.c, srcu_advance_state() and srcu_get_delay(): the first look
 * comes with the next tick; a grace period that is e ticks old is looked at again after e more (10 at most), when it
 * is urgent after e - 1 and at once while that is nothing. News of its end takes a tick more, when urgent none.
 * Reference count: the patch refcount-rcu of this lesson. All times in ns.
 */

export interface Race {
  readonly tick: number;
  /** How long an umount holds the lock, or works before it asks. */
  readonly hold: number;
  /** From asking urgently to the first look, and from the end to the wake. */
  readonly quick: number;
  /** Shrinkers on the list; the one that goes is the newest, so the last. */
  readonly shrinkers: number;
  readonly reader: { readonly from: number; readonly to: number };
  readonly umount: number;
}

/** What comes of it on one kernel. */
export interface Fate {
  /** The umount sleeps from `from` to `to`; equal: it does not. */
  readonly from: number;
  readonly to: number;
  /** When somebody looked for readers; none on kernels that do not look. */
  readonly looks: readonly number[];
  /** Somebody looked again and again in this time. */
  readonly spins: { readonly from: number; readonly to: number } | null;
  /** How far the reader came: shrinkers it has done. */
  readonly walked: number;
  /** When the reader was out. */
  readonly left: number;
}

export const waitOf = (fate: Fate) => fate.to - fate.from;

/** An even split of the walk over its shrinkers. */
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

/** SRCU, in use by others, so that it does not answer at once on its own account. */
export function srcu(race: Race): Fate {
  const { reader, tick, shrinkers } = race;
  const asked = race.umount + race.hold;
  const armed = Math.floor(asked / tick);
  const looks = [(armed + 1) * tick];
  // Readers that come after the first look are counted elsewhere (srcu_flip()).
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
  // No delay until the grace period is two ticks old.
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

/** A walk holds a reference on the shrinker that it is in, and on no other. */
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
